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

-- The blocks of stored sessions, derived from conversation_history. `version` rises with every change, so that of
-- two who bring a session up to date at once, one notices and begins again.
CREATE TABLE block_sessions (
    user_id text NOT NULL,
    session_id text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (user_id, session_id)
);

CREATE TABLE session_blocks (
    user_id text NOT NULL,
    session_id text NOT NULL,
    block_id text NOT NULL,
    -- tags, snippets, confidence and who wrote them
    body jsonb NOT NULL,
    PRIMARY KEY (user_id, session_id, block_id),
    FOREIGN KEY (user_id, session_id) REFERENCES block_sessions ON DELETE CASCADE
);

-- Which block a message is in, and how that was decided.
CREATE TABLE block_messages (
    user_id text NOT NULL,
    session_id text NOT NULL,
    message_id text NOT NULL,
    block_id text NOT NULL,
    action text NOT NULL CHECK (action IN ('APPEND', 'NEW_BLOCK')),
    rule text NOT NULL,
    score double precision,
    PRIMARY KEY (user_id, session_id, message_id),
    FOREIGN KEY (user_id, session_id, block_id) REFERENCES session_blocks ON DELETE CASCADE
);
CREATE INDEX block_messages_block ON block_messages (user_id, session_id, block_id);

-- What is derived from a message goes with it, whoever deletes it: the session's blocks, which are built anew from
-- what is left, and what models said, since their answers may quote it.
CREATE FUNCTION forget_derived_from_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM block_sessions AS s USING gone
    WHERE s.user_id = gone.user_id AND s.session_id = gone.session_id;
    DELETE FROM llm_ledger WHERE user_id IN (SELECT user_id FROM gone);
    RETURN NULL;
END
$$;
CREATE TRIGGER conversation_history_forget AFTER DELETE ON conversation_history
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_derived_from_messages();

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

ALTER TABLE block_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE block_messages FORCE ROW LEVEL SECURITY;
CREATE POLICY block_messages_owner ON block_messages
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

GRANT SELECT, INSERT, UPDATE, DELETE ON llm_ledger, block_sessions, session_blocks, block_messages TO satchel_app;
