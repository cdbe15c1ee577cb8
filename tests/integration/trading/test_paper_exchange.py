"""The paper exchange on real PostgreSQL: two steps, once only, exact, one at a time."""

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from satchel.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    TooLargeError,
)
from satchel.market.candles import Candle, CandleSet
from satchel.market.store import CandleStore
from satchel.postgres.database import Database
from satchel.trading.exchange import cancel, configured, step, told, trade
from satchel.trading.holdings import Holding, cash_of, holding_of
from satchel.trading.money import plus, short
from satchel.trading.orders import OrderRequest
from satchel.trading.positions import position_of
from satchel.trading.store import TradingStore
from tests.conftest import direct, https

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
SCOPES = ["context:read", "context:write", "trade:read", "trade:paper"]


class Desk:
    """One user's paper account over hand-made candles."""

    def __init__(self, database, user_id="alice"):
        self.database = database
        self.store = TradingStore(database, user_id)
        self.user_id = user_id
        self.now = NOW
        self._tokens = itertools.count(1)

    def candles(self, *rows, symbol="X"):
        """Candles; the replay starts at the one four fifths in."""
        bars = [
            Candle(datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=day), *map(Decimal, row), Decimal(1))
            for day, row in enumerate(rows)
        ]
        made = CandleSet("test", symbol, "1d", "made up, synthetic", "none", synthetic=True)
        CandleStore(self.database, self.user_id).replace(made, bars, NOW)

    def configure(self, **rules):
        given = {"confirm": None, "fee_rate": None, "slippage": None, "limits": {}, "steps": {}} | rules
        with self.store.open("paper") as session:
            session.update_account(configured(session.account, **given))

    def order(self, side="buy", quantity="1", *, token=None, symbol="X", **fields):
        prices = {name: Decimal(fields.pop(name)) for name in ("price", "stop_price") if name in fields}
        request = OrderRequest(symbol, side, Decimal(quantity), **prices, **fields)
        with self.store.open("paper") as session:
            result = trade(
                session,
                request,
                confirm_token=token,
                new_token=lambda: f"token-{next(self._tokens)}",
                now=self.now,
            )
        return told(result)

    def step(self):
        with self.store.open("paper") as session:
            return step(session, self.now)

    def position(self):
        (row,) = self.store.positions("paper")
        return position_of(row)


@pytest.fixture
def desk(database):
    desk = Desk(database)
    desk.candles(
        *[("10", "12", "9", "11")] * 8, ("11", "11", "11", "11"), ("12", "14", "10", "13"), ("13", "13", "13", "13")
    )
    return desk


@pytest.fixture
def free(desk):
    """No confirmation, no fee, no slippage: only the arithmetic."""
    desk.configure(confirm=False, fee_rate=Decimal(0), slippage=Decimal(0))
    return desk


def test_an_order_is_previewed_confirmed_and_filled_at_the_next_candles_open(desk):
    preview = desk.order(quantity="10")
    assert preview.order is None
    assert (preview.preview.price, short(preview.preview.value), short(preview.preview.fee)) == (11, "110", "0.11")
    placed = desk.order(quantity="10", token=preview.confirm_token)
    assert (placed.order.status, placed.fills) == ("open", ())
    (fill,) = desk.step().fills
    assert (fill.order_id, short(fill.price), short(fill.fee)) == (placed.order.order_id, "12.006", "0.12006")
    order, fills = desk.store.order("paper", placed.order.order_id)
    assert (order.status, fills) == ("filled", [fill])


def test_a_token_is_for_one_exact_order_once_and_for_a_minute(desk):
    token = desk.order(quantity="10").confirm_token
    with pytest.raises(ConflictError):
        desk.order(quantity="11", token=token)
    with pytest.raises(PreconditionFailedError, match="never given"):
        desk.order(quantity="10", token="guess")
    desk.order(quantity="10.0", token=token)
    with pytest.raises(PreconditionFailedError, match="was used"):
        desk.order(quantity="10", token=token)
    late = desk.order(quantity="10").confirm_token
    desk.now += timedelta(seconds=60)
    with pytest.raises(PreconditionFailedError, match="expired"):
        desk.order(quantity="10", token=late)
    assert len(desk.store.orders("paper", status=None, before=None, limit=9)) == 1


