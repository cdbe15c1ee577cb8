-- The application's role: it owns nothing, and row-level security holds for it. In the cloud the migrator gives
-- it a password; on a laptop the socket is trusted.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'satchel_app') THEN
        CREATE ROLE satchel_app LOGIN NOBYPASSRLS NOSUPERUSER NOCREATEDB NOCREATEROLE;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- roles belong to the cluster: a migrator of another database was a moment earlier
END
$$;

CREATE EXTENSION IF NOT EXISTS vector;

-- Verbatim messages. The order of a conversation is (created_at, seq): seq is the order of arrival.
CREATE TABLE conversation_history (
    user_id text NOT NULL,
    session_id text NOT NULL,
    message_id text NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    role text NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    content text NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    -- false where the caller left the time stamp to us: then a repeat that names one is still the same message
    timestamp_given boolean NOT NULL,
    PRIMARY KEY (user_id, session_id, message_id)
);
CREATE INDEX conversation_history_recent ON conversation_history (user_id, created_at, seq);
CREATE INDEX conversation_history_session ON conversation_history (user_id, session_id, created_at, seq);
CREATE UNIQUE INDEX conversation_history_arrival ON conversation_history (user_id, seq);

-- What a user has told us about themselves; `version` rises by one with each write.
CREATE TABLE user_preferences (
    user_id text PRIMARY KEY,
    version bigint NOT NULL,
    preferences jsonb NOT NULL,
    custom_prompt text NOT NULL DEFAULT '',
    updated_at timestamptz NOT NULL
);

-- The chart, watchlist, positions and alerts that the user's client last synchronised.
CREATE TABLE workspace_state (
    user_id text PRIMARY KEY,
    version bigint NOT NULL,
    state jsonb NOT NULL,
    updated_at timestamptz NOT NULL
);

ALTER TABLE conversation_history ENABLE ROW LEVEL SECURITY;
ALTER TABLE conversation_history FORCE ROW LEVEL SECURITY;
CREATE POLICY conversation_history_owner ON conversation_history
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE user_preferences ENABLE ROW LEVEL SECURITY;
ALTER TABLE user_preferences FORCE ROW LEVEL SECURITY;
CREATE POLICY user_preferences_owner ON user_preferences
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE workspace_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace_state FORCE ROW LEVEL SECURITY;
CREATE POLICY workspace_state_owner ON workspace_state
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

GRANT SELECT, INSERT, UPDATE, DELETE ON conversation_history, user_preferences, workspace_state TO satchel_app;
