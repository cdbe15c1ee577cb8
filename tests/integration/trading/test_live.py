"""Live trading: unmodified ccxt against a local server that speaks Binance's API, and a journal in PostgreSQL.

No real exchange was ever reached.
"""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from satchel import live_wiring
from satchel.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    UnavailableError,
)
from satchel.exchange import ccxt_spot
from satchel.exchange.ccxt_spot import CcxtExchange, open_exchange
from satchel.trading.live import LiveDesk, LiveRules
from satchel.trading.live_store import LiveJournal
from satchel.trading.orders import OrderRequest
from tests.conftest import direct
from tests.support.binance_server import KEY, SECRET, binance

RULES = LiveRules("alice", Decimal(100), "USDT")


def client_of(url, *, key=KEY, secret=SECRET, timeout_ms=400):
    """ccxt as the product opens it, pointed at the local server."""
    client = open_exchange("binance", {"apiKey": key, "secret": secret})
    client.timeout = timeout_ms
    client.urls["api"] = {
        name: text.replace("https://api.binance.com", url) for name, text in client.urls["api"].items()
    }
    return client


class Live:
    """Alice's live account."""

    def __init__(self, database, book, url, **client):
        self.book = book
        self.database = database
        self.exchange = CcxtExchange("binance", client_of(url, **client))
        self.journal = LiveJournal(database, "alice")
        self.later = timedelta()
        self.tokens = iter(f"token-{n}" for n in range(100))

    def desk(self, *, user_id="alice", rules=RULES, seconds_left=28.0):
        return LiveDesk(
            user_id=user_id,
            rules=rules,
            exchange=self.exchange,
            journal=self.journal,
            clock=lambda: datetime.now(UTC) + self.later,
            new_token=lambda: next(self.tokens),
            seconds_left=lambda: seconds_left,
        )

    def trade(self, *, token=None, desk=None, **order):
        given = {"symbol": "BTC/USDT", "side": "buy", "quantity": "0.001", "type": "limit", "price": "40000.01"} | order
        amounts = {name: Decimal(given.pop(name)) for name in ("quantity", "price") if given.get(name)}
        given.pop("price", None)
        return (desk or self.desk()).trade(OrderRequest(**given, **amounts), confirm_token=token)

    def place(self, **order):
        return self.trade(token=self.trade(**order).confirm_token, **order).order

    def misbehaving(self, how, **order):
        token = self.trade(**order).confirm_token
        self.book.misbehave = how
        return self.trade(token=token, **order).order, token


@pytest.fixture
def exchange():
    with binance() as running:
        yield running


@pytest.fixture
def live(database, exchange):
    return Live(database, *exchange)


def test_an_order_is_previewed_then_sent_with_its_digits_and_its_id_of_64_bits(live):
    preview = live.trade(quantity="0.0010199")
    assert (preview.order, live.book.sent_orders()) == (None, [])
    assert (preview.preview.request.quantity, preview.preview.value) == (Decimal("0.00101"), Decimal("40.4000101"))
    assert preview.preview.free_after == Decimal("959.5999899")
    order = live.trade(quantity="0.0010199", token=preview.confirm_token).order
    (sent,) = live.book.sent_orders()
    assert (sent["quantity"], sent["price"], sent["timeInForce"]) == ("0.00101", "40000.01", "GTC")
    assert sent["newClientOrderId"] == order.client_order_id
    assert (order.status, order.exchange_order_id) == ("open", "9007199254740993")


def test_small_prices_are_sent_without_exponent(live):
    live.place(symbol="PEPE/USDT", quantity="200000", price="0.00001700")
    (sent,) = live.book.sent_orders()
    assert Decimal(sent["price"]) == Decimal("0.000017")
    assert "e" not in sent["price"].lower()


def test_a_market_order_is_filled_with_its_average_price(live):
    order = live.place(type="market", price=None)
    assert (order.status, order.filled, order.average) == ("filled", Decimal("0.001"), Decimal("46500.1"))
    assert live.place(type="market", price=None, side="sell").status == "filled"


