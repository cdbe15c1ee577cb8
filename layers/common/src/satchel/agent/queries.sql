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

-- name: add_connection
INSERT INTO agent_connections (user_id, connection_id, connected_at)
VALUES (%(user_id)s, %(connection_id)s, %(now)s)
ON CONFLICT DO NOTHING;

-- name: drop_connection
DELETE FROM agent_connections WHERE user_id = %(user_id)s AND connection_id = %(connection_id)s;

-- name: connections
-- Open connections, newest first. Index: primary key; a user has few.
SELECT connection_id FROM agent_connections WHERE user_id = %(user_id)s ORDER BY connected_at DESC, connection_id;

-- name: claim_delivery
-- One of those who could deliver an answer may. Index: primary key.
UPDATE agent_turns SET delivered_at = %(now)s
WHERE user_id = %(user_id)s AND turn_id = %(turn_id)s AND delivered_at IS NULL
RETURNING turn_id;

-- name: give_back_delivery
-- The answer has not arrived after all, or is asked for again. Index: primary key.
UPDATE agent_turns SET delivered_at = NULL WHERE user_id = %(user_id)s AND turn_id = %(turn_id)s;

-- name: become_worker
-- Until the end of the transaction: may see whose a chat or a code is, and nothing of theirs (migration 0031).
SET LOCAL ROLE satchel_worker;

-- name: user_of_chat
-- Whose a chat is. Index: primary key.
SELECT user_id FROM agent_links WHERE channel = 'telegram' AND chat_id = %(chat_id)s;

-- name: user_of_code
-- Who made a code. Index: primary key.
SELECT user_id FROM agent_link_codes WHERE code_hash = %(code_hash)s;

-- name: add_code
INSERT INTO agent_link_codes (user_id, code_hash, scopes, expires_at)
VALUES (%(user_id)s, %(code_hash)s, %(scopes)s, %(expires_at)s);

-- name: use_code
-- Takes a code that has not expired, once; those that have go as well. Index: primary key, and a user has few.
WITH used AS (
    DELETE FROM agent_link_codes
    WHERE user_id = %(user_id)s AND (code_hash = %(code_hash)s OR expires_at < %(now)s)
    RETURNING code_hash, scopes, expires_at
)
SELECT scopes FROM used WHERE code_hash = %(code_hash)s AND expires_at >= %(now)s;

-- name: add_link
INSERT INTO agent_links (user_id, channel, chat_id, scopes, linked_at, code_hash)
VALUES (%(user_id)s, 'telegram', %(chat_id)s, %(scopes)s, %(now)s, %(code_hash)s)
ON CONFLICT (channel, chat_id) DO UPDATE
SET scopes = excluded.scopes, linked_at = excluded.linked_at, code_hash = excluded.code_hash
WHERE agent_links.user_id = excluded.user_id;

-- name: link_made_with
-- The link that a code made for a chat, now or before. Index: primary key.
SELECT linked_at FROM agent_links
WHERE user_id = %(user_id)s AND channel = 'telegram' AND chat_id = %(chat_id)s AND code_hash = %(code_hash)s;

-- name: link_scopes
-- What a linked chat may do. Index: primary key.
SELECT scopes FROM agent_links
WHERE user_id = %(user_id)s AND channel = 'telegram' AND chat_id = %(chat_id)s;

-- name: drop_links
DELETE FROM agent_links WHERE user_id = %(user_id)s AND channel = 'telegram';
