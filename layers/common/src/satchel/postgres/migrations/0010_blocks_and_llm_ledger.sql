-- What models have answered, under the hash of the question: the same question has the same answer for ever.
-- Failures are kept too (answer NULL, failure says why), or a request that fell back would answer differently later.
CREATE TABLE llm_ledger (
    user_id text NOT NULL,
    question_hash text NOT NULL,
    prompt text NOT NULL,
    model text NOT NULL,
    answer jsonb,
    failure text,
    answered_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, question_hash),
    CHECK ((answer IS NULL) <> (failure IS NULL))
);

-- The blocks of stored sessions, derived from conversation_history and rebuilt from it at any time.
-- `fingerprint` names the messages a session's blocks were built from; another one means that they are stale.
CREATE TABLE block_sessions (
    user_id text NOT NULL,
    session_id text NOT NULL,
    fingerprint text NOT NULL,
    built_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, session_id)
);

CREATE TABLE session_blocks (
    user_id text NOT NULL,
    session_id text NOT NULL,
    block_id text NOT NULL,
    position integer NOT NULL,
    message_ids text[] NOT NULL,
    body jsonb NOT NULL,
    PRIMARY KEY (user_id, session_id, block_id),
    FOREIGN KEY (user_id, session_id) REFERENCES block_sessions ON DELETE CASCADE
);

ALTER TABLE llm_ledger ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_ledger FORCE ROW LEVEL SECURITY;
CREATE POLICY llm_ledger_owner ON llm_ledger
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE block_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE block_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY block_sessions_owner ON block_sessions
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE session_blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_blocks FORCE ROW LEVEL SECURITY;
CREATE POLICY session_blocks_owner ON session_blocks
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

GRANT SELECT, INSERT, UPDATE, DELETE ON llm_ledger, block_sessions, session_blocks TO satchel_app;
