"""Spot markets through ccxt, with exact numbers.

ccxt is an optional package of its own layer. It is used as it comes; what differs between exchanges and matters when
money moves (client order ids, how an order is looked up, what an error means) is known here for each exchange, so only
those in `SUPPORTED` can be chosen.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from typing import Any, cast

from satchel.errors import InvalidInputError, NotFoundError, UnavailableError
from satchel.trading.live_orders import Listing, LiveRefusedError, LiveUnknownError, Placed
from satchel.trading.orders import OrderRequest

# One request to the exchange; an order takes five of them before and after it is sent.
TIMEOUT_MS = 5_000
_MESSAGE_CHARS = 200
_STATUS = {"open": "open", "closed": "filled", "canceled": "cancelled", "expired": "cancelled", "rejected": "rejected"}


@dataclass(frozen=True, slots=True)
class _Ways:
    """What is an exchange's own: options for ccxt, and how one symbol's rules are asked for instead of all."""

    options: dict[str, Any]
    one_market: Callable[[str], dict[str, Any]]


SUPPORTED = {
    "binance": _Ways(
        options={"defaultType": "spot", "fetchMarkets": {"types": ["spot"]}, "fetchMargins": False},
        one_market=lambda symbol: {"symbol": symbol.replace("/", "")},
    ),
}


def open_exchange(name: str, key: dict[str, str]) -> Any:
    """A ccxt client whose numbers are text.

    Args:
        name: One of `SUPPORTED`.
        key: `apiKey` and `secret`; empty for what anybody may ask.

    Raises:
        InvalidInputError: The exchange is not supported.
        UnavailableError: ccxt is not installed here.
    """
    ways = SUPPORTED.get(name)
    if ways is None:
        raise InvalidInputError(f"exchanges: {', '.join(SUPPORTED)}", field="exchange")
    client = getattr(_ccxt(), name)({**key, "number": str, "timeout": TIMEOUT_MS, "options": {**ways.options}})
    client.has["fetchCurrencies"] = False
    return client


class CcxtExchange:
    """An account on an exchange.

    Args:
        name: One of `SUPPORTED`.
        client: What `open_exchange` made.
    """

    def __init__(self, name: str, client: Any) -> None:
        self.name = name
        self._client = client
        self._ways = SUPPORTED[name]
        # How far our clock is ahead of the exchange's.
        self._ahead_ms = 0

    def listing(self, symbol: str) -> Listing:
        """See `LiveExchange.listing`."""
        market = self._market(symbol)
        ticker = _asked(lambda: self._client.fetch_ticker(symbol))
        balance = _asked(self._client.fetch_balance)
        return Listing(
            base=market["base"],
            quote=market["quote"],
            step=Decimal(market["precision"]["amount"]),
            tick=Decimal(market["precision"]["price"]),
            min_value=Decimal(market["limits"]["cost"]["min"] or 0),
            price=Decimal(ticker["last"]),
            # The exchange's clock may differ from ours; what counts is how old the price is there.
            price_at=datetime.fromtimestamp((ticker["timestamp"] + self._ahead_ms) / 1000, UTC),
            free={name: Decimal(amount) for name, amount in balance["free"].items()},
        )

    def place(self, order: OrderRequest, client_order_id: str) -> Placed:
        """See `LiveExchange.place`."""
        ccxt = _ccxt()
        price = None if order.price is None else format(order.price, "f")
        params = {"clientOrderId": client_order_id}
        if order.type == "limit":
            params["timeInForce"] = order.time_in_force
        try:
            placed = self._client.create_order(
                order.symbol, order.type, order.side, format(order.quantity, "f"), price, params
            )
        except (ccxt.RateLimitExceeded, ccxt.DDoSProtection, ccxt.InvalidNonce) as error:
            # These are told before an exchange looks at the order.
            raise LiveRefusedError(_message(error)) from error
        except ccxt.OperationFailed as error:
            raise LiveUnknownError from error
        except ccxt.BaseError as error:
            raise LiveRefusedError(_message(error)) from error
        return _placed(placed)

    def find(self, symbol: str, client_order_id: str) -> Placed | None:
        """See `LiveExchange.find`."""
        self._market(symbol)
        try:
            return _placed(_asked(lambda: self._client.fetch_order_with_client_order_id(client_order_id, symbol)))
        except _ccxt().OrderNotFound:
            return None

    def cancel(self, symbol: str, client_order_id: str) -> None:
        """See `LiveExchange.cancel`."""
        try:
            _asked(lambda: self._client.cancel_order_with_client_order_id(client_order_id, symbol))
        except _ccxt().ExchangeError as error:
            raise LiveRefusedError(_message(error)) from error

    def candles(self, symbol: str, timeframe: str, since_ms: int, limit: int) -> list[list[Any]]:
        """Up to `limit` bars from a time on, oldest first: milliseconds, open, high, low, close, volume as text."""
        self._market(symbol)
        return _asked(lambda: self._client.fetch_ohlcv(symbol, timeframe, since_ms, limit))

    def _market(self, symbol: str) -> dict[str, Any]:
        """The rules of a symbol. Only its own are asked for: those of all symbols are megabytes."""
        if symbol not in (self._client.markets or {}):
            self._ahead_ms = int(_asked(self._client.load_time_difference))
            try:
                _asked(lambda: self._client.load_markets(reload=True, params=self._ways.one_market(symbol)))
            except (_ccxt().BadSymbol, _ccxt().BadRequest) as error:
                raise NotFoundError("the exchange has no such symbol", field="symbol") from error
        market = cast("dict[str, dict[str, Any]]", self._client.markets or {}).get(symbol)
        if market is None or not market["spot"]:
            raise NotFoundError("the exchange has no such symbol", field="symbol")
        return market


def _placed(order: dict[str, Any]) -> Placed:
    average = order["average"]
    return Placed(
        exchange_order_id=str(order["id"]),
        symbol=order["symbol"],
        side=order["side"],
        quantity=Decimal(order["amount"]),
        status=cast("Any", _STATUS.get(order["status"], "open")),
        filled=Decimal(order["filled"] or 0),
        average=None if average is None else Decimal(average),
    )


def _asked(question: Callable[[], Any]) -> Any:
    """The answer to what changes nothing.

    Raises:
        UnavailableError: The exchange does not answer, or does not take the key.
    """
    ccxt = _ccxt()
    try:
        return question()
    except ccxt.AuthenticationError as error:
        raise UnavailableError("the exchange does not take the configured key", retry_after_s=3600) from error
    except ccxt.OperationFailed as error:
        raise UnavailableError("the exchange does not answer now", retry_after_s=5) from error


def _ccxt() -> Any:
    """The package: an optional one, and two seconds of a cold start."""
    try:
        return import_module("ccxt")
    except ImportError as error:
        raise UnavailableError("ccxt is not installed here", retry_after_s=3600) from error


def _message(error: Exception) -> str:
    """What the exchange says; the kind of error where that would tell a URL, which holds a signature."""
    found = re.search(r'"msg":\s*"([^"]*)"', str(error))
    text = found[1] if found else str(error).partition(" ")[2]
    return type(error).__name__ if "://" in text else text[:_MESSAGE_CHARS]