@pytest.mark.parametrize("how", ["slow", "drop", "accepted_503"])
def test_an_order_whose_answer_was_lost_is_found_by_its_id_and_not_sent_again(how, live):
    order, token = live.misbehaving(how)
    assert (order.status, order.exchange_order_id) == ("open", "9007199254740993")
    assert live.trade(token=token).order.exchange_order_id == order.exchange_order_id
    assert len(live.book.sent_orders()) == 1


def test_until_the_exchange_shows_it_an_order_is_unknown_and_asking_again_only_looks(live):
    live.book.hidden = 2
    order, token = live.misbehaving("slow")
    assert (order.status, order.exchange_order_id) == ("unknown", None)
    assert "sends nothing" in order.reason
    assert live.trade(token=token).order.status == "unknown"
    assert live.trade(token=token).order.status == "open"
    assert len(live.book.sent_orders()) == 1


@pytest.mark.parametrize("how", ["unavailable", "lose"])
def test_an_order_that_never_arrived_is_known_as_such_once_it_cannot_arrive_any_more(how, live):
    order, token = live.misbehaving(how)
    assert order.status == "unknown"
    assert live.trade(token=token).order.status == "unknown"
    live.later = timedelta(seconds=61)
    assert live.trade(token=token).order.status == "not_placed"
    assert len(live.book.sent_orders()) == 1


def test_a_lookup_that_fails_leaves_it_unknown(live):
    order, token = live.misbehaving("lose")
    live.exchange._client.urls["api"] = dict.fromkeys(live.exchange._client.urls["api"], "http://127.0.0.1:9")
    live.later = timedelta(seconds=61)
    assert live.trade(token=token).order.status == "unknown"
    assert order.status == "unknown"


def test_a_process_that_died_after_writing_down_what_it_would_send_is_looked_up(live):
    preview = live.trade()

    class DiedError(Exception):
        pass

    def die(order, client_order_id):
        place(order, client_order_id)
        raise DiedError

    place, live.exchange.place = live.exchange.place, die
    with pytest.raises(DiedError):
        live.trade(token=preview.confirm_token)
    live.exchange.place = place
    assert live.trade(token=preview.confirm_token).order.status == "open"
    assert len(live.book.sent_orders()) == 1


def test_too_many_requests_is_a_refusal(live):
    order, _ = live.misbehaving("busy")
    assert (order.status, order.reason) == ("rejected", "the exchange refuses it: Too many requests.")


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ({"price": "40000.001"}, r"prices are multiples of 0\.01"),
        ({"quantity": "0.0001"}, r"no order under 5\.0+ USDT"),
        ({"quantity": "0.000001"}, "below the symbol's smallest step"),
        ({"quantity": "0.003"}, "over the limit of 100"),
        ({"quantity": "0.003", "side": "sell"}, "over the limit of 100"),
        ({"price": "60000"}, "beyond the last price"),
        ({"symbol": "PEPE/USDT", "quantity": "1000000", "price": "0.00001700", "side": "sell"}, "more than the"),
        ({"symbol": "ETH/BTC", "quantity": "1", "price": "0.05"}, "limit is in USDT"),
    ],
)
def test_the_guard_refuses_before_anything_is_sent(order, reason, live):
    with pytest.raises(ForbiddenError, match=reason):
        live.trade(**order)
    assert live.book.sent_orders() == []


def test_what_is_free_bounds_what_is_bought(live):
    live.book.balances["USDT"] = Decimal(30)
    with pytest.raises(ForbiddenError, match="more than the 30"):
        live.trade()


def test_a_balance_that_was_spent_meanwhile_is_the_exchanges_refusal(live):
    preview = live.trade()
    check = live.exchange.listing
    live.exchange.listing = lambda symbol: (check(symbol), live.book.balances.update(USDT=Decimal(1)))[0]
    order = live.trade(token=preview.confirm_token).order
    assert (order.status, "insufficient balance" in order.reason) == ("rejected", True)


