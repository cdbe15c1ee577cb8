"""The trading feature's SQL: one user's accounts, orders, fills and replay clocks."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from psycopg.types.json import Jsonb

from satchel.errors import NotFoundError
from satchel.postgres.database import Connection, Database
from satchel.postgres.queries import load_queries
from satchel.trading.account import FRESH, PAPER, Account
from satchel.trading.holdings import Holding
from satchel.trading.money import plain
from satchel.trading.orders import Bar, Fill, Order, OrderRequest
from satchel.trading.risk import Facts, Situation

_SQL = load_queries("satchel.trading")
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked when an order comes: about which symbol, which client order id, and when."""

    symbol: str
    client_order_id: str | None
    now: datetime


class TradingStore:
    """The trading of one user.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    @contextmanager
    def open(self, account: str, *, ahead: Asking | None = None) -> Generator["Session"]:
        """A transaction that holds the account: one at a time, all or nothing.

        Args:
            account: Its name.
            ahead: What will be asked first: it is answered in the round trip that takes the account.

        Raises:
            NotFoundError: The user has no such account. The paper account is made when it is first asked for.
        """
        key = {"user_id": self._user_id, "account": account}
        with self._database.transaction(self._user_id) as connection:
            with connection.pipeline():
                locked = connection.execute(_SQL["lock_account"], key)
                # Its snapshot is of after the lock, as each statement has its own.
                asked = connection.execute(_SQL["situation"], _situation_of(ahead) | key) if ahead else None
            row = locked.fetchone()
            # What was asked of an account that nobody held yet says nothing.
            answers = {ahead: asked.fetchone()} if row and ahead and asked else {}
            if row is None and account == PAPER:
                connection.execute(_SQL["ensure_account"], key | _rules(FRESH) | {"cash": FRESH.cash})
                row = connection.execute(_SQL["lock_account"], key).fetchone()
            if row is None:
                raise NotFoundError("there is no account of this name", field="account")
            yield Session(connection, key, Account.of(row), answers)

    def account(self, account: str) -> Account:
        """An account; the paper account of somebody who never traded is a fresh one.

        Raises:
            NotFoundError: The user has no such account.
        """
        rows = self._database.fetch_all(self._user_id, _SQL["get_account"], account=account)
        if not rows and account != PAPER:
            raise NotFoundError("there is no account of this name", field="account")
        return Account.of(rows[0]) if rows else FRESH

    def positions(self, account: str) -> list[dict[str, Any]]:
        """Holdings that are not zero with the last known price, by symbol."""
        return self._database.fetch_all(self._user_id, _SQL["positions"], account=account)

    def orders(self, account: str, *, status: str | None, before: int | None, limit: int) -> list[Order]:
        """Orders, newest first, before an id."""
        rows = self._database.fetch_all(
            self._user_id, _SQL["list_orders"], account=account, status=status, before=before, limit=limit
        )
        return [_order(row) for row in rows]

    def order(self, account: str, order_id: int) -> tuple[Order, list[Fill]]:
        """An order and its fills in their order.

        Raises:
            NotFoundError: The user has no such order.
        """
        key = {"account": account, "order_id": order_id}
        rows = self._database.fetch_all(self._user_id, _SQL["get_order"], **key)
        if not rows:
            raise NotFoundError("there is no such order", field="order_id")
        return _order(rows[0]), [
            Fill(**row) for row in self._database.fetch_all(self._user_id, _SQL["fills_of_order"], **key)
        ]

    def fills(self, account: str) -> list[Fill]:
        """Every fill, in order."""
        return [Fill(**row) for row in self._database.fetch_all(self._user_id, _SQL["all_fills"], account=account)]

    def alerts(self, limit: int) -> list[dict[str, Any]]:
        """The newest alerts (`type`, `message`, `created_at`), newest first."""
        return self._database.fetch_all(self._user_id, _SQL["recent_alerts"], limit=limit)


class Session:
    """What can be done while the account is held.

    Attributes:
        account: The account as it was when it was opened; `cash` is kept current.
    """

    def __init__(
        self, connection: Connection, key: dict[str, Any], account: Account, answers: Mapping[Asking, Any]
    ) -> None:
        self._connection = connection
        self._answers = answers
        self._key = key
        self.account = account
        self.cash = account.cash

    def facts(self, symbol: str, client_order_id: str | None, now: datetime) -> Facts:
        """What is known when an order comes; a symbol's replay starts when it is first asked for."""
        asking = Asking(symbol, client_order_id, now)
        row = self._answers.get(asking) or self._one("situation", _situation_of(asking))
        if row["price_at"] is None:
            self._do("open_clock", {"symbol": symbol})
            row = self._one("situation", _situation_of(asking))
        known = row["order_id"] is not None
        return Facts(
            situation=Situation(
                last_price=row["last_price"],
                replay_ended=row["replay_ended"],
                held=row["held"],
                open_orders=row["open_orders"],
                ordered_today=row["ordered_today"],
                buying_power=self.cash + row["net"] - row["gross"] - row["reserved"],
            ),
            price_at=row["price_at"],
            earlier=_order(row) if known else None,
            earlier_digest=row["digest"] if known else None,
        )

    def symbols(self) -> list[str]:
        """Symbols that have candles, the first twenty."""
        return [row["symbol"] for row in self._do("known_symbols", {}).fetchall()]

    def fills_of(self, order_id: int) -> list[Fill]:
        """The fills of an order."""
        return [Fill(**row) for row in self._do("fills_of_order", {"order_id": order_id}).fetchall()]

    def put_token(self, token_hash: str, digest: str, expires_at: datetime, now: datetime) -> None:
        """Keep a token for one exact order."""
        self._do("drop_old_tokens", {"before": now - _DAY})
        self._do("put_token", {"token_hash": token_hash, "digest": digest, "expires_at": expires_at})

    def use_token(self, token_hash: str) -> dict[str, Any] | None:
        """What a token was for (`digest`, `expires_at`, `used`), marked as used from now on."""
        return self._do("use_token", {"token_hash": token_hash}).fetchone()

    def insert_order(
        self, request: OrderRequest, *, digest: str, quantity: Decimal, value: Decimal, now: datetime
    ) -> Order:
        """Keep an accepted order."""
        row = asdict(request) | {"requested_quantity": request.quantity, "quantity": quantity}
        return _order(self._one("insert_order", row | {"digest": digest, "value": value, "now": now}))

    def order(self, order_id: int) -> Order | None:
        """An order by its id."""
        row = self._do("get_order", {"order_id": order_id}).fetchone()
        return _order(row) if row else None

    def open_orders(self, symbol: str) -> list[Order]:
        """Resting orders of a symbol, oldest first."""
        return [_order(row) for row in self._do("open_orders", {"symbol": symbol}).fetchall()]

    def update_order(
        self, order: Order, *, status: str, now: datetime, filled: Decimal, triggered: bool, reason: str | None
    ) -> None:
        """Write how an order stands."""
        self._do(
            "update_order",
            {
                "order_id": order.order_id,
                "status": status,
                "filled_quantity": filled,
                "triggered": triggered,
                "reason": reason,
                "now": now,
            },
        )

    def holding(self, symbol: str) -> Holding:
        """What is held of a symbol."""
        row = self._do("get_holding", {"symbol": symbol}).fetchone()
        return Holding(**row) if row else Holding()

    def put_fill(self, fill: Fill, holding: Holding, cash: Decimal) -> None:
        """Write a fill, the holding after it, and the cash after it."""
        self._do("insert_fill", asdict(fill))
        self._do("put_holding", asdict(holding) | {"symbol": fill.symbol})
        self._do("set_cash", {"cash": cash})
        self.cash = cash

    def clocks(self) -> list[dict[str, Any]]:
        """The replay clocks by symbol, each with the price it is at (`close`; None where its candle is gone)."""
        return self._do("clocks", {}).fetchall()

    def advance(self, clock: dict[str, Any]) -> Bar | None:
        """Move a replay clock to its next candle and return that; None where there is none."""
        row = self._do("next_bar", clock).fetchone()
        if row is None:
            return None
        bar = Bar(**row)
        self._do("move_clock", {"symbol": clock["symbol"], "ts": bar.ts})
        return bar

    def alert(self, kind: str, symbol: str, message: str, now: datetime) -> None:
        """Tell the owner something."""
        self._do("insert_alert", {"type": kind, "symbol": symbol, "message": message, "now": now})

    def put_price_alert(self, symbol: str, direction: str, price: Decimal) -> None:
        """Watch a price, once."""
        self._do("put_price_alert", {"symbol": symbol, "direction": direction, "price": price})

    def take_price_alerts(self, symbol: str, previous: Decimal | None, bar: Bar) -> list[dict[str, Any]]:
        """The watched prices that a candle crosses, coming from the `previous` price; they are watched no more."""
        return self._do("take_price_alerts", asdict(bar) | {"symbol": symbol, "previous": previous}).fetchall()

    def update_account(self, account: Account) -> None:
        """Write an account's rules."""
        self._do("update_account", _rules(account))

    def _do(self, statement: str, values: dict[str, Any]) -> Any:
        return self._connection.execute(_SQL[statement], values | self._key)

    def _one(self, statement: str, values: dict[str, Any]) -> dict[str, Any]:
        return self._do(statement, values).fetchone()


def _situation_of(asking: Asking) -> dict[str, Any]:
    return {
        "symbol": asking.symbol,
        "client_order_id": asking.client_order_id,
        "day_ago": asking.now - _DAY,
    }


def _rules(account: Account) -> dict[str, Any]:
    return {
        "confirm": account.confirm,
        "fee_rate": account.fee_rate,
        "slippage": account.slippage,
        "limits": Jsonb(account.limits.as_json()),
        "steps": Jsonb({symbol: plain(step) for symbol, step in account.steps.items()}),
    }


def _order(row: dict[str, Any]) -> Order:
    return Order(
        order_id=row["order_id"],
        request=OrderRequest(
            symbol=row["symbol"],
            side=row["side"],
            quantity=row["requested_quantity"],
            type=row["type"],
            price=row["price"],
            stop_price=row["stop_price"],
            time_in_force=row["time_in_force"],
            reduce_only=row["reduce_only"],
            client_order_id=row["client_order_id"],
        ),
        quantity=row["quantity"],
        status=row["status"],
        filled_quantity=row["filled_quantity"],
        triggered=row["triggered"],
        reason=row["reason"],
        placed_at=row["placed_at"],
        updated_at=row["updated_at"],
    )
