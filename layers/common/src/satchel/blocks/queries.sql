-- name: session_version
-- The version of a session's blocks; no row where there are none. Counts on the primary key.
SELECT version FROM block_sessions WHERE user_id = %(user_id)s AND session_id = %(session_id)s;

-- name: unplaced_window
-- The messages from the first that is in no block, with those before it that its features may look at, in order.
-- Counts on conversation_history_session and the primary key of block_messages.
WITH first AS (
    SELECT h.created_at, h.seq
    FROM conversation_history AS h
    WHERE h.user_id = %(user_id)s AND h.session_id = %(session_id)s AND NOT EXISTS (
        SELECT FROM block_messages AS p
        WHERE p.user_id = h.user_id AND p.session_id = h.session_id AND p.message_id = h.message_id
    )
    ORDER BY h.created_at, h.seq
    LIMIT 1
), shown AS (
    (
        SELECT h.message_id, h.role, h.content, h.metadata, h.created_at, h.seq
        FROM conversation_history AS h, first
        WHERE h.user_id = %(user_id)s AND h.session_id = %(session_id)s
            AND (h.created_at, h.seq) < (first.created_at, first.seq)
        ORDER BY h.created_at DESC, h.seq DESC
        LIMIT %(window)s
    )
    UNION ALL
    SELECT h.message_id, h.role, h.content, h.metadata, h.created_at, h.seq
    FROM conversation_history AS h, first
    WHERE h.user_id = %(user_id)s AND h.session_id = %(session_id)s
        AND (h.created_at, h.seq) >= (first.created_at, first.seq)
)
SELECT s.message_id, s.role, s.content, s.metadata, s.created_at, p.block_id
FROM shown AS s
LEFT JOIN block_messages AS p
    ON p.user_id = %(user_id)s AND p.session_id = %(session_id)s AND p.message_id = s.message_id
ORDER BY s.created_at, s.seq;

-- name: blocks
-- The blocks of a session with their messages, both in order of time; newest first, one more than asked for.
-- Counts on block_messages_block and the primary keys.
SELECT b.block_id, b.body, m.message_ids
FROM session_blocks AS b
JOIN LATERAL (
    SELECT array_agg(p.message_id ORDER BY h.created_at, h.seq) AS message_ids,
        min(h.created_at) AS opened_at, min(h.seq) AS opened_seq
    FROM block_messages AS p
    JOIN conversation_history AS h USING (user_id, session_id, message_id)
    WHERE p.user_id = %(user_id)s AND p.session_id = %(session_id)s AND p.block_id = b.block_id
) AS m ON true
WHERE b.user_id = %(user_id)s AND b.session_id = %(session_id)s
ORDER BY m.opened_at DESC, m.opened_seq DESC
LIMIT %(limit)s;

-- name: blocks_named
-- Some blocks of a session with their messages in order of time. Counts on block_messages_block and the primary keys.
SELECT b.block_id, b.body, array_agg(p.message_id ORDER BY h.created_at, h.seq) AS message_ids
FROM session_blocks AS b
JOIN block_messages AS p USING (user_id, session_id, block_id)
JOIN conversation_history AS h USING (user_id, session_id, message_id)
WHERE user_id = %(user_id)s AND session_id = %(session_id)s AND block_id = ANY(%(block_ids)s)
GROUP BY b.block_id, b.body;

-- name: blocks_holding
-- The blocks of a session that some messages are in, whole. Counts on block_messages_block and the primary keys.
SELECT b.block_id, b.body, array_agg(p.message_id ORDER BY h.created_at, h.seq) AS message_ids
FROM session_blocks AS b
JOIN block_messages AS p USING (user_id, session_id, block_id)
JOIN conversation_history AS h USING (user_id, session_id, message_id)
WHERE user_id = %(user_id)s AND session_id = %(session_id)s AND block_id IN (
    SELECT m.block_id
    FROM block_messages AS m
    WHERE m.user_id = %(user_id)s AND m.session_id = %(session_id)s AND m.message_id = ANY(%(message_ids)s)
)
GROUP BY b.block_id, b.body
ORDER BY b.block_id;

-- name: block_ids
-- The ids of all blocks of a session. Counts on the primary key.
SELECT block_id FROM session_blocks WHERE user_id = %(user_id)s AND session_id = %(session_id)s ORDER BY block_id;

-- name: placement
-- Where a message is and how that was decided. Counts on the primary key.
SELECT block_id, action, rule, score
FROM block_messages
WHERE user_id = %(user_id)s AND session_id = %(session_id)s AND message_id = %(message_id)s;

-- name: begin_session
-- Take the first version of a session's blocks; no row where somebody else has. Counts on the primary key.
INSERT INTO block_sessions (user_id, session_id, version)
VALUES (%(user_id)s, %(session_id)s, 1)
ON CONFLICT DO NOTHING
RETURNING version;

-- name: advance_session
-- Take the next version of a session's blocks; no row where somebody else has. Counts on the primary key.
UPDATE block_sessions SET version = version + 1
WHERE user_id = %(user_id)s AND session_id = %(session_id)s AND version = %(version)s
RETURNING version;

-- name: keep_block
-- Store a block, or what it has become. Counts on the primary key.
INSERT INTO session_blocks (user_id, session_id, block_id, body)
VALUES (%(user_id)s, %(session_id)s, %(block_id)s, %(body)s)
ON CONFLICT (user_id, session_id, block_id) DO UPDATE SET body = EXCLUDED.body;

-- name: place_message
-- Put a message into its block. Counts on the primary key.
INSERT INTO block_messages (user_id, session_id, message_id, block_id, action, rule, score)
VALUES (%(user_id)s, %(session_id)s, %(message_id)s, %(block_id)s, %(action)s, %(rule)s, %(score)s);