def test_a_token_is_of_no_use_to_anybody_else(desk, database):
    token = desk.order().confirm_token
    with pytest.raises(PreconditionFailedError):
        Desk(database, "bob").order(token=token, price="1", type="limit")


def test_a_client_id_is_the_first_answer_again_and_a_conflict_for_another_order(free):
    first = free.order(quantity="2", client_order_id="mine")
    assert free.order(quantity="2.00", client_order_id="mine") == first
    with pytest.raises(ConflictError):
        free.order(quantity="3", client_order_id="mine")
    free.step()
    again = free.order(quantity="2", client_order_id="mine")
    assert (again.order.status, len(again.fills)) == ("filled", 1)


def test_the_same_order_sent_at_once_from_many_places_is_one_order(free, app_dsn):
    def send(_):
        database = Database(lambda: app_dsn)
        try:
            return Desk(database).order(quantity="1", client_order_id="once").order.order_id
        finally:
            database.close()

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(send, range(12)))) == 1
    assert len(free.store.orders("paper", status=None, before=None, limit=99)) == 1


def test_orders_at_once_do_not_slip_past_a_limit_together(free, app_dsn):
    free.configure(limits={"max_day": "55"})

    def send(_):
        database = Database(lambda: app_dsn)
        try:
            return Desk(database).order(quantity="1").order is not None
        except ForbiddenError:
            return False
        finally:
            database.close()

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(send, range(12))) == 5


def test_small_prices_are_echoed_and_counted_exactly(free):
    placed = free.order(quantity="200", type="limit", price="0.00001700")
    order, _ = free.store.order("paper", placed.order.order_id)
    assert format(order.request.price, "f") == "0.00001700"
    preview = Desk(free.database, "bob").order(quantity="200", type="limit", price="0.00001700").preview
    assert (format(preview.price, "f"), short(preview.value)) == ("0.00001700", "0.0034")


def test_a_position_is_closed_to_exactly_nothing(free):
    free.configure(steps={"X": "0.0001"})
    free.order(quantity="2.2504")
    free.step()
    assert short(free.position().size) == "2.2504"
    free.order("sell", "2.2504")
    free.step()
    assert free.store.positions("paper") == []


def test_three_tenths_are_held_as_three_tenths(free):
    for _ in range(3):
        free.order(quantity="0.1")
    free.step()
    assert short(free.position().size) == "0.3"


def test_the_last_digits_of_a_quantity_are_cut_and_never_rounded_up(free):
    assert short(free.order("sell", "0.00206404549").order.quantity) == "0.00206404"


def test_profit_can_be_recomputed_from_the_fills_to_the_last_digit(desk):
    desk.configure(confirm=False, fee_rate=Decimal("0.00075"), slippage=Decimal("0.00033"))
    for side, quantity in (("buy", "0.12345678"), ("buy", "7.00000001"), ("sell", "3.33333333"), ("sell", "9")):
        desk.order(side, quantity)
    desk.step()
    desk.order("buy", "1.11111111")
    desk.step()
    fills = desk.store.fills("paper")
    assert len(fills) == 5
    (row,) = desk.store.positions("paper")
    rebuilt = holding_of(fills)
    assert Holding(row["quantity"], row["cost"], row["realised"], row["fees"]) == rebuilt
    cash = desk.store.account("paper").cash
    assert cash == plus(Decimal(100_000), *(cash_of(fill) for fill in fills))
    profit = plus(rebuilt.realised, rebuilt.unrealised(row["price"]), rebuilt.fees.copy_negate())
    assert profit == plus(cash, Decimal(-100_000), rebuilt.value(row["price"]))


