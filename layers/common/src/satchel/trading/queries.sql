-- The statements of the trading feature. Every one names the user beside the policy.

-- name: ensure_account
INSERT INTO trading_accounts (user_id, account, mode, currency, cash, confirm, fee_rate, slippage, limits, steps)
VALUES (%(user_id)s, %(account)s, 'paper', 'USD', %(cash)s, %(confirm)s, %(fee_rate)s, %(slippage)s, %(limits)s,
        %(steps)s)
ON CONFLICT (user_id, account) DO NOTHING;

-- name: lock_account
-- The account, held until the transaction ends: one order at a time (primary key).
SELECT account, mode, currency, cash, confirm, fee_rate, slippage, limits, steps
FROM trading_accounts
WHERE user_id = %(user_id)s AND account = %(account)s
FOR UPDATE;

-- name: get_account
SELECT account, mode, currency, cash, confirm, fee_rate, slippage, limits, steps
FROM trading_accounts
WHERE user_id = %(user_id)s AND account = %(account)s;

-- name: update_account
UPDATE trading_accounts
SET confirm = %(confirm)s, fee_rate = %(fee_rate)s, slippage = %(slippage)s, limits = %(limits)s, steps = %(steps)s
WHERE user_id = %(user_id)s AND account = %(account)s;

-- name: set_cash
UPDATE trading_accounts SET cash = %(cash)s WHERE user_id = %(user_id)s AND account = %(account)s;

-- name: situation
-- What the guard asks about an account and a symbol, and the order of the same client id, in one statement: an order's
-- time is that of its statements (trading_orders_open, trading_orders_recent, trading_orders_client_id, primary keys).
SELECT k.ts AS price_at, c.close AS last_price,
       k.ts IS NOT NULL AND NOT EXISTS (
           SELECT FROM candles later
           WHERE later.user_id = k.owner AND later.symbol = k.symbol AND later.timeframe = k.timeframe
             AND later.provider = k.provider AND later.ts > k.ts
       ) AS replay_ended,
       coalesce((SELECT h.quantity FROM trading_holdings h
                 WHERE h.user_id = %(user_id)s AND h.account = %(account)s AND h.symbol = %(symbol)s), 0) AS held,
       resting.count AS open_orders, resting.reserved,
       (SELECT coalesce(sum(o.value), 0) FROM trading_orders o
        WHERE o.user_id = %(user_id)s AND o.account = %(account)s AND o.placed_at > %(day_ago)s
          AND o.status <> 'rejected') AS ordered_today,
       worth.net, worth.gross, earlier.*
FROM (SELECT count(*) AS count, coalesce(sum(o.value) FILTER (WHERE NOT o.reduce_only), 0) AS reserved
      FROM trading_orders o
      WHERE o.user_id = %(user_id)s AND o.account = %(account)s AND o.status = 'open') AS resting
CROSS JOIN (SELECT coalesce(sum(coalesce(h.quantity * p.close, h.cost)), 0) AS net,
                   coalesce(sum(abs(coalesce(h.quantity * p.close, h.cost))), 0) AS gross
            FROM trading_holdings h
            LEFT JOIN market_clocks m ON m.user_id = h.user_id AND m.symbol = h.symbol
            LEFT JOIN candles p ON p.user_id = m.owner AND p.symbol = m.symbol AND p.timeframe = m.timeframe
                               AND p.provider = m.provider AND p.ts = m.ts
            WHERE h.user_id = %(user_id)s AND h.account = %(account)s AND h.quantity <> 0) AS worth
LEFT JOIN market_clocks k ON k.user_id = %(user_id)s AND k.symbol = %(symbol)s
LEFT JOIN candles c ON c.user_id = k.owner AND c.symbol = k.symbol AND c.timeframe = k.timeframe
                   AND c.provider = k.provider AND c.ts = k.ts
LEFT JOIN trading_orders earlier ON earlier.user_id = %(user_id)s AND earlier.account = %(account)s
                                AND earlier.client_order_id = %(client_order_id)s;

-- name: open_clock
-- Start a symbol's replay four fifths into its candles: the user's own set first, then the finest.
INSERT INTO market_clocks (user_id, symbol, owner, timeframe, provider, ts)
SELECT %(user_id)s, s.symbol, s.user_id, s.timeframe, s.provider, start.ts
FROM candle_sets s
CROSS JOIN LATERAL (
    SELECT c.ts
    FROM candles c
    WHERE c.user_id = s.user_id AND c.symbol = s.symbol AND c.timeframe = s.timeframe AND c.provider = s.provider
    ORDER BY c.ts
    OFFSET (SELECT (count(*) - 1) * 4 / 5 FROM candles n
            WHERE n.user_id = s.user_id AND n.symbol = s.symbol AND n.timeframe = s.timeframe
              AND n.provider = s.provider)
    LIMIT 1
) AS start
WHERE s.user_id IN (%(user_id)s, '') AND s.symbol = %(symbol)s
ORDER BY s.user_id DESC, array_position(ARRAY['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w'], s.timeframe), s.provider
LIMIT 1
ON CONFLICT (user_id, symbol) DO NOTHING;

