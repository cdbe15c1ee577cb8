-- The statements of the profile feature: what a user has told us about themselves.

-- name: get_preferences
-- A user's preferences (primary key).
SELECT version, preferences, custom_prompt
FROM user_preferences
WHERE user_id = %(user_id)s;

-- name: put_preferences
-- Writes the next version. With an expected version, only over exactly that one (0: only where none is stored);
-- no row comes back where the stored version is another.
INSERT INTO user_preferences AS stored (user_id, version, preferences, custom_prompt, updated_at)
SELECT %(user_id)s, 1, %(preferences)s, %(custom_prompt)s, %(now)s
WHERE %(expected)s::bigint IS NULL OR %(expected)s::bigint = 0
   OR EXISTS (SELECT FROM user_preferences WHERE user_id = %(user_id)s)
ON CONFLICT (user_id) DO UPDATE
SET version = stored.version + 1,
    preferences = excluded.preferences,
    custom_prompt = excluded.custom_prompt,
    updated_at = excluded.updated_at
WHERE %(expected)s::bigint IS NULL OR stored.version = %(expected)s::bigint
RETURNING version, preferences, custom_prompt;

-- name: own_messages
-- The newest messages a user wrote themselves, newest first (conversation_history_recent).
SELECT session_id, message_id, content
FROM conversation_history
WHERE user_id = %(user_id)s AND role = 'user'
ORDER BY created_at DESC, seq DESC
LIMIT %(limit)s;
