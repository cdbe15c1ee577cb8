from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.errors import InvalidInputError
from satchel.trading.money import down_to_step, part, plain, plus, read_amount, short, times

AMOUNTS = st.decimals(min_value="1e-12", max_value="1e12", allow_nan=False, allow_infinity=False)


def test_small_prices_have_no_exponent():
    price = read_amount("0.00001700", field="price")
    assert plain(price) == "0.00001700"
    assert short(times(Decimal(200), price)) == "0.0034"
    assert short(Decimal("1E-8")) == "0.00000001"
    assert short(Decimal("1E+3")) == "1000"


def test_three_tenths_are_three_tenths():
    tenth = read_amount("0.1", field="quantity")
    assert short(plus(tenth, tenth, tenth)) == "0.3"


@pytest.mark.parametrize(
    ("amount", "step", "result"),
    [
        ("2.2504", "0.0001", "2.2504"),
        ("2.25049", "0.0001", "2.2504"),
        ("0.00206404549", "0.00000001", "0.00206404"),
        ("7", "5", "5"),
        ("0.9", "1", "0"),
    ],
)
def test_a_quantity_is_rounded_down_to_its_step_and_never_up(amount, step, result):
    assert short(down_to_step(Decimal(amount), Decimal(step))) == result


@given(AMOUNTS, AMOUNTS)
def test_rounding_down_leaves_less_than_a_step(amount, step):
    result = down_to_step(amount, step)
    assert result <= amount < plus(result, step)


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_a_part_and_the_rest_are_the_whole(amount, first, second):
    whole = plus(first, second)
    share = part(amount, first, whole)
    assert plus(share, plus(amount, share.copy_negate())) == amount


@pytest.mark.parametrize("value", ["", "x", "NaN", "Infinity", "-1", "0", "1e31", "1e-31", True, None, [], "٣x"])
def test_what_is_no_amount_is_refused_by_field(value):
    with pytest.raises(InvalidInputError) as caught:
        read_amount(value, field="quantity")
    assert caught.value.field == "quantity"


def test_a_json_number_keeps_the_digits_it_shows():
    assert plain(read_amount(0.1, field="quantity")) == "0.1"
    assert plain(read_amount(1e-05, field="quantity")) == "0.00001"


@pytest.mark.parametrize("text", ["1_0", "1_000", "１２", "١", "1,000", "1e400", "1e999999999999999999999"])
def test_an_amount_is_never_guessed(text):
    with pytest.raises(InvalidInputError):
        read_amount(text, field="quantity")


def test_the_longest_amounts_still_have_an_exact_product():
    longest = read_amount("9" * 31 + "." + "9" * 30, field="quantity")
    product = times(longest, longest, longest)
    assert len(plain(product)) == 184
    assert plain(product).endswith("9")
    assert down_to_step(longest, Decimal("1e-30")) == longest
