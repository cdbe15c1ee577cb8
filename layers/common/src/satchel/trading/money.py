"""Exact amounts: decimals that are never rounded unseen, written without an exponent.

Python's own operators on decimals round to 28 digits, the unary minus among them; amounts go through the functions here
and through `copy_negate` and `copy_abs`, which do not.
"""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, Inexact, InvalidOperation

from satchel.errors import InvalidInputError

# More digits than any product of a price, a quantity and a rate has; a result that would not fit raises.
_EXACT = Context(prec=300, traps=[Inexact, InvalidOperation, DivisionByZero])
_DIVIDING = Context(prec=300, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation, DivisionByZero])
# Where a division does not end: a billionth of a billionth.
_CENTRE = Decimal("1e-18")
_MAX_DIGITS = 30

ZERO = Decimal(0)


def read_amount(value: object, *, field: str) -> Decimal:
    """A positive amount from decimal text (`"0.00001700"`) or an exact number; digits stay as written.

    Raises:
        InvalidInputError: It is no positive finite number of at most 30 digits before and after the point.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise InvalidInputError('an amount is a decimal number in a text, such as "0.25"', field=field)
    text = str(value).strip()
    # Python reads more than people write: "1_0" as 10, and the digits of every script.
    if not text.isascii() or "_" in text:
        raise InvalidInputError('an amount is a decimal number in a text, such as "0.25"', field=field)
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise InvalidInputError('an amount is a decimal number in a text, such as "0.25"', field=field) from None
    if not amount.is_finite() or amount <= 0:
        raise InvalidInputError("an amount is more than 0", field=field)
    if amount.adjusted() > _MAX_DIGITS or -int(amount.as_tuple().exponent) > _MAX_DIGITS:
        raise InvalidInputError("an amount has at most 30 digits before and after the point", field=field)
    return amount


def plain(amount: Decimal) -> str:
    """The amount as text without exponent: `0.00001700`, never `1.7E-5`."""
    return format(amount, "f")


def short(amount: Decimal) -> str:
    """The amount as text without exponent and without zeros at the end of its fraction."""
    text = plain(amount)
    return text.rstrip("0").rstrip(".") if "." in text else text


def times(*factors: Decimal) -> Decimal:
    """The exact product."""
    product = Decimal(1)
    for factor in factors:
        product = _EXACT.multiply(product, factor)
    return product


def plus(*terms: Decimal) -> Decimal:
    """The exact sum."""
    total = ZERO
    for term in terms:
        total = _EXACT.add(total, term)
    return total


def part(amount: Decimal, numerator: Decimal, denominator: Decimal) -> Decimal:
    """`amount * numerator / denominator`, to the eighteenth digit after the point."""
    quotient = _DIVIDING.divide(times(amount, numerator), denominator)
    return quotient.quantize(_CENTRE, context=_DIVIDING)


def down_to_step(amount: Decimal, step: Decimal) -> Decimal:
    """The largest multiple of `step` that is not over `amount` (2.25049 at a step of 0.0001 is 2.2504)."""
    steps = (_DIVIDING.divide(amount, step)).to_integral_value(ROUND_DOWN)
    return times(steps, step)
