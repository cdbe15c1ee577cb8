-- The statements of the market feature. A user sees their own candles and those of the user '' (seed data); where both
-- have a set, the user's own comes first.

-- name: put_set
INSERT INTO candle_sets (user_id, provider, symbol, timeframe, source, licence, synthetic, imported_at)
VALUES (%(user_id)s, %(provider)s, %(symbol)s, %(timeframe)s, %(source)s, %(licence)s, %(synthetic)s, %(now)s)
ON CONFLICT (user_id, symbol, timeframe, provider) DO UPDATE
SET source = EXCLUDED.source, licence = EXCLUDED.licence, synthetic = EXCLUDED.synthetic,
    imported_at = EXCLUDED.imported_at;

-- name: drop_bars
DELETE FROM candles
WHERE user_id = %(user_id)s AND symbol = %(symbol)s AND timeframe = %(timeframe)s AND provider = %(provider)s;

-- name: insert_bars
-- A batch of bars by column (COPY is refused under row-level security).
INSERT INTO candles (user_id, provider, symbol, timeframe, ts, open, high, low, close, volume)
SELECT %(user_id)s, %(provider)s, %(symbol)s, %(timeframe)s, bars.*
FROM unnest(%(ts)s::timestamptz[], %(open)s::numeric[], %(high)s::numeric[], %(low)s::numeric[],
            %(close)s::numeric[], %(volume)s::numeric[]) AS bars;

-- name: find_set
-- The set of a symbol in a timeframe that this user sees first: their own, then by provider.
SELECT user_id AS owner, provider, symbol, timeframe, source, licence, synthetic
FROM candle_sets
WHERE user_id IN (%(user_id)s, '') AND symbol = %(symbol)s AND timeframe = %(timeframe)s
ORDER BY user_id DESC, provider
LIMIT 1;

-- name: list_sets
SELECT DISTINCT symbol, timeframe
FROM candle_sets
WHERE user_id IN (%(user_id)s, '')
ORDER BY symbol, timeframe;

-- name: columns
-- The bars of a set in [since, until) by column (primary key).
SELECT array_agg(extract(epoch FROM ts)::bigint ORDER BY ts) AS ts,
       array_agg(open::float8 ORDER BY ts) AS open,
       array_agg(high::float8 ORDER BY ts) AS high,
       array_agg(low::float8 ORDER BY ts) AS low,
       array_agg(close::float8 ORDER BY ts) AS close,
       array_agg(volume::float8 ORDER BY ts) AS volume
FROM candles
WHERE user_id = %(owner)s AND symbol = %(symbol)s AND timeframe = %(timeframe)s AND provider = %(provider)s
  AND (%(since)s::timestamptz IS NULL OR ts >= %(since)s) AND (%(until)s::timestamptz IS NULL OR ts < %(until)s);
