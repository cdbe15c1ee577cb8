-- The statements of the jobs feature. Every one names the user beside the policy.

-- name: submit_job
-- A new job; the one there is where the same request is under way (jobs_under_way).
INSERT INTO jobs (user_id, job_id, kind, digest, request, status, attempts, created_at, updated_at)
VALUES (%(user_id)s, %(job_id)s, %(kind)s, %(digest)s, %(request)s, 'queued', 0, %(now)s, %(now)s)
ON CONFLICT (user_id, kind, digest) WHERE status IN ('queued', 'running') DO UPDATE SET user_id = excluded.user_id
RETURNING job_id, kind, request, status, attempts, lease_until, result, error, created_at, updated_at;

-- name: get_job
SELECT job_id, kind, request, status, attempts, lease_until, result, error, created_at, updated_at
FROM jobs
WHERE user_id = %(user_id)s AND job_id = %(job_id)s;

-- name: claim_job
-- Takes a job that nobody runs and nobody has finished; one claimant wins (primary key).
UPDATE jobs
SET status = 'running', claimed_by = %(claimant)s, lease_until = %(lease_until)s, attempts = attempts + 1,
    updated_at = %(now)s
WHERE user_id = %(user_id)s AND job_id = %(job_id)s
  AND (status = 'queued' OR status = 'running' AND (lease_until < %(now)s OR claimed_by = %(claimant)s))
RETURNING job_id, kind, request, status, attempts, lease_until, result, error, created_at, updated_at;

-- name: give_back_job
UPDATE jobs
SET status = 'queued', claimed_by = NULL, lease_until = NULL, updated_at = %(now)s
WHERE user_id = %(user_id)s AND job_id = %(job_id)s AND status = 'running' AND claimed_by = %(claimant)s;

-- name: finish_job
-- Ends a job, if it is still this claimant's (primary key).
UPDATE jobs
SET status = %(status)s, result = %(result)s, error = %(error)s, lease_until = NULL, updated_at = %(now)s
WHERE user_id = %(user_id)s AND job_id = %(job_id)s AND status = 'running' AND claimed_by = %(claimant)s;

-- name: touch_job
-- Puts an abandoned job back in the queue; of those who ask at once, one gets the row (primary key).
UPDATE jobs
SET status = 'queued', claimed_by = NULL, lease_until = NULL, updated_at = %(now)s
WHERE user_id = %(user_id)s AND job_id = %(job_id)s
  AND (status = 'running' AND lease_until < %(now)s
       OR status = 'queued' AND updated_at < %(lost_before)s)
RETURNING job_id;
