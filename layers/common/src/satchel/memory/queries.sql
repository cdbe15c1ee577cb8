-- The statements of the memory feature. Every one names the user beside the policy: the policy is the wall, the
-- predicate is what the planner uses. The two at the end go through all users.

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
-- The newest things said over all sessions, newest first (conversation_history_recent); tools and steps say nothing.
SELECT session_id, message_id, seq, role, content, metadata, created_at, timestamp_given
FROM conversation_history
WHERE user_id = %(user_id)s AND role <> 'tool' AND NOT metadata @> '{"step": true}'
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

-- Search. A filter that is NULL does not filter; `as_of` holds pages still while messages arrive.

-- name: forget_passages
-- Makes room for a message's new passages (primary key).
DELETE FROM message_passages WHERE user_id = %(user_id)s AND seq = %(seq)s;

-- name: forget_terms
-- Makes room for a message's new terms (message_terms_message).
DELETE FROM message_terms WHERE user_id = %(user_id)s AND seq = %(seq)s;

-- name: insert_passages
-- The passages of one message that still exists; arrays of equal length.
INSERT INTO message_passages (user_id, seq, passage, session_id, role, created_at, encoder, embedding, tokens)
SELECT h.user_id, h.seq, p.passage, h.session_id, h.role, h.created_at, %(encoder)s, p.embedding::halfvec, p.tokens
FROM conversation_history h,
     unnest(%(passages)s::smallint[], %(embeddings)s::text[], %(tokens)s::bytea[]) AS p (passage, embedding, tokens)
WHERE h.user_id = %(user_id)s AND h.seq = %(seq)s;

-- name: insert_terms
-- The terms of one message that still exists; arrays of equal length.
INSERT INTO message_terms (user_id, term, seq, frequency, message_terms)
SELECT h.user_id, t.term, h.seq, t.frequency, %(message_terms)s
FROM conversation_history h, unnest(%(terms)s::text[], %(frequencies)s::smallint[]) AS t (term, frequency)
WHERE h.user_id = %(user_id)s AND h.seq = %(seq)s;

-- name: unindexed_messages
-- Messages that an encoder has not read: saved while it failed, or before it came (message_passages primary key). It
-- never reads steps.
SELECT session_id, message_id, seq, role, content, metadata, created_at, timestamp_given
FROM conversation_history h
WHERE user_id = %(user_id)s AND NOT metadata @> '{"step": true}' AND NOT EXISTS (
    SELECT FROM message_passages p WHERE p.user_id = %(user_id)s AND p.seq = h.seq AND p.encoder = %(encoder)s
)
ORDER BY seq
LIMIT %(limit)s;

-- name: searched_corpus
-- How many messages a search ranks, and the newest of them (conversation_history_arrival); and when the first of all was
-- said (conversation_history_recent).
SELECT count(*) AS messages, coalesce(max(seq), 0) AS newest,
       (SELECT min(created_at) FROM conversation_history WHERE user_id = %(user_id)s) AS began
FROM conversation_history
WHERE user_id = %(user_id)s
  AND (%(as_of)s::bigint IS NULL OR seq <= %(as_of)s)
  AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR created_at < %(until)s)
  AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s)
  AND (%(role)s::text IS NULL OR role = %(role)s);

-- name: nearest_messages
-- The messages with the passages nearest to a query, exactly (message_passages primary key). By message: a document has
-- a hundred passages, and would leave room for nothing else. OFFSET 0 has the distances grouped, and not the vectors.
SELECT seq
FROM (
    SELECT seq, embedding <=> %(embedding)s::halfvec AS distance
    FROM message_passages
    WHERE user_id = %(user_id)s AND encoder = %(encoder)s
      AND (%(as_of)s::bigint IS NULL OR seq <= %(as_of)s)
      AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
      AND (%(until)s::timestamptz IS NULL OR created_at < %(until)s)
      AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s)
      AND (%(role)s::text IS NULL OR role = %(role)s)
    OFFSET 0
) passage
GROUP BY seq
ORDER BY min(distance), seq
LIMIT %(limit)s;

