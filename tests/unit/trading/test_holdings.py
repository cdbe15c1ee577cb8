from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from satchel.trading.holdings import Holding, cash_of, holding_of
from satchel.trading.money import plus, short, times
from satchel.trading.orders import Fill

TS = datetime(2025, 1, 1, tzinfo=UTC)


def fill(side, quantity, price, fee="0"):
    return Fill(1, "BTC/USDT", side, Decimal(quantity), Decimal(price), Decimal(fee), TS)


FILLS = st.lists(
    st.builds(
        fill,
        st.sampled_from(["buy", "sell"]),
        st.decimals("1e-8", "1e6", places=8),
        st.decimals("1e-8", "1e6", places=8),
        st.decimals("0", "10", places=12),
    ),
    max_size=20,
)


def test_the_documents_position():
    holding = holding_of([fill("buy", "0.1", "45000")])
    assert short(holding.entry_price) == "45000"
    assert short(holding.unrealised(Decimal(46500))) == "150"


def test_three_buys_of_a_tenth_and_a_sale_of_all_leave_nothing():
    holding = holding_of([fill("buy", "0.1", "3")] * 3)
    assert short(holding.quantity) == "0.3"
    closed = holding.after(fill("sell", "0.3", "4"))
    assert (closed.quantity, closed.cost, short(closed.realised)) == (0, 0, "0.3")


def test_a_part_that_is_sold_takes_its_share_of_the_cost():
    holding = holding_of([fill("buy", "1", "10"), fill("buy", "1", "20"), fill("sell", "0.5", "30")])
    assert (short(holding.quantity), short(holding.cost), short(holding.realised)) == ("1.5", "22.5", "7.5")
    assert short(holding.entry_price) == "15"


def test_selling_more_than_is_held_turns_the_position():
    holding = holding_of([fill("buy", "2", "10"), fill("sell", "5", "12")])
    assert (short(holding.quantity), short(holding.cost), short(holding.realised)) == ("-3", "-36", "4")
    assert short(holding.unrealised(Decimal(11))) == "3"
    assert short(holding.after(fill("buy", "3", "11")).realised) == "7"


@given(FILLS, st.decimals("1e-8", "1e6", places=8))
def test_profit_agrees_with_the_cash_to_the_last_digit(fills, price):
    holding = holding_of(fills)
    cash = plus(*(cash_of(one) for one in fills))
    profit = plus(holding.realised, holding.unrealised(price), holding.fees.copy_negate())
    assert profit == plus(cash, times(holding.quantity, price))


@given(FILLS)
def test_a_position_of_nothing_costs_nothing(fills):
    holding = holding_of(fills)
    assert bool(holding.quantity) or not holding.cost
    assert holding.quantity * holding.cost >= 0


def test_nothing_held_is_nothing():
    assert holding_of([]) == Holding()