def test_limits_and_stops_wait_for_their_candle_and_ioc_does_not_wait(free):
    waiting = free.order(type="limit", price="9.5").order
    reached = free.order(type="limit", price="10.5").order
    stop = free.order(type="stop", stop_price="13.5").order
    at_once = free.order(type="limit", price="9.5", time_in_force="IOC").order
    fills = {fill.order_id: short(fill.price) for fill in free.step().fills}
    assert fills == {reached.order_id: "10.5", stop.order_id: "13.5"}
    assert free.store.order("paper", waiting.order_id)[0].status == "open"
    assert free.store.order("paper", at_once.order_id)[0].status == "cancelled"


def test_reduce_only_never_turns_a_position(free):
    free.order(quantity="2")
    free.step()
    free.order("sell", "5", reduce_only=True)
    (fill,) = free.step().fills
    assert short(fill.quantity) == "2"


def test_a_reduce_only_order_without_a_position_is_refused(free):
    with pytest.raises(ForbiddenError, match="no position"):
        free.order("sell", reduce_only=True)


def test_a_refusal_tells_its_reason_places_nothing_and_leaves_an_alert(desk):
    desk.configure(limits={"kill_switch": True})
    with pytest.raises(ForbiddenError, match="kill switch"):
        desk.order()
    assert desk.store.orders("paper", status=None, before=None, limit=9) == []
    (alert,) = desk.store.alerts(5)
    assert (alert["type"], "was refused" in alert["message"]) == ("order_refused", True)


def test_the_guard_holds_again_when_the_order_is_confirmed(desk):
    token = desk.order().confirm_token
    desk.configure(limits={"allowed_symbols": ["Y"]})
    with pytest.raises(ForbiddenError):
        desk.order(token=token)


def test_no_order_is_taken_that_nothing_could_fill_any_more(free):
    free.order()
    free.step()
    free.step()
    assert free.step().bars == {}
    with pytest.raises(ForbiddenError, match="stale"):
        free.order()


def test_an_order_that_the_cash_does_not_cover_at_its_fill_is_rejected(desk):
    desk.configure(confirm=False, limits={"max_order": "1000000", "max_day": "1000000", "max_position": "1000000"})
    placed = desk.order(quantity="9090")
    assert desk.step().fills == ()
    order, _ = desk.store.order("paper", placed.order.order_id)
    assert (order.status, order.reason) == ("rejected", "there was not enough cash at its price")


def test_a_resting_order_is_cancelled_once_and_a_filled_one_is_not(free):
    resting, filled = free.order(type="limit", price="1").order, free.order().order
    free.step()
    for _ in range(2):
        with free.store.open("paper") as session:
            assert cancel(session, resting.order_id, NOW).status == "cancelled"
    with pytest.raises(ConflictError), free.store.open("paper") as session:
        cancel(session, filled.order_id, NOW)
    with pytest.raises(NotFoundError), free.store.open("paper") as session:
        cancel(session, 1, NOW)


def watch(desk, *prices):
    with desk.store.open("paper") as session:
        session.facts("X", None, NOW)
        for direction, price in prices:
            session.put_price_alert("X", direction, Decimal(price))


def test_a_watched_price_is_told_once_by_the_candle_that_crosses_it(free):
    watch(free, ("above", "13.5"), ("above", "15"), ("below", "9"))
    assert free.step().alerts == ("X crossed above 13.5",)
    assert free.step().alerts == ()
    assert free.store.alerts(5)[0]["type"] == "price_alert"


def test_a_watched_price_that_is_passed_already_waits_until_it_is_crossed(database):
    desk = Desk(database)
    flat = ("11", "11", "11", "11")
    desk.candles(*[flat] * 9, ("11", "12", "10.5", "11"), ("9", "9", "8", "9"), ("9", "13", "9", "13"))
    watch(desk, ("above", "10"), ("below", "12.5"), ("above", "11"))
    assert desk.step().alerts == ("X crossed above 11",)
    assert desk.step().alerts == ()
    assert desk.step().alerts == ("X crossed above 10",)


