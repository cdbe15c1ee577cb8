-- The statements of the filter: what it cut, and what it redacted.

-- name: forget_expired
-- Removes the user's results whose time is up; their pages go with them (filtered_results_expiry).
DELETE FROM filtered_results
WHERE user_id = %(user_id)s AND expires_at <= %(now)s;

-- name: put_result
-- Opens a result; its pages follow (primary key).
INSERT INTO filtered_results (user_id, handle, tool_name, items, created_at, expires_at)
VALUES (%(user_id)s, %(handle)s, %(tool_name)s, %(items)s, %(now)s, %(expires_at)s);

-- name: put_page
-- One page of a result (primary key).
INSERT INTO filtered_pages (user_id, handle, page, items)
VALUES (%(user_id)s, %(handle)s, %(page)s, %(items)s);

-- name: get_result
-- A result that has not expired (primary key).
SELECT tool_name, items, expires_at
FROM filtered_results
WHERE user_id = %(user_id)s AND handle = %(handle)s AND expires_at > %(now)s;

-- name: get_pages
-- Pages of a result in order, from one page on (primary key).
SELECT items
FROM filtered_pages
WHERE user_id = %(user_id)s AND handle = %(handle)s AND page >= %(first)s
ORDER BY page
LIMIT %(limit)s;

-- name: put_audit
-- One row of the audit log (primary key).
INSERT INTO filter_audit (user_id, occurred_at, tool_name, pattern_matched, field_path, action_taken)
VALUES (%(user_id)s, %(occurred_at)s, %(tool_name)s, %(pattern_matched)s, %(field_path)s, %(action_taken)s);

-- name: get_audit
-- Rows of the audit log, newest first, older than a place (primary key, backwards).
SELECT audit_id, occurred_at, tool_name, pattern_matched, field_path, action_taken
FROM filter_audit
WHERE user_id = %(user_id)s AND (%(before)s::bigint IS NULL OR audit_id < %(before)s::bigint)
ORDER BY audit_id DESC
LIMIT %(limit)s;
