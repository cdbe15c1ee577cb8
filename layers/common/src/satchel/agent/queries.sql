-- name: open_turn
-- A new turn; the one there is where the message has one. Index: agent_turns_user_id_session_id_message_id_key.
INSERT INTO agent_turns
    (user_id, turn_id, session_id, message_id, scopes, channel, reply_to, status, created_at)
VALUES
    (%(user_id)s, %(turn_id)s, %(session_id)s, %(message_id)s, %(scopes)s, %(channel)s, %(reply_to)s, 'queued', %(now)s)
ON CONFLICT (user_id, session_id, message_id) DO UPDATE SET user_id = excluded.user_id
RETURNING turn_id, session_id, message_id, scopes, channel, reply_to, status, lease_until, error_code;

-- name: claim_turn
-- Takes a turn that nobody runs and nobody has finished; one claimant wins. Index: primary key.
UPDATE agent_turns
SET status = 'running', claimed_by = %(claimant)s, lease_until = %(lease_until)s, error_code = NULL
WHERE user_id = %(user_id)s AND turn_id = %(turn_id)s AND status <> 'done'
  AND (status <> 'running' OR lease_until < %(now)s OR claimed_by = %(claimant)s)
RETURNING turn_id;

-- name: release_turn
-- Gives a turn back, to be claimed by whoever goes on. Index: primary key.
UPDATE agent_turns
SET status = 'queued', claimed_by = NULL, lease_until = NULL
WHERE user_id = %(user_id)s AND turn_id = %(turn_id)s AND status = 'running' AND claimed_by = %(claimant)s;

-- name: finish_turn
-- Ends a turn, if it is still this claimant's. Index: primary key.
UPDATE agent_turns
SET status = %(status)s, error_code = %(error_code)s, finished_at = %(now)s, lease_until = NULL
WHERE user_id = %(user_id)s AND turn_id = %(turn_id)s AND claimed_by = %(claimant)s;

-- name: get_turn
-- One turn. Index: primary key.
SELECT turn_id, session_id, message_id, scopes, channel, reply_to, status, lease_until, error_code
FROM agent_turns
WHERE user_id = %(user_id)s AND turn_id = %(turn_id)s;

-- name: undelivered_turns
-- Answers of the socket that nobody has received, oldest first. A user has few.
SELECT turn_id, session_id, message_id, scopes, channel, reply_to, status, lease_until, error_code
FROM agent_turns
WHERE user_id = %(user_id)s AND channel = 'socket' AND status IN ('done', 'failed') AND delivered_at IS NULL
ORDER BY created_at, turn_id;

-- name: mark_delivered
-- The answer has reached somebody. Index: primary key.
UPDATE agent_turns SET delivered_at = %(now)s WHERE user_id = %(user_id)s AND turn_id = %(turn_id)s;

-- name: add_connection
INSERT INTO agent_connections (user_id, connection_id, connected_at)
VALUES (%(user_id)s, %(connection_id)s, %(now)s)
ON CONFLICT DO NOTHING;

-- name: drop_connection
DELETE FROM agent_connections WHERE user_id = %(user_id)s AND connection_id = %(connection_id)s;

-- name: connections
-- Open connections, newest first. Index: primary key; a user has few.
SELECT connection_id FROM agent_connections WHERE user_id = %(user_id)s ORDER BY connected_at DESC, connection_id;