@pytest.mark.parametrize(
    ("bar", "direction"),
    [(("9", "10.5", "8", "9"), "above"), (("12", "13", "9", "12"), "above"), (("12", "13", "9.5", "11"), "above")],
)
def test_a_price_crossed_within_a_candle_counts_where_the_candle_shows_it(bar, direction, database):
    desk = Desk(database)
    desk.candles(*[("11", "11", "11", "11")] * 5, bar, bar)
    watch(desk, (direction, "10"))
    assert desk.step().alerts == ("X crossed above 10",)


def test_a_wrong_rule_changes_nothing(desk):
    with pytest.raises(InvalidInputError):
        desk.configure(limits={"max_order": "none"})
    with pytest.raises(NotFoundError), desk.store.open("live"):
        pass


@pytest.mark.parametrize("name", ["", "\x00", "\ud800", "X" * 65])
def test_a_step_is_of_a_symbol_that_can_be_stored(desk, name):
    with pytest.raises(InvalidInputError) as caught:
        desk.configure(steps={name: "1"})
    assert caught.value.field == "steps"


def test_the_steps_of_an_account_are_counted(desk):
    with pytest.raises(TooLargeError):
        desk.configure(steps={f"S{number}": "1" for number in range(1_001)})


def test_accounts_are_their_owners_alone(free, database):
    placed = free.order()
    bob = TradingStore(database, "bob")
    assert bob.orders("paper", status=None, before=None, limit=9) == []
    with pytest.raises(NotFoundError):
        bob.order("paper", placed.order.order_id)


def test_the_tools_work_together_from_a_preview_to_the_workspace(invoke):
    def call(tool, **arguments):
        return invoke(tool, direct(scopes=SCOPES, arguments=arguments))["structuredContent"]

    asked = json.loads(Path("events/execute_trade.json").read_text("utf-8"))
    preview = invoke("execute_trade", asked)["structuredContent"]
    assert (preview["executed"], preview["mode"], preview["note"]) == (False, "paper", None)
    assert preview["preview"]["fills"].startswith("at the next candle; time moves by `satchel market step`, or")
    placed = call("execute_trade", **asked["arguments"], confirm_token=preview["confirm_token"])
    assert "the tool market_step of the tool set trading" in placed["note"]
    order = placed["order"]
    assert (order["status"], order["price"], order["client_order_id"]) == ("open", "34.00", "order-1")
    # Every digit of a 64-bit id survives: as text, and as a JSON number that no floating point has touched.
    assert int(order["order_id"]) > 2**53
    assert call("get_order", order_id=order["order_id"])["order"] == order
    raw = f'{{"order_id": {order["order_id"]}}}'
    body = invoke("get_order", https(raw, scope=" ".join(SCOPES)))["body"]
    assert json.loads(body)["order"]["order_id"] == order["order_id"]
    assert call("list_orders", status="open")["orders"] == [order]
    call("set_price_alert", symbol="AAPL", direction="above", price="1")
    call("set_price_alert", symbol="AAPL", direction="above", price="34")
    stepped = call("market_step", steps=3)
    assert [fill["order_id"] for fill in stepped["fills"]] == [order["order_id"]]
    assert [alert for alert in stepped["alerts"] if "crossed" in alert] == ["AAPL crossed above 34"]
    (position,) = call("get_positions")["positions"]
    assert (position["ticker"], position["side"], position["size"]) == ("AAPL", "long", "10")
    content = invoke("context_resources.workspace_state", direct(scopes=SCOPES, resource="context://workspace-state"))
    state = json.loads(content["contents"][0]["text"], parse_float=Decimal)
    assert set(state) == {"currentChart", "watchlist", "openPositions", "recentAlerts"}
    (shown,) = state["openPositions"]
    assert shown["size"] == 10
    assert shown["unrealizedPnL"] == Decimal(position["unrealizedPnL"])
    assert {alert["type"] for alert in state["recentAlerts"]} == {"order_filled", "price_alert"}
    assert call("get_watchlist") == {"watchlist": []}
    assert call("configure_account", confirm=False, limits={"max_order": "10000"})["limits"]["max_order"] == "10000"


