-- Orders on a real exchange, written down before they are sent. Their status is what is known: `intended` until the
-- exchange has answered, `unknown` where its answer was lost.
CREATE TABLE live_orders (
    user_id text NOT NULL,
    client_order_id text NOT NULL,
    digest text NOT NULL,
    symbol text NOT NULL,
    side text NOT NULL CHECK (side IN ('buy', 'sell')),
    type text NOT NULL CHECK (type IN ('market', 'limit')),
    quantity numeric NOT NULL CHECK (quantity > 0),
    price numeric,
    time_in_force text NOT NULL CHECK (time_in_force IN ('GTC', 'IOC')),
    -- what it was worth when it was sent, for the limits
    value numeric NOT NULL,
    status text NOT NULL CHECK (status IN ('intended', 'unknown', 'open', 'filled', 'cancelled', 'rejected',
                                           'not_placed')),
    exchange_order_id text,
    filled numeric NOT NULL DEFAULT 0,
    average numeric,
    reason text,
    placed_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, client_order_id)
);
CREATE INDEX live_orders_recent ON live_orders (user_id, placed_at);

ALTER TABLE live_orders ENABLE ROW LEVEL SECURITY;
ALTER TABLE live_orders FORCE ROW LEVEL SECURITY;
CREATE POLICY live_orders_owner ON live_orders
    USING (user_id = (SELECT current_setting('app.user_id', true)))
    WITH CHECK (user_id = (SELECT current_setting('app.user_id', true)));
-- A journal is not erased by the application.
GRANT SELECT, INSERT, UPDATE ON live_orders TO satchel_app;
