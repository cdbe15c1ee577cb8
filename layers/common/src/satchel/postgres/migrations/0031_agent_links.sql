-- Chats elsewhere (Telegram) that a user has linked to themselves: whoever writes there speaks as this user, and may do
-- what the token allowed that made the link.
CREATE TABLE agent_links (
    user_id text NOT NULL,
    channel text NOT NULL CHECK (channel = 'telegram'),
    chat_id text NOT NULL,
    scopes text NOT NULL,
    linked_at timestamptz NOT NULL,
    PRIMARY KEY (channel, chat_id)
);
CREATE INDEX agent_links_user ON agent_links (user_id);

-- Codes that make a link when they are sent from a chat; kept as hashes, for minutes.
CREATE TABLE agent_link_codes (
    user_id text NOT NULL,
    code_hash text PRIMARY KEY,
    scopes text NOT NULL,
    expires_at timestamptz NOT NULL
);

ALTER TABLE agent_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_links FORCE ROW LEVEL SECURITY;
CREATE POLICY agent_links_owner ON agent_links
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));
ALTER TABLE agent_link_codes ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_link_codes FORCE ROW LEVEL SECURITY;
CREATE POLICY agent_link_codes_owner ON agent_link_codes
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

GRANT SELECT, INSERT, UPDATE, DELETE ON agent_links, agent_link_codes TO satchel_app;

-- A message from outside names a chat and no user: the worker may learn whose it is, and nothing else of theirs.
GRANT SELECT (user_id, channel, chat_id) ON agent_links TO satchel_worker;
CREATE POLICY agent_links_worker ON agent_links FOR SELECT TO satchel_worker USING (true);
GRANT SELECT (user_id, code_hash) ON agent_link_codes TO satchel_worker;
CREATE POLICY agent_link_codes_worker ON agent_link_codes FOR SELECT TO satchel_worker USING (true);