-- name: known_symbols
-- Symbols that this user sees candles of, the first twenty.
SELECT DISTINCT symbol FROM candle_sets WHERE user_id IN (%(user_id)s, '') ORDER BY symbol LIMIT 20;

-- name: clocks
-- The replay clocks with the price each is at (primary keys).
SELECT k.symbol, k.owner, k.timeframe, k.provider, k.ts, c.close
FROM market_clocks k
LEFT JOIN candles c ON c.user_id = k.owner AND c.symbol = k.symbol AND c.timeframe = k.timeframe
                   AND c.provider = k.provider AND c.ts = k.ts
WHERE k.user_id = %(user_id)s
ORDER BY k.symbol;

-- name: next_bar
SELECT c.ts, c.open, c.high, c.low, c.close
FROM candles c
WHERE c.user_id = %(owner)s AND c.symbol = %(symbol)s AND c.timeframe = %(timeframe)s AND c.provider = %(provider)s
  AND c.ts > %(ts)s
ORDER BY c.ts
LIMIT 1;

-- name: move_clock
UPDATE market_clocks SET ts = %(ts)s WHERE user_id = %(user_id)s AND symbol = %(symbol)s;

-- name: put_token
INSERT INTO trading_tokens (user_id, token_hash, digest, expires_at)
VALUES (%(user_id)s, %(token_hash)s, %(digest)s, %(expires_at)s);

-- name: drop_old_tokens
DELETE FROM trading_tokens WHERE user_id = %(user_id)s AND expires_at < %(before)s;

-- name: use_token
-- Marks a token as used and says what it was before; no row for one that was never given.
UPDATE trading_tokens t
SET used = true
FROM (SELECT token_hash, digest, expires_at, used FROM trading_tokens
      WHERE user_id = %(user_id)s AND token_hash = %(token_hash)s FOR UPDATE) AS before
WHERE t.user_id = %(user_id)s AND t.token_hash = before.token_hash
RETURNING before.digest, before.expires_at, before.used;

-- name: insert_order
INSERT INTO trading_orders (user_id, account, client_order_id, digest, symbol, side, type, requested_quantity, quantity,
                            price, stop_price, time_in_force, reduce_only, value, status, placed_at, updated_at)
VALUES (%(user_id)s, %(account)s, %(client_order_id)s, %(digest)s, %(symbol)s, %(side)s, %(type)s,
        %(requested_quantity)s, %(quantity)s, %(price)s, %(stop_price)s, %(time_in_force)s, %(reduce_only)s, %(value)s,
        'open', %(now)s, %(now)s)
RETURNING *;

-- name: get_order
SELECT * FROM trading_orders
WHERE user_id = %(user_id)s AND account = %(account)s AND order_id = %(order_id)s;

-- name: open_orders
-- Resting orders of a symbol, oldest first (trading_orders_open).
SELECT * FROM trading_orders
WHERE user_id = %(user_id)s AND account = %(account)s AND symbol = %(symbol)s AND status = 'open'
ORDER BY order_id;

-- name: list_orders
-- Newest first, before an id (primary key).
SELECT * FROM trading_orders
WHERE user_id = %(user_id)s AND account = %(account)s
  AND (%(status)s::text IS NULL OR status = %(status)s) AND (%(before)s::bigint IS NULL OR order_id < %(before)s)
ORDER BY order_id DESC
LIMIT %(limit)s;

-- name: update_order
UPDATE trading_orders
SET status = %(status)s, filled_quantity = %(filled_quantity)s, triggered = %(triggered)s, reason = %(reason)s,
    updated_at = %(now)s
WHERE user_id = %(user_id)s AND account = %(account)s AND order_id = %(order_id)s;

-- name: insert_fill
INSERT INTO trading_fills (user_id, account, order_id, symbol, side, quantity, price, fee, ts)
VALUES (%(user_id)s, %(account)s, %(order_id)s, %(symbol)s, %(side)s, %(quantity)s, %(price)s, %(fee)s, %(ts)s);

-- name: fills_of_order
SELECT order_id, symbol, side, quantity, price, fee, ts
FROM trading_fills
WHERE user_id = %(user_id)s AND account = %(account)s AND order_id = %(order_id)s
ORDER BY fill_id;

-- name: all_fills
SELECT order_id, symbol, side, quantity, price, fee, ts
FROM trading_fills
WHERE user_id = %(user_id)s AND account = %(account)s
ORDER BY fill_id;