def test_all_orders_of_a_day_are_worth_ten_times_one_at_most(live):
    rules = LiveRules("alice", Decimal(41), "USDT")
    desk = live.desk(rules=rules)
    for _ in range(9):
        live.trade(token=live.trade(desk=desk, type="market", price=None, quantity="0.00088").confirm_token, desk=desk,
                   type="market", price=None, quantity="0.00088")  # fmt: skip
    first, second = (live.trade(desk=desk, price="40000") for _ in range(2))
    assert live.trade(desk=desk, price="40000", token=first.confirm_token).order.status == "open"
    with pytest.raises((PreconditionFailedError, ForbiddenError)):
        live.trade(desk=desk, price="40000", token=second.confirm_token)
    assert len(live.book.sent_orders()) == 10


def test_a_token_stands_for_one_order_for_a_minute(live):
    preview = live.trade()
    with pytest.raises(PreconditionFailedError, match="not given for this order"):
        live.trade(token=preview.confirm_token, quantity="0.002")
    live.later = timedelta(seconds=60)
    with pytest.raises(PreconditionFailedError, match="expired"):
        live.trade(token=preview.confirm_token)
    assert live.book.sent_orders() == []


def test_the_same_id_is_the_same_order_and_never_another(live):
    first = live.place(client_order_id="mine")
    assert live.trade(client_order_id="mine").order.exchange_order_id == first.exchange_order_id
    with pytest.raises(ConflictError):
        live.trade(client_order_id="mine", quantity="0.002")
    assert len(live.book.sent_orders()) == 1


def test_an_id_that_the_exchange_has_from_elsewhere_is_refused_there(live):
    live.place(client_order_id="other")
    live.book.orders["mine"] = live.book.orders["other"] | {"clientOrderId": "mine", "origQty": "5"}
    assert live.place(client_order_id="mine").reason == "the exchange refuses it: Duplicate order sent."


def test_an_order_is_looked_up_and_cancelled(live):
    order = live.place()
    assert live.desk().order(order.client_order_id, cancel=False).status == "open"
    assert live.desk().order(order.client_order_id, cancel=True).status == "cancelled"
    assert live.desk().order(order.client_order_id, cancel=True).status == "cancelled"
    with pytest.raises(NotFoundError):
        live.desk().order("nope", cancel=False)


def test_a_filled_order_is_learned_by_asking(live):
    order = live.place()
    live.book.orders[order.client_order_id] |= {
        "status": "FILLED", "executedQty": "0.00100", "cummulativeQuoteQty": "40.00001"
    }  # fmt: skip
    known = live.desk().order(order.client_order_id, cancel=False)
    assert (known.status, known.filled, known.average) == ("filled", Decimal("0.001"), Decimal("40000.01"))


@pytest.mark.parametrize("skew_s", [-3600, 3600])
def test_a_clock_that_is_wrong_by_an_hour_is_set_right(skew_s, live):
    live.book.clock_ms = skew_s * 1000
    assert live.place().status == "open"


def test_a_stale_price_is_refused(live):
    live.later = timedelta(seconds=121)
    with pytest.raises(ForbiddenError, match="stale"):
        live.trade()


@pytest.mark.parametrize("wrong", [{"key": "x"}, {"secret": "x"}])
def test_a_wrong_key_is_told_and_nothing_is_sent(wrong, database, exchange):
    with pytest.raises((UnavailableError, ForbiddenError), match="key"):
        Live(database, *exchange, **wrong).trade()


def test_an_exchange_that_is_away_is_unavailable(database, exchange):
    book, _ = exchange
    with pytest.raises(UnavailableError):
        Live(database, book, "http://127.0.0.1:9").trade()


def test_with_little_time_left_nothing_is_sent_and_the_token_stays_good(live):
    preview = live.trade()
    with pytest.raises(UnavailableError):
        live.trade(token=preview.confirm_token, desk=live.desk(seconds_left=10))
    assert live.trade(token=preview.confirm_token).order.status == "open"


def test_a_symbol_that_is_not_listed_is_not_found(live):
    with pytest.raises(NotFoundError):
        live.trade(symbol="NOPE/USDT")


def test_stops_are_for_paper_only(live):
    with pytest.raises(InvalidInputError):
        live.desk().trade(
            OrderRequest("BTC/USDT", "sell", Decimal(1), type="stop", stop_price=Decimal(1)), confirm_token=None
        )