-- name: nearest_of_days
-- The same of the messages said in [since, until). The bounds spare reading the vectors of all others: what is said
-- together mostly arrives together. The `+ 0` has the messages of these days read (conversation_history_recent), not all
-- by arrival until one of them comes.
SELECT seq
FROM (
    SELECT seq, embedding <=> %(embedding)s::halfvec AS distance
    FROM message_passages
    WHERE user_id = %(user_id)s AND encoder = %(encoder)s
      AND seq >= (SELECT min(seq + 0) FROM conversation_history
                  WHERE user_id = %(user_id)s AND created_at >= %(since)s AND created_at < %(until)s)
      AND seq <= (SELECT max(seq + 0) FROM conversation_history
                  WHERE user_id = %(user_id)s AND created_at >= %(since)s AND created_at < %(until)s)
      AND created_at >= %(since)s AND created_at < %(until)s
      AND (%(as_of)s::bigint IS NULL OR seq <= %(as_of)s)
      AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s)
      AND (%(role)s::text IS NULL OR role = %(role)s)
    OFFSET 0
) passage
GROUP BY seq
ORDER BY min(distance), seq
LIMIT %(limit)s;

-- name: keyword_matches
-- BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; k1 = 1.2, b = 0.75 of a fixed 20
-- terms) over words that each stand for several terms: the best messages with their matched words, and, under a NULL
-- seq, in how many messages each word occurs (message_terms primary key). OFFSET 0 has each term looked up in the index:
-- joined as the planner likes, it may read all terms of all users for a prefix that is not there.
WITH asked AS (
    SELECT * FROM unnest(%(words)s::int[], %(terms)s::text[]) AS asked (word, term)
), begun AS (
    SELECT * FROM unnest(%(prefix_words)s::int[], %(prefixes)s::text[]) AS begun (word, prefix)
), posting AS (
    SELECT word, seq, frequency, message_terms
    FROM asked CROSS JOIN LATERAL (
        SELECT seq, frequency, message_terms
        FROM message_terms t
        WHERE user_id = %(user_id)s AND t.term = asked.term
        OFFSET 0
    ) exact
    UNION ALL
    SELECT word, seq, frequency, message_terms
    FROM begun CROSS JOIN LATERAL (
        SELECT seq, frequency, message_terms
        FROM message_terms
        WHERE user_id = %(user_id)s AND term >= prefix AND term < prefix || U&'\+10FFFF'
        OFFSET 0
    ) prefixed
), matched AS (
    SELECT word, seq, max(frequency)::float8 AS frequency, max(message_terms)::float8 AS length
    FROM posting
    WHERE (%(as_of)s::bigint IS NULL OR seq <= %(as_of)s)
      AND (NOT %(filtered)s OR EXISTS (
          SELECT FROM conversation_history h
          WHERE h.user_id = %(user_id)s AND h.seq = posting.seq
            AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
            AND (%(until)s::timestamptz IS NULL OR created_at < %(until)s)
            AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s)
            AND (%(role)s::text IS NULL OR role = %(role)s)))
    GROUP BY word, seq
), counted AS (
    SELECT word, count(*) AS messages,
           ln(1 + (%(corpus)s - count(*) + 0.5::float8) / (count(*) + 0.5::float8)) AS rarity
    FROM matched
    GROUP BY word
), best AS (
    SELECT seq, sum(rarity * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / 20))) AS score
    FROM matched JOIN counted USING (word)
    GROUP BY seq
    ORDER BY score DESC, seq DESC
    LIMIT %(limit)s
)
SELECT seq, NULL::int AS word, 0::bigint AS messages FROM best
UNION ALL
SELECT NULL, word, messages FROM counted;

-- name: surroundings
-- The messages before and after each given one in its session, nearest first (conversation_history_session). Between a
-- question and its answer there may be steps.
SELECT around.seq, beside.place, beside.seq AS beside
FROM unnest(%(seqs)s::bigint[]) AS wanted (seq)
JOIN conversation_history around ON around.user_id = %(user_id)s AND around.seq = wanted.seq
CROSS JOIN LATERAL (
    (SELECT -row_number() OVER (ORDER BY created_at DESC, seq DESC) AS place, seq
     FROM conversation_history
     WHERE user_id = %(user_id)s AND session_id = around.session_id
       AND (created_at, seq) < (around.created_at, around.seq)
       AND NOT metadata @> '{"step": true}'
       AND (%(as_of)s::bigint IS NULL OR seq <= %(as_of)s)
     ORDER BY created_at DESC, seq DESC
     LIMIT %(reach)s)
    UNION ALL
    (SELECT row_number() OVER (ORDER BY created_at, seq) AS place, seq
     FROM conversation_history
     WHERE user_id = %(user_id)s AND session_id = around.session_id
       AND (created_at, seq) > (around.created_at, around.seq)
       AND NOT metadata @> '{"step": true}'
       AND (%(as_of)s::bigint IS NULL OR seq <= %(as_of)s)
     ORDER BY created_at, seq
     LIMIT %(reach)s)
) beside;

