-- Who goes through all users: it may learn that a user exists, and nothing of theirs. Scheduled work finds users as
-- this role, and then works on each as that user, under the policies of everybody.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'satchel_worker') THEN
        CREATE ROLE satchel_worker NOLOGIN NOBYPASSRLS NOSUPERUSER NOCREATEDB NOCREATEROLE;
    END IF;
    -- Not inherited: what the application may read does not change unless it asks to be the worker.
    GRANT satchel_worker TO satchel_app WITH INHERIT FALSE, SET TRUE;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- roles belong to the cluster: a migrator of another database was a moment earlier
END
$$;

GRANT SELECT (user_id) ON conversation_history TO satchel_worker;
CREATE POLICY conversation_history_worker ON conversation_history FOR SELECT TO satchel_worker USING (true);
