-- The statements of the memory feature. Every one names the user beside the policy: the policy is the wall, the
-- predicate is what the planner uses.

-- name: insert_message
-- Stores a message unless its id is taken; the primary key settles races. No row comes back for a taken id.
INSERT INTO conversation_history (user_id, session_id, message_id, role, content, metadata, created_at, timestamp_given)
VALUES (%(user_id)s, %(session_id)s, %(message_id)s, %(role)s, %(content)s, %(metadata)s, %(created_at)s, %(timestamp_given)s)
ON CONFLICT (user_id, session_id, message_id) DO NOTHING
RETURNING session_id, message_id, seq, role, content, metadata, created_at, timestamp_given;

-- name: get_message
-- One message by its id (primary key).
SELECT session_id, message_id, seq, role, content, metadata, created_at, timestamp_given
FROM conversation_history
WHERE user_id = %(user_id)s AND session_id = %(session_id)s AND message_id = %(message_id)s;

-- name: recent_messages
-- The newest messages of a user over all sessions, newest first (conversation_history_recent).
SELECT session_id, message_id, seq, role, content, metadata, created_at, timestamp_given
FROM conversation_history
WHERE user_id = %(user_id)s
ORDER BY created_at DESC, seq DESC
LIMIT %(limit)s;

-- name: session_page
-- One page of a session, newest first, before a place in it (conversation_history_session).
SELECT session_id, message_id, seq, role, content, metadata, created_at, timestamp_given
FROM conversation_history
WHERE user_id = %(user_id)s AND session_id = %(session_id)s
  AND (%(before_at)s::timestamptz IS NULL OR (created_at, seq) < (%(before_at)s::timestamptz, %(before_seq)s::bigint))
ORDER BY created_at DESC, seq DESC
LIMIT %(limit)s;

-- name: content_version
-- Changes with every message saved or removed; what is derived from all messages is cached under it.
SELECT count(*) AS messages, coalesce(max(seq), 0) AS newest
FROM conversation_history
WHERE user_id = %(user_id)s;