def test_candles_of_ones_own_are_imported_whole_or_not_at_all_and_can_be_traded(invoke):
    event = json.loads(Path("events/import_candles.json").read_text("utf-8"))
    assert invoke("import_candles", event)["structuredContent"]["bars"] == 4
    wrong = {**event["arguments"], "csv": event["arguments"]["csv"] + "2025-01-05,1,1,1,x,1\n"}
    refused = invoke("import_candles", direct(scopes=SCOPES, arguments=wrong))["error"]
    assert refused["message"] == "line 6: a price is not a number"
    order = {"symbol": "TEST/USDT", "side": "buy", "quantity": "0.00206404549", "type": "limit", "price": "107.50"}
    preview = invoke("execute_trade", direct(scopes=SCOPES, arguments=order))["structuredContent"]["preview"]
    assert (preview["price_as_of"], preview["quantity"]) == ("2025-01-03T00:00:00Z", "0.00206404")
    bob = invoke("execute_trade", direct("bob", scopes=SCOPES, arguments=order))["structuredContent"]
    assert bob["preview"]["fills"] == "there are no candles of this symbol: it would rest"
    assert (bob["preview"]["quantity"], bob["preview"]["price"]) == ("0.00206404", "107.50")


@pytest.mark.parametrize("kind", [{}, {"type": "stop", "stop_price": "9"}])
def test_a_symbol_without_candles_is_not_found_and_those_there_are_are_named(kind, invoke):
    arguments = {"symbol": "DOGE", "side": "buy", "quantity": "1"} | kind
    told = invoke("execute_trade", direct(scopes=SCOPES, arguments=arguments))["error"]
    assert (told["code"], told["field"]) == ("not_found", "symbol")
    assert told["message"].startswith("there are no candles for DOGE; there are: AAPL, ")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"symbol": "AAPL", "side": "buy"}, "quantity"),
        ({"symbol": "AAPL", "side": "hold", "quantity": "1"}, "side"),
        ({"symbol": "AAPL", "side": "buy", "quantity": "-1"}, "quantity"),
        ({"symbol": "AAPL", "side": "buy", "quantity": "1", "type": "limit"}, "price"),
        ({"symbol": "AAPL", "side": "buy", "quantity": "1", "client_order_id": 1.5}, "client_order_id"),
        ({"symbol": "AAPL", "side": "buy", "quantity": "1", "account": "live"}, "account"),
    ],
)
def test_wrong_orders_are_told_by_field(arguments, field, invoke):
    refused = invoke("execute_trade", direct(scopes=SCOPES, arguments=arguments))["error"]
    assert refused["field"] == field


def test_reading_needs_less_than_trading(invoke):
    refused = invoke("execute_trade", direct(scopes=["trade:read"], arguments={}))["error"]
    assert refused["code"] == "forbidden"


def test_a_client_id_may_be_an_exact_number(invoke):
    arguments = {"symbol": "AAPL", "side": "buy", "quantity": "1", "client_order_id": -1009007199254740993}
    preview = invoke("execute_trade", direct(scopes=SCOPES, arguments=arguments))["structuredContent"]
    placed = invoke(
        "execute_trade",
        direct(scopes=SCOPES, arguments=arguments | {"confirm_token": preview["confirm_token"]}),
    )["structuredContent"]
    assert placed["order"]["client_order_id"] == "-1009007199254740993"
