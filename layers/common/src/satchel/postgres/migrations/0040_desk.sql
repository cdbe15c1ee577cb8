-- Candles: prices of a symbol in a timeframe, from one source. Rows of the user '' are for everybody (seed data).
CREATE TABLE candle_sets (
    user_id text NOT NULL,
    provider text NOT NULL,
    symbol text NOT NULL,
    timeframe text NOT NULL,
    source text NOT NULL,
    licence text NOT NULL,
    synthetic boolean NOT NULL,
    imported_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, symbol, timeframe, provider)
);
CREATE TABLE candles (
    user_id text NOT NULL,
    provider text NOT NULL,
    symbol text NOT NULL,
    timeframe text NOT NULL,
    ts timestamptz NOT NULL,
    open numeric NOT NULL,
    high numeric NOT NULL,
    low numeric NOT NULL,
    close numeric NOT NULL,
    volume numeric NOT NULL,
    PRIMARY KEY (user_id, symbol, timeframe, provider, ts),
    CHECK (low > 0 AND low <= LEAST(open, close) AND high >= GREATEST(open, close) AND volume >= 0)
);

-- Strategies: every version is kept; the current one is the highest.
CREATE TABLE strategies (
    user_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    code text NOT NULL,
    hash text NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, name, version)
);

-- Backtests: what was asked and found; the rows of the long parts are paged by seq.
CREATE TABLE backtests (
    user_id text NOT NULL,
    backtest_id text NOT NULL,
    strategy text NOT NULL,
    strategy_version integer NOT NULL,
    report jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, backtest_id)
);
CREATE INDEX backtests_recent ON backtests (user_id, strategy, created_at);
CREATE TABLE backtest_rows (
    user_id text NOT NULL,
    backtest_id text NOT NULL,
    section text NOT NULL CHECK (section IN ('trades', 'equity')),
    seq integer NOT NULL,
    item jsonb NOT NULL,
    PRIMARY KEY (user_id, backtest_id, section, seq),
    FOREIGN KEY (user_id, backtest_id) REFERENCES backtests ON DELETE CASCADE
);

-- Every distinct combination that was ever tried of a strategy, so that the best one can be judged honestly.
CREATE TABLE strategy_trials (
    user_id text NOT NULL,
    strategy text NOT NULL,
    trial text NOT NULL,
    sharpe double precision,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, strategy, trial)
);

ALTER TABLE candle_sets ENABLE ROW LEVEL SECURITY;
ALTER TABLE candle_sets FORCE ROW LEVEL SECURITY;
CREATE POLICY candle_sets_readers ON candle_sets
    USING (user_id = (SELECT current_setting('app.user_id', true)) OR user_id = '')
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));
ALTER TABLE candles ENABLE ROW LEVEL SECURITY;
ALTER TABLE candles FORCE ROW LEVEL SECURITY;
CREATE POLICY candles_readers ON candles
    USING (user_id = (SELECT current_setting('app.user_id', true)) OR user_id = '')
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

ALTER TABLE strategies ENABLE ROW LEVEL SECURITY;
ALTER TABLE strategies FORCE ROW LEVEL SECURITY;
CREATE POLICY strategies_owner ON strategies
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));
ALTER TABLE backtests ENABLE ROW LEVEL SECURITY;
ALTER TABLE backtests FORCE ROW LEVEL SECURITY;
CREATE POLICY backtests_owner ON backtests
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));
ALTER TABLE backtest_rows ENABLE ROW LEVEL SECURITY;
ALTER TABLE backtest_rows FORCE ROW LEVEL SECURITY;
CREATE POLICY backtest_rows_owner ON backtest_rows
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));
ALTER TABLE strategy_trials ENABLE ROW LEVEL SECURITY;
ALTER TABLE strategy_trials FORCE ROW LEVEL SECURITY;
CREATE POLICY strategy_trials_owner ON strategy_trials
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));

GRANT SELECT, INSERT, UPDATE, DELETE
    ON candle_sets, candles, strategies, backtests, backtest_rows, strategy_trials TO satchel_app;
