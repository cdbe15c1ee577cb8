-- The gateway keeps who is connected and which turns are under way, and nothing that anybody said: texts are messages
-- in conversation_history, which it reads and writes over MCP like everybody else.

-- A turn: the answering of one message of the user. Whoever claims it may run it until lease_until.
CREATE TABLE agent_turns (
    user_id text NOT NULL,
    turn_id text NOT NULL,
    session_id text NOT NULL,
    message_id text NOT NULL,
    scopes text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('http', 'socket', 'telegram')),
    reply_to text,
    status text NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
    claimed_by text,
    lease_until timestamptz,
    error_code text,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    delivered_at timestamptz,
    PRIMARY KEY (user_id, turn_id),
    UNIQUE (user_id, session_id, message_id)
);

-- Open connections of the WebSocket API.
CREATE TABLE agent_connections (
    user_id text NOT NULL,
    connection_id text NOT NULL,
    connected_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, connection_id)
);

ALTER TABLE agent_turns ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_turns FORCE ROW LEVEL SECURITY;
CREATE POLICY agent_turns_owner ON agent_turns
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE agent_connections ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_connections FORCE ROW LEVEL SECURITY;
CREATE POLICY agent_connections_owner ON agent_connections
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

GRANT SELECT, INSERT, UPDATE, DELETE ON agent_turns, agent_connections TO satchel_app;
