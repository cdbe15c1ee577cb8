-- What search needs of a message; all of it can be made again from conversation_history. A message without a row
-- here, or with one of another encoder, waits for `reindex`.

-- Passages of messages with their vectors. Session, role and time are copies, so that the exact scan of a user's
-- vectors reads one table. Token vectors are large and read for candidates only: they stay out of line, unpressed
-- (they do not compress), and the scan does not touch them.
CREATE TABLE message_passages (
    user_id text NOT NULL,
    seq bigint NOT NULL,
    passage smallint NOT NULL,
    session_id text NOT NULL,
    role text NOT NULL,
    created_at timestamptz NOT NULL,
    -- name of the encoder that made the vectors; vectors of two encoders never meet
    encoder text NOT NULL,
    embedding halfvec NOT NULL,
    tokens bytea,
    PRIMARY KEY (user_id, seq, passage),
    FOREIGN KEY (user_id, seq) REFERENCES conversation_history (user_id, seq) ON DELETE CASCADE
);
ALTER TABLE message_passages ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE message_passages ALTER COLUMN tokens SET STORAGE EXTERNAL;

-- The inverted index: which message has which term, how often, among how many.
CREATE TABLE message_terms (
    user_id text NOT NULL,
    term text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    frequency smallint NOT NULL,
    message_terms smallint NOT NULL,
    PRIMARY KEY (user_id, term, seq),
    FOREIGN KEY (user_id, seq) REFERENCES conversation_history (user_id, seq) ON DELETE CASCADE
);
-- For the cascade: deleting one message must not read the terms of all.
CREATE INDEX message_terms_message ON message_terms (user_id, seq);

ALTER TABLE message_passages ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_passages FORCE ROW LEVEL SECURITY;
CREATE POLICY message_passages_owner ON message_passages
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE message_terms ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_terms FORCE ROW LEVEL SECURITY;
CREATE POLICY message_terms_owner ON message_terms
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

GRANT SELECT, INSERT, UPDATE, DELETE ON message_passages, message_terms TO satchel_app;