def test_nobody_but_the_owner_has_the_account_or_sees_its_orders(live):
    order = live.place()
    with pytest.raises(NotFoundError):
        live.trade(desk=live.desk(user_id="bob"))
    with pytest.raises(NotFoundError):
        live.desk(user_id="bob").order(order.client_order_id, cancel=True)
    assert LiveJournal(live.database, "bob").get(order.client_order_id) is None


def test_the_journal_cannot_be_erased(live):
    live.place()
    with pytest.raises(Exception, match="permission denied"), live.database.transaction("alice") as connection:
        connection.execute("DELETE FROM live_orders")


def test_an_unsupported_exchange_is_refused():
    with pytest.raises(InvalidInputError):
        open_exchange("kraken", {})


@pytest.fixture
def configured(invoke, exchange, monkeypatch, tmp_path):
    """The functions, with all that the owner has to configure."""
    book, url = exchange
    key_file = tmp_path / "key.json"
    key_file.write_text(json.dumps({"apiKey": KEY, "secret": SECRET}))
    given = {"exchange": "binance", "owner": "alice", "max_order": "100 USDT", "key_file": str(key_file)}
    for name, value in given.items():
        monkeypatch.setenv(f"SATCHEL_LIVE_{name.upper()}", value)
    live_wiring._exchange.cache_clear()
    monkeypatch.setattr(
        live_wiring, "open_exchange", lambda _name, key: client_of(url, key=key["apiKey"], secret=key["secret"])
    )
    yield book
    live_wiring._exchange.cache_clear()


def call(invoke, tool, *, user_id="alice", scopes=("trade:live",), **arguments):
    return invoke(tool, direct(user_id, scopes=list(scopes), arguments=arguments))


def test_the_tools_place_look_up_and_cancel(configured, invoke):
    order = json.loads(Path("events/execute_live_trade.json").read_text("utf-8"))["arguments"]
    preview = call(invoke, "execute_live_trade", **order)["structuredContent"]
    assert (preview["mode"], preview["executed"], preview["preview"]["value"]) == ("live", False, "40")
    placed = call(invoke, "execute_live_trade", **order, confirm_token=preview["confirm_token"])["structuredContent"]
    assert (placed["executed"], placed["order"]["exchange_order_id"]) == (True, "9007199254740993")
    mine = placed["order"]["client_order_id"]
    answer = call(invoke, "live_order", client_order_id=mine, cancel=True)["structuredContent"]
    assert (answer["mode"], answer["order"]["status"]) == ("live", "cancelled")


@pytest.mark.parametrize("missing", ["exchange", "owner", "max_order"])
def test_without_any_part_of_the_configuration_there_is_no_live_account(missing, configured, invoke, monkeypatch):
    monkeypatch.setenv(f"SATCHEL_LIVE_{missing.upper()}", "")
    order = json.loads(Path("events/execute_live_trade.json").read_text("utf-8"))["arguments"]
    assert call(invoke, "execute_live_trade", **order)["error"]["code"] == "not_found"
    assert configured.requests == []


@pytest.mark.parametrize("amount", ["100", "0 USDT", "-1 USDT", "NaN USDT", "much USDT"])
def test_a_maximum_that_is_none_makes_no_live_account(amount, configured, invoke, monkeypatch):
    monkeypatch.setenv("SATCHEL_LIVE_MAX_ORDER", amount)
    order = json.loads(Path("events/execute_live_trade.json").read_text("utf-8"))["arguments"]
    assert call(invoke, "execute_live_trade", **order)["error"]["code"] == "not_found"


def test_the_scope_of_paper_trades_nothing_live(configured, invoke):
    order = json.loads(Path("events/execute_live_trade.json").read_text("utf-8"))["arguments"]
    assert call(invoke, "execute_live_trade", scopes=["trade:paper"], **order)["error"]["code"] == "forbidden"
    assert call(invoke, "execute_live_trade", user_id="bob", **order)["error"]["code"] == "not_found"
    assert configured.requests == []


def test_where_ccxt_is_missing_it_is_told(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(ccxt_spot, "import_module", missing)
    with pytest.raises(UnavailableError, match="ccxt is not installed"):
        open_exchange("binance", {})
