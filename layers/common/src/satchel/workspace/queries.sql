-- The statements of the workspace feature. The state is kept as jsonb, whose numbers are exact, and is turned into
-- text by PostgreSQL, which writes every number in full and without an exponent: no price passes through a float.

-- name: get_workspace
-- A user's workspace as the document's object, all four keys always there (primary key).
SELECT version,
       json_build_object(
           'currentChart', coalesce(state -> 'currentChart', 'null'),
           'watchlist', coalesce(state -> 'watchlist', '[]'),
           'openPositions', coalesce(state -> 'openPositions', '[]'),
           'recentAlerts', coalesce(state -> 'recentAlerts', '[]')
       )::text AS state
FROM workspace_state
WHERE user_id = %(user_id)s;

-- name: put_workspace
-- Writes the next version. With an expected version, only over exactly that one (0: only where none is stored);
-- no row comes back where the stored version is another.
INSERT INTO workspace_state AS stored (user_id, version, state, updated_at)
SELECT %(user_id)s, 1, %(state)s::jsonb, %(now)s
WHERE %(expected)s::bigint IS NULL OR %(expected)s::bigint = 0
   OR EXISTS (SELECT FROM workspace_state WHERE user_id = %(user_id)s)
ON CONFLICT (user_id) DO UPDATE
SET version = stored.version + 1,
    state = excluded.state,
    updated_at = excluded.updated_at
WHERE %(expected)s::bigint IS NULL OR stored.version = %(expected)s::bigint
RETURNING version,
          json_build_object(
              'currentChart', coalesce(state -> 'currentChart', 'null'),
              'watchlist', coalesce(state -> 'watchlist', '[]'),
              'openPositions', coalesce(state -> 'openPositions', '[]'),
              'recentAlerts', coalesce(state -> 'recentAlerts', '[]')
          )::text AS state;
