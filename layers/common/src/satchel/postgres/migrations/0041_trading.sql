-- Trading on paper. Amounts are numeric: what is written is what is read, to the last digit.
CREATE TABLE trading_accounts (
    user_id text NOT NULL,
    account text NOT NULL,
    mode text NOT NULL CHECK (mode IN ('paper')),
    currency text NOT NULL,
    cash numeric NOT NULL,
    -- whether an order is previewed and confirmed, or done at once
    confirm boolean NOT NULL,
    fee_rate numeric NOT NULL CHECK (fee_rate >= 0 AND fee_rate < 1),
    slippage numeric NOT NULL CHECK (slippage >= 0 AND slippage < 1),
    limits jsonb NOT NULL,
    -- smallest step of a quantity, by symbol
    steps jsonb NOT NULL,
    PRIMARY KEY (user_id, account)
);

CREATE TABLE trading_orders (
    user_id text NOT NULL,
    account text NOT NULL,
    -- As long as the ids of real exchanges: a client that keeps them as floating-point numbers is found out on paper.
    order_id bigint GENERATED ALWAYS AS IDENTITY (START WITH 1915883588174806059),
    client_order_id text,
    digest text NOT NULL,
    symbol text NOT NULL,
    side text NOT NULL CHECK (side IN ('buy', 'sell')),
    type text NOT NULL CHECK (type IN ('market', 'limit', 'stop', 'stop_limit')),
    requested_quantity numeric NOT NULL,
    quantity numeric NOT NULL,
    price numeric,
    stop_price numeric,
    time_in_force text NOT NULL CHECK (time_in_force IN ('GTC', 'IOC')),
    reduce_only boolean NOT NULL,
    -- what it was worth when it was accepted, for the limits
    value numeric NOT NULL,
    status text NOT NULL CHECK (status IN ('open', 'filled', 'cancelled', 'rejected')),
    filled_quantity numeric NOT NULL DEFAULT 0,
    triggered boolean NOT NULL DEFAULT false,
    reason text,
    placed_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, account, order_id),
    FOREIGN KEY (user_id, account) REFERENCES trading_accounts
);
CREATE UNIQUE INDEX trading_orders_client_id ON trading_orders (user_id, account, client_order_id);
CREATE INDEX trading_orders_open ON trading_orders (user_id, account, symbol, order_id) WHERE status = 'open';
CREATE INDEX trading_orders_recent ON trading_orders (user_id, account, placed_at);

CREATE TABLE trading_fills (
    user_id text NOT NULL,
    account text NOT NULL,
    fill_id bigint GENERATED ALWAYS AS IDENTITY,
    order_id bigint NOT NULL,
    symbol text NOT NULL,
    side text NOT NULL,
    quantity numeric NOT NULL CHECK (quantity > 0),
    price numeric NOT NULL CHECK (price > 0),
    fee numeric NOT NULL,
    ts timestamptz NOT NULL,
    PRIMARY KEY (user_id, account, fill_id),
    FOREIGN KEY (user_id, account, order_id) REFERENCES trading_orders
);
CREATE INDEX trading_fills_of_order ON trading_fills (user_id, account, order_id);

-- Derived from the fills, kept so that an order need not read them all; it can be rebuilt from them.
CREATE TABLE trading_holdings (
    user_id text NOT NULL,
    account text NOT NULL,
    symbol text NOT NULL,
    quantity numeric NOT NULL,
    cost numeric NOT NULL,
    realised numeric NOT NULL,
    fees numeric NOT NULL,
    PRIMARY KEY (user_id, account, symbol),
    FOREIGN KEY (user_id, account) REFERENCES trading_accounts
);

-- Permission to do one exact order, once, for a minute. Only the token's hash is kept.
CREATE TABLE trading_tokens (
    user_id text NOT NULL,
    token_hash text NOT NULL,
    digest text NOT NULL,
    expires_at timestamptz NOT NULL,
    used boolean NOT NULL DEFAULT false,
    PRIMARY KEY (user_id, token_hash)
);

-- Which candle of a symbol a user is shown as the last: the replay clock. Orders fill in the candles after it.
CREATE TABLE market_clocks (
    user_id text NOT NULL,
    symbol text NOT NULL,
    owner text NOT NULL,
    timeframe text NOT NULL,
    provider text NOT NULL,
    ts timestamptz NOT NULL,
    PRIMARY KEY (user_id, symbol)
);

CREATE TABLE trading_alerts (
    user_id text NOT NULL,
    alert_id bigint GENERATED ALWAYS AS IDENTITY,
    type text NOT NULL,
    symbol text NOT NULL,
    message text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, alert_id)
);
CREATE TABLE price_alerts (
    user_id text NOT NULL,
    symbol text NOT NULL,
    direction text NOT NULL CHECK (direction IN ('above', 'below')),
    price numeric NOT NULL CHECK (price > 0),
    PRIMARY KEY (user_id, symbol, direction, price)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['trading_accounts', 'trading_orders', 'trading_fills', 'trading_holdings',
                                'trading_tokens', 'market_clocks', 'trading_alerts', 'price_alerts']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (user_id = (SELECT current_setting(''app.user_id'', true))) '
            'WITH CHECK (user_id = (SELECT current_setting(''app.user_id'', true)))', name || '_owner', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO satchel_app', name);
    END LOOP;
END
$$;
