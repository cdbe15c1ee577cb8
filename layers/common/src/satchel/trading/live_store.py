"""The journal of live orders: what was intended stands here before anything is sent."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from satchel.postgres.database import Connection, Database
from satchel.postgres.queries import load_queries
from satchel.trading.live_orders import LIVE, LiveOrder
from satchel.trading.orders import OrderRequest
from satchel.trading.risk import RiskLimits

_SQL = load_queries("satchel.trading")
_DAY = timedelta(days=1)


class LiveJournal:
    """The live orders of one user.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id
        self._key = {"user_id": user_id, "account": LIVE}

    def get(self, client_order_id: str) -> LiveOrder | None:
        """The order of an id."""
        row = self._database.fetch_one(
            self._user_id, _SQL["get_live_order"], account=LIVE, client_order_id=client_order_id
        )
        return _order(row) if row else None

    def usage(self, now: datetime) -> tuple[int, Decimal]:
        """How many orders may be resting, and what those of the last 24 hours are worth together."""
        with self._database.transaction(self._user_id) as connection:
            return self._usage(connection, now)

    def put_token(self, token_hash: str, digest: str, expires_at: datetime, now: datetime) -> None:
        """Keep a token for one exact order."""
        with self._database.transaction(self._user_id) as connection:
            connection.execute(_SQL["drop_old_tokens"], self._key | {"before": now - _DAY})
            token = {"token_hash": token_hash, "digest": digest, "expires_at": expires_at}
            connection.execute(_SQL["put_token"], self._key | token)

    def intend(self, token_hash: str, order: LiveOrder, *, value: Decimal, limits: RiskLimits) -> str | None:
        """Use the token and write the order down, one at a time; the reason where that may not be.

        Nothing is left where it may not be. The day's limit is looked at once more here, where nobody else can be.
        """
        now, request = order.placed_at, order.request
        row = {
            "client_order_id": order.client_order_id,
            "digest": order.digest,
            "symbol": request.symbol,
            "side": request.side,
            "type": request.type,
            "quantity": request.quantity,
            "price": request.price,
            "time_in_force": request.time_in_force,
            "value": value,
            "now": now,
        }
        with self._database.transaction(self._user_id) as connection:
            connection.execute(_SQL["lock_live"], self._key)
            token = connection.execute(_SQL["get_token"], self._key | {"token_hash": token_hash}).fetchone()
            if token is None or token["digest"] != order.digest:
                return "this token was not given for this order; ask for a preview"
            if token["used"] or token["expires_at"] <= now:
                return "this token was used or has expired; ask for a preview"
            open_orders, ordered = self._usage(connection, now)
            if open_orders >= limits.max_open_orders or ordered + value > limits.max_day:
                return "other orders have used up the day's limit since the preview"
            connection.execute(_SQL["use_token"], self._key | {"token_hash": token_hash})
            connection.execute(_SQL["insert_live_order"], self._key | row)
        return None

    def record(self, order: LiveOrder) -> LiveOrder:
        """Write down what is known of an order now, and return it as it stands: what is final stays."""
        row = self._database.fetch_one(
            self._user_id,
            _SQL["record_live_order"],
            account=LIVE,
            client_order_id=order.client_order_id,
            status=order.status,
            exchange_order_id=order.exchange_order_id,
            filled=order.filled,
            average=order.average,
            reason=order.reason,
            now=order.updated_at,
        )
        assert row is not None
        return _order(row)

    def _usage(self, connection: Connection, now: datetime) -> tuple[int, Decimal]:
        row = connection.execute(_SQL["live_usage"], self._key | {"day_ago": now - _DAY}).fetchone()
        assert row is not None
        return row["open_orders"], row["ordered"]


def _order(row: dict[str, Any]) -> LiveOrder:
    return LiveOrder(
        client_order_id=row["client_order_id"],
        digest=row["digest"],
        request=OrderRequest(
            symbol=row["symbol"],
            side=row["side"],
            quantity=row["quantity"],
            type=row["type"],
            price=row["price"],
            time_in_force=row["time_in_force"],
            client_order_id=row["client_order_id"],
        ),
        status=row["status"],
        exchange_order_id=row["exchange_order_id"],
        filled=row["filled"],
        average=row["average"],
        reason=row["reason"],
        placed_at=row["placed_at"],
        updated_at=row["updated_at"],
    )
