-- Work that takes longer than a request may. Whoever claims a job may run it until lease_until.
CREATE TABLE jobs (
    user_id text NOT NULL,
    job_id text NOT NULL,
    kind text NOT NULL,
    -- of the request: the same one under way is the same job
    digest text NOT NULL,
    request jsonb NOT NULL,
    status text NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
    attempts integer NOT NULL,
    claimed_by text,
    lease_until timestamptz,
    result jsonb,
    error jsonb,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, job_id)
);
CREATE UNIQUE INDEX jobs_under_way ON jobs (user_id, kind, digest) WHERE status IN ('queued', 'running');

ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY jobs_owner ON jobs
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO satchel_app;
