"""A local server that speaks the part of Binance's spot REST API that live trading and candles use.

https://developers.binance.com/docs/binance-spot-api-docs/rest-api

It verifies signatures, clocks, filters, client order ids and balances as that page says, and can be told to misbehave.
"""

import hashlib
import hmac
import json
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl, urlsplit

from tests.support.http_server import http_server

KEY, SECRET = "local-key", "local-secret"
MINUTE_MS = 60_000
FIRST_CANDLE_MS = 1_700_000_000_000 - 1_700_000_000_000 % MINUTE_MS
SYMBOLS = {
    "BTCUSDT": ("BTC", "USDT", "0.00001000", "0.01000000", "5.00000000"),
    "PEPEUSDT": ("PEPE", "USDT", "1.00", "0.00000001", "1.00000000"),
    "ETHBTC": ("ETH", "BTC", "0.00010000", "0.00001000", "0.00010000"),
}
# Codes and words of https://developers.binance.com/docs/binance-spot-api-docs/errors
FILTER = -1013
BAD_SIGNATURE = -1022
BAD_TIMESTAMP = -1021
NO_SUCH_SYMBOL = -1121
REJECTED = -2010
NO_SUCH_ORDER = -2013
BAD_KEY = -2015


class RefusedError(Exception):
    """What the API says no with."""

    def __init__(self, code, message, status=400):
        super().__init__(message)
        self.status, self.body = status, {"code": code, "msg": message}


