-- The statements of the strategies feature. Every one names the user beside the policy.

-- name: lock_strategy
-- Versions of one strategy are given out one writer at a time, until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s || chr(31) || %(name)s, 40));

-- name: insert_version
INSERT INTO strategies (user_id, name, version, code, hash, metadata, created_at)
VALUES (%(user_id)s, %(name)s, %(version)s, %(code)s, %(hash)s, %(metadata)s, %(now)s);

-- name: get_version
-- One version, or the current one where none is named (primary key).
SELECT name, version, code, hash, metadata, created_at
FROM strategies
WHERE user_id = %(user_id)s AND name = %(name)s AND (%(version)s::integer IS NULL OR version = %(version)s)
ORDER BY version DESC
LIMIT 1;

-- name: list_current
-- The current version of every strategy, by name (primary key).
SELECT DISTINCT ON (name) name, version, hash, metadata, created_at
FROM strategies
WHERE user_id = %(user_id)s
ORDER BY name, version DESC;

-- name: list_versions
SELECT version, hash, created_at
FROM strategies
WHERE user_id = %(user_id)s AND name = %(name)s
ORDER BY version DESC
LIMIT 100;

-- name: insert_backtest
INSERT INTO backtests (user_id, backtest_id, strategy, strategy_version, report, created_at)
VALUES (%(user_id)s, %(backtest_id)s, %(strategy)s, %(strategy_version)s, %(report)s, %(now)s);

-- name: insert_rows
-- All rows of one section of a backtest, in the order they are given.
INSERT INTO backtest_rows (user_id, backtest_id, section, seq, item)
SELECT %(user_id)s, %(backtest_id)s, %(section)s, place - 1, item
FROM jsonb_array_elements(%(items)s) WITH ORDINALITY AS given (item, place);

-- name: get_backtest
SELECT backtest_id, strategy, strategy_version, report, created_at
FROM backtests
WHERE user_id = %(user_id)s AND backtest_id = %(backtest_id)s;

-- name: recent_backtests
-- The newest backtests of a strategy, newest first (backtests_recent).
SELECT backtest_id, strategy_version, report -> 'headline' AS headline, created_at
FROM backtests
WHERE user_id = %(user_id)s AND strategy = %(name)s
ORDER BY created_at DESC, backtest_id
LIMIT %(limit)s;

-- name: recent_work
-- The strategies written or tested last, newest first, each with its newest backtest (primary key, backtests_recent).
SELECT s.name, s.version, b.strategy_version AS tested_version, b.headline,
       greatest(s.created_at, b.created_at) AS worked_at
FROM (SELECT DISTINCT ON (name) name, version, created_at
      FROM strategies
      WHERE user_id = %(user_id)s
      ORDER BY name, version DESC) AS s
LEFT JOIN LATERAL (SELECT t.strategy_version, t.report -> 'headline' AS headline, t.created_at
                   FROM backtests t
                   WHERE t.user_id = %(user_id)s AND t.strategy = s.name
                   ORDER BY t.created_at DESC, t.backtest_id
                   LIMIT 1) AS b ON true
ORDER BY worked_at DESC, s.name
LIMIT %(limit)s;

-- name: page_rows
-- Rows of a section from a place on, in order (primary key).
SELECT seq, item
FROM backtest_rows
WHERE user_id = %(user_id)s AND backtest_id = %(backtest_id)s AND section = %(section)s AND seq >= %(start)s
ORDER BY seq
LIMIT %(limit)s;

-- name: put_trial
INSERT INTO strategy_trials (user_id, strategy, trial, sharpe, created_at)
VALUES (%(user_id)s, %(strategy)s, %(trial)s, %(sharpe)s, %(now)s)
ON CONFLICT (user_id, strategy, trial) DO UPDATE SET sharpe = EXCLUDED.sharpe;

-- name: list_trials
SELECT sharpe
FROM strategy_trials
WHERE user_id = %(user_id)s AND strategy = %(strategy)s
ORDER BY trial;
