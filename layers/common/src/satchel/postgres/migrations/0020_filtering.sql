-- What the filter cut out of tool results, for the caller to fetch, page by page, until it expires.
-- Items are JSON text, sanitised before they are stored and again when they are read: `json` keeps the order of keys
-- and the spelling of numbers, which jsonb does not.
CREATE TABLE filtered_results (
    user_id text NOT NULL,
    handle text NOT NULL,
    tool_name text NOT NULL,
    items integer NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, handle)
);
CREATE INDEX filtered_results_expiry ON filtered_results (user_id, expires_at);

CREATE TABLE filtered_pages (
    user_id text NOT NULL,
    handle text NOT NULL,
    page integer NOT NULL,
    items json NOT NULL,
    PRIMARY KEY (user_id, handle, page),
    FOREIGN KEY (user_id, handle) REFERENCES filtered_results ON DELETE CASCADE
);

-- What was redacted where; never the value.
CREATE TABLE filter_audit (
    user_id text NOT NULL,
    audit_id bigint GENERATED ALWAYS AS IDENTITY,
    occurred_at timestamptz NOT NULL,
    tool_name text NOT NULL,
    pattern_matched text NOT NULL,
    field_path text NOT NULL,
    action_taken text NOT NULL,
    PRIMARY KEY (user_id, audit_id)
);

ALTER TABLE filtered_results ENABLE ROW LEVEL SECURITY;
ALTER TABLE filtered_results FORCE ROW LEVEL SECURITY;
CREATE POLICY filtered_results_owner ON filtered_results
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE filtered_pages ENABLE ROW LEVEL SECURITY;
ALTER TABLE filtered_pages FORCE ROW LEVEL SECURITY;
CREATE POLICY filtered_pages_owner ON filtered_pages
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE filter_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE filter_audit FORCE ROW LEVEL SECURITY;
CREATE POLICY filter_audit_owner ON filter_audit
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

GRANT SELECT, INSERT, UPDATE, DELETE ON filtered_results, filtered_pages TO satchel_app;
GRANT SELECT, INSERT, DELETE ON filter_audit TO satchel_app;