@dataclass
class Book:
    """The exchange's state, and how it is to misbehave.

    Attributes:
        misbehave: What to do with the next order: `slow` (accept, answer too late), `drop` (accept, close the
            connection), `lose` (neither accept nor answer), `unavailable` (503, nothing accepted),
            `accepted_503` (accept, then 503), `busy` (429).
        hidden: How many lookups of an order do not see it yet.
        clock_ms: How far its clock is ahead.
    """

    balances: dict = field(default_factory=lambda: {"USDT": Decimal(1000), "BTC": Decimal(1), "PEPE": Decimal(0)})
    prices: dict = field(default_factory=lambda: {"BTCUSDT": "46500.10", "PEPEUSDT": "0.00001700", "ETHBTC": "0.05"})
    orders: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    misbehave: str | None = None
    hidden: int = 0
    clock_ms: int = 0
    candles: int = 2_500
    released: threading.Event = field(default_factory=threading.Event)

    def now(self):
        return int(time.time() * 1000) + self.clock_ms

    def sent_orders(self):
        return [given for method, path, given in self.requests if (method, path) == ("POST", "/api/v3/order")]

    # ------------------------------------------------------------ what anybody may ask

    def exchange_info(self, given):
        if (asked := given.get("symbol")) and asked not in SYMBOLS:
            raise RefusedError(NO_SUCH_SYMBOL, "Invalid symbol.")
        listed = [self._symbol(name, *about) for name, about in SYMBOLS.items() if asked in {None, name}]
        return {"timezone": "UTC", "serverTime": self.now(), "rateLimits": [], "exchangeFilters": [], "symbols": listed}

    def _symbol(self, name, base, quote, *amounts):
        step, tick, least = amounts
        return {
            "symbol": name, "status": "TRADING", "baseAsset": base, "quoteAsset": quote, "baseAssetPrecision": 8,
            "quotePrecision": 8, "quoteAssetPrecision": 8, "orderTypes": ["LIMIT", "MARKET"], "icebergAllowed": False,
            "isSpotTradingAllowed": True, "isMarginTradingAllowed": False, "permissions": ["SPOT"],
            "permissionSets": [["SPOT"]],
            "filters": [
                {"filterType": "PRICE_FILTER", "minPrice": tick, "maxPrice": "1000000.00000000", "tickSize": tick},
                {"filterType": "LOT_SIZE", "minQty": step, "maxQty": "9000000000.00000000", "stepSize": step},
                {"filterType": "NOTIONAL", "minNotional": least, "applyMinToMarket": True, "avgPriceMins": 5},
            ],
        }  # fmt: skip

    def ticker(self, given):
        price = self.prices[given["symbol"]]
        return {"symbol": given["symbol"], "lastPrice": price, "bidPrice": price, "askPrice": price,
                "openTime": self.now() - 86_400_000, "closeTime": self.now()}  # fmt: skip

    def klines(self, given):
        start, limit = int(given.get("startTime", FIRST_CANDLE_MS)), int(given.get("limit", 500))
        first = max(0, -(-(start - FIRST_CANDLE_MS) // MINUTE_MS))
        rows = []
        for index in range(first, min(self.candles, first + limit)):
            opened = FIRST_CANDLE_MS + index * MINUTE_MS
            price = f"{Decimal('0.00001700') + index * Decimal('0.00000001')}"
            rows.append(
                [opened, price, price, price, price, "12345678901.5", opened + MINUTE_MS - 1, "0", 1, "0", "0", "0"]
            )
        return rows

    # ------------------------------------------------------------ what needs a signature

    def account(self, _given):
        balances = [{"asset": name, "free": f"{free:f}", "locked": "0"} for name, free in self.balances.items()]
        return {"canTrade": True, "accountType": "SPOT", "updateTime": self.now(), "balances": balances}

    def place(self, given):
        if given["newClientOrderId"] in self.orders:
            raise RefusedError(REJECTED, "Duplicate order sent.")
        base, quote, step, tick, least = SYMBOLS[given["symbol"]]
        quantity, price = Decimal(given["quantity"]), Decimal(given.get("price", self.prices[given["symbol"]]))
        if quantity % Decimal(step):
            raise RefusedError(FILTER, "Filter failure: LOT_SIZE")
        if price % Decimal(tick):
            raise RefusedError(FILTER, "Filter failure: PRICE_FILTER")
        if quantity * price < Decimal(least):
            raise RefusedError(FILTER, "Filter failure: NOTIONAL")
        spent, amount = (quote, quantity * price) if given["side"] == "BUY" else (base, quantity)
        if self.balances.get(spent, Decimal(0)) < amount:
            raise RefusedError(REJECTED, "Account has insufficient balance for requested action.")
        self.balances[spent] -= amount
        filled = given["type"] == "MARKET"
        order = {
            "symbol": given["symbol"], "orderId": 9_007_199_254_740_993 + len(self.orders), "orderListId": -1,
            "clientOrderId": given["newClientOrderId"], "transactTime": self.now(), "time": self.now(),
            "updateTime": self.now(), "price": given.get("price", "0.00000000"), "origQty": given["quantity"],
            "executedQty": given["quantity"] if filled else "0.00000000",
            "cummulativeQuoteQty": f"{quantity * price:f}" if filled else "0.00000000",
            "status": "FILLED" if filled else "NEW", "timeInForce": given.get("timeInForce", "GTC"),
            "type": given["type"], "side": given["side"],
        }  # fmt: skip
        self.orders[given["newClientOrderId"]] = order
        return order

    def order(self, given):
        found = self.orders.get(given.get("origClientOrderId"))
        if found is None or self.hidden > 0:
            self.hidden -= 1
            raise RefusedError(NO_SUCH_ORDER, "Order does not exist.")
        return found

    def cancel(self, given):
        found = self.order(given)
        if found["status"] != "NEW":
            raise RefusedError(-2011, "Unknown order sent.")
        found["status"] = "CANCELED"
        return found

    def verify(self, query, given, headers):
        """Refuse what is not signed by the key's owner, in time."""
        if headers.get("X-MBX-APIKEY") != KEY:
            raise RefusedError(BAD_KEY, "Invalid API-key, IP, or permissions for action.", 401)
        signed, _, signature = query.rpartition("&signature=")
        if not hmac.compare_digest(hmac.new(SECRET.encode(), signed.encode(), hashlib.sha256).hexdigest(), signature):
            raise RefusedError(BAD_SIGNATURE, "Signature for this request is not valid.")
        late = self.now() - int(given["timestamp"])
        if late < -1000 or late > int(given.get("recvWindow", 5000)):
            raise RefusedError(BAD_TIMESTAMP, "Timestamp for this request is outside of the recvWindow.")


PUBLIC = {"/api/v3/exchangeInfo": Book.exchange_info, "/api/v3/ticker/24hr": Book.ticker, "/api/v3/klines": Book.klines,
          "/api/v3/time": lambda book, _given: {"serverTime": book.now()}}  # fmt: skip
SIGNED = {("GET", "/api/v3/account"): Book.account, ("POST", "/api/v3/order"): Book.place,
          ("GET", "/api/v3/order"): Book.order, ("DELETE", "/api/v3/order"): Book.cancel}  # fmt: skip


class Api(BaseHTTPRequestHandler):
    """The API over a `Book`, which its subclass names."""

    protocol_version = "HTTP/1.1"
    book: Book

    def _serve(self):
        address = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        query = "&".join(part for part in (address.query, body) if part)
        given = dict(parse_qsl(query))
        self.book.requests.append((self.command, address.path, given))
        ordering = (self.command, address.path) == ("POST", "/api/v3/order")
        mischief, self.book.misbehave = (self.book.misbehave, None) if ordering else (None, self.book.misbehave)
        try:
            answer = self._answer_to(address.path, query, given, mischief)
        except RefusedError as refused:
            return self._send(refused.status, refused.body)
        if mischief in {"slow", "lose"}:
            self.book.released.wait(10)
        if mischief in {"slow", "lose", "drop"}:
            self.close_connection = True
            return self.connection.close()
        if mischief == "accepted_503":
            return self._send(503, {"code": -1006, "msg": "Execution status unknown."})
        return self._send(200, answer)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the names that the library calls

    def _answer_to(self, path, query, given, mischief):
        if self.command == "GET" and path in PUBLIC:
            return PUBLIC[path](self.book, given)
        self.book.verify(query, given, self.headers)
        if mischief == "busy":
            raise RefusedError(-1003, "Too many requests.", 429)
        if mischief == "unavailable":
            raise RefusedError(-1000, "Unknown error, please check your request.", 503)
        return None if mischief == "lose" else SIGNED[self.command, path](self.book, given)

    def _send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def finish(self):
        # A connection that was closed on purpose cannot be flushed.
        with suppress(OSError, ValueError):
            super().finish()

    def log_message(self, *args):
        pass


@contextmanager
def binance():
    """A running exchange: its state and its URL."""
    book = Book()
    with http_server(type("BookApi", (Api,), {"book": book})) as url:
        try:
            yield book, url
        finally:
            book.released.set()