-- name: messages_by_arrival
-- Messages by their place of arrival (conversation_history_arrival).
SELECT session_id, message_id, seq, role, content, metadata, created_at, timestamp_given
FROM conversation_history
WHERE user_id = %(user_id)s AND seq = ANY(%(seqs)s::bigint[])
ORDER BY seq;

-- name: utterances
-- What ranking reads of messages, by order of arrival (conversation_history_arrival).
SELECT h.seq, h.session_id, h.role,
       CASE WHEN jsonb_typeof(h.metadata -> 'speaker') = 'string'
            THEN coalesce(nullif(h.metadata ->> 'speaker', ''), h.role) ELSE h.role END AS speaker,
       h.content, h.created_at
FROM conversation_history h
WHERE h.user_id = %(user_id)s AND h.seq = ANY(%(seqs)s::bigint[])
ORDER BY h.seq;

-- name: candidate_vectors
-- The passages of each given message that are nearest to the query, nearest first, with their token vectors
-- (message_passages primary key). A long message is judged by its best few passages. Dozens of them in a row: hundreds
-- of small values cost the reader most, and one of a megabyte the writer.
SELECT array_agg(seq) AS seqs, array_agg(similarity) AS similarities, array_agg(coalesce(length(tokens), 0)) AS sizes,
       string_agg(tokens, '') AS tokens
FROM (
    SELECT seq, similarity, tokens, row_number() OVER (ORDER BY seq, place) / 64 AS part
    FROM (
        SELECT seq, 1 - (embedding <=> %(embedding)s::halfvec) AS similarity, tokens,
               row_number() OVER (PARTITION BY seq ORDER BY embedding <=> %(embedding)s::halfvec, passage) AS place
        FROM message_passages
        WHERE user_id = %(user_id)s AND seq = ANY(%(seqs)s::bigint[]) AND encoder = %(encoder)s
    ) passage
    WHERE place <= %(passages)s
) best
GROUP BY part
ORDER BY part;

-- name: term_frequencies
-- How often each word of a query occurs in the given messages, looked up term by term as in keyword_matches.
SELECT seq, array_agg(word) AS words, array_agg(frequency::int) AS frequencies, max(length)::int AS length
FROM (
    SELECT word, seq, max(frequency) AS frequency, max(message_terms) AS length
    FROM (
        SELECT word, seq, frequency, message_terms
        FROM unnest(%(words)s::int[], %(terms)s::text[]) AS asked (word, term) CROSS JOIN LATERAL (
            SELECT seq, frequency, message_terms
            FROM message_terms t
            WHERE user_id = %(user_id)s AND t.term = asked.term AND seq = ANY(%(seqs)s::bigint[])
            OFFSET 0
        ) exact
        UNION ALL
        SELECT word, seq, frequency, message_terms
        FROM unnest(%(prefix_words)s::int[], %(prefixes)s::text[]) AS begun (word, prefix) CROSS JOIN LATERAL (
            SELECT seq, frequency, message_terms
            FROM message_terms
            WHERE user_id = %(user_id)s AND term >= prefix AND term < prefix || U&'\+10FFFF'
              AND seq = ANY(%(seqs)s::bigint[])
            OFFSET 0
        ) prefixed
    ) posting
    GROUP BY word, seq
) counted
GROUP BY seq;

-- name: newest_messages
-- What a filter lets through but for steps, newest first, from a place on (conversation_history_recent).
SELECT session_id, message_id, seq, role, content, metadata, created_at, timestamp_given
FROM conversation_history
WHERE user_id = %(user_id)s
  AND (%(as_of)s::bigint IS NULL OR seq <= %(as_of)s)
  AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR created_at < %(until)s)
  AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s)
  AND (%(role)s::text IS NULL OR role = %(role)s)
  AND NOT metadata @> '{"step": true}'
  AND (%(after_at)s::timestamptz IS NULL OR (created_at, seq) < (%(after_at)s::timestamptz, %(after_seq)s::bigint))
ORDER BY created_at DESC, seq DESC
LIMIT %(limit)s;

-- Going through all users, as a role that may read who they are and nothing else (migration 0003).

-- name: become_worker
-- Until the end of the transaction.
SET LOCAL ROLE satchel_worker;

-- name: user_after
-- The next user who has messages (primary key).
SELECT min(user_id) AS user_id FROM conversation_history WHERE user_id > %(user_id)s;