-- name: get_holding
SELECT quantity, cost, realised, fees FROM trading_holdings
WHERE user_id = %(user_id)s AND account = %(account)s AND symbol = %(symbol)s;

-- name: put_holding
INSERT INTO trading_holdings (user_id, account, symbol, quantity, cost, realised, fees)
VALUES (%(user_id)s, %(account)s, %(symbol)s, %(quantity)s, %(cost)s, %(realised)s, %(fees)s)
ON CONFLICT (user_id, account, symbol) DO UPDATE
SET quantity = EXCLUDED.quantity, cost = EXCLUDED.cost, realised = EXCLUDED.realised, fees = EXCLUDED.fees;

-- name: positions
-- Holdings with their last known price (primary keys).
SELECT h.symbol, h.quantity, h.cost, h.realised, h.fees, c.close AS price, k.ts AS price_at
FROM trading_holdings h
LEFT JOIN market_clocks k ON k.user_id = h.user_id AND k.symbol = h.symbol
LEFT JOIN candles c ON c.user_id = k.owner AND c.symbol = k.symbol AND c.timeframe = k.timeframe
                   AND c.provider = k.provider AND c.ts = k.ts
WHERE h.user_id = %(user_id)s AND h.account = %(account)s AND h.quantity <> 0
ORDER BY h.symbol;

-- name: insert_alert
INSERT INTO trading_alerts (user_id, type, symbol, message, created_at)
VALUES (%(user_id)s, %(type)s, %(symbol)s, %(message)s, %(now)s);

-- name: recent_alerts
SELECT type, message, created_at FROM trading_alerts
WHERE user_id = %(user_id)s
ORDER BY alert_id DESC
LIMIT %(limit)s;

-- name: put_price_alert
INSERT INTO price_alerts (user_id, symbol, direction, price)
VALUES (%(user_id)s, %(symbol)s, %(direction)s, %(price)s)
ON CONFLICT DO NOTHING;

-- name: take_price_alerts
-- Alerts whose price is crossed, each once: on the other side before the candle or at its open and reached in it, or on
-- the other side in it and reached at its close. The path between is not known.
DELETE FROM price_alerts
WHERE user_id = %(user_id)s AND symbol = %(symbol)s
  AND CASE direction
      WHEN 'above' THEN (least(%(previous)s, %(open)s) < price AND price <= %(high)s)
                     OR (%(low)s < price AND price <= %(close)s)
      ELSE (greatest(%(previous)s, %(open)s) > price AND price >= %(low)s)
        OR (%(high)s > price AND price >= %(close)s)
      END
RETURNING direction, price;

-- Live orders: the journal of what was sent to a real exchange.

-- name: lock_live
-- One live order of a user is written down at a time, until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s || chr(31) || %(account)s, 43));

-- name: get_token
SELECT digest, expires_at, used FROM trading_tokens WHERE user_id = %(user_id)s AND token_hash = %(token_hash)s;

-- name: get_live_order
SELECT * FROM live_orders WHERE user_id = %(user_id)s AND client_order_id = %(client_order_id)s;

-- name: live_usage
-- Orders that may be resting, and the value of a day's orders that were not refused (live_orders_recent).
SELECT count(*) FILTER (WHERE status IN ('intended', 'unknown', 'open')) AS open_orders,
       coalesce(sum(value) FILTER (WHERE placed_at > %(day_ago)s AND status NOT IN ('rejected', 'not_placed')), 0)
           AS ordered
FROM live_orders
WHERE user_id = %(user_id)s AND (placed_at > %(day_ago)s OR status IN ('intended', 'unknown', 'open'));

-- name: insert_live_order
INSERT INTO live_orders (user_id, client_order_id, digest, symbol, side, type, quantity, price, time_in_force, value,
                         status, placed_at, updated_at)
VALUES (%(user_id)s, %(client_order_id)s, %(digest)s, %(symbol)s, %(side)s, %(type)s, %(quantity)s, %(price)s,
        %(time_in_force)s, %(value)s, 'intended', %(now)s, %(now)s);

-- name: record_live_order
-- What is known of an order (primary key); what is final stays as it is.
WITH changed AS (
    UPDATE live_orders
    SET status = %(status)s, exchange_order_id = %(exchange_order_id)s, filled = %(filled)s, average = %(average)s,
        reason = %(reason)s, updated_at = %(now)s
    WHERE user_id = %(user_id)s AND client_order_id = %(client_order_id)s
      AND status NOT IN ('filled', 'cancelled', 'rejected', 'not_placed')
    RETURNING *
)
SELECT * FROM changed
UNION ALL
SELECT * FROM live_orders
WHERE user_id = %(user_id)s AND client_order_id = %(client_order_id)s AND NOT EXISTS (SELECT FROM changed);
