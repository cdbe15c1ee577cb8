"""The types that trading tools share. Amounts are decimal text; ids of 64 bits are text."""

import re
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from satchel.api.wire.types import StorableText
from satchel.errors import InvalidInputError
from satchel.trading.account import PAPER
from satchel.trading.money import read_amount

_ZERO = re.compile(r"0+(?:\.0*)?")


def _amount(value: Any) -> Decimal:
    try:
        return read_amount(value, field="it")
    except InvalidInputError as error:
        raise ValueError(error.message) from error


def _share(value: Any) -> Decimal:
    if not isinstance(value, bool) and _ZERO.fullmatch(str(value).strip()):
        return Decimal(0)
    share = _amount(value)
    if share >= 1:
        raise ValueError("a share is less than 1")
    return share


def _exact_id(value: Any) -> Any:
    # An integer in JSON has all its digits here; a float has lost some and is refused as what it is.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Amount = Annotated[
    Decimal,
    PlainValidator(_amount),
    WithJsonSchema({"type": ["string", "number"], "description": 'A decimal number, best as text: "0.00001700".'}),
]
Share = Annotated[
    Decimal, PlainValidator(_share), WithJsonSchema({"type": ["string", "number"], "description": "A share: 0.001."})
]
ClientId = Annotated[
    StorableText, BeforeValidator(_exact_id), Field(min_length=1, max_length=64), WithJsonSchema({"type": "string"})
]
OrderId = Annotated[
    str,
    BeforeValidator(_exact_id),
    Field(pattern=r"^[0-9]{1,18}$|^[1-8][0-9]{18}$"),
    WithJsonSchema({"type": "string"}),
]
Symbol = Annotated[StorableText, Field(min_length=1, max_length=64)]
Timeframe = Literal["1m", "5m", "15m", "30m", "1h", "4h", "1d", "1w"]
AccountName = Annotated[StorableText, Field(min_length=1, max_length=64)]


class AccountArguments(BaseModel):
    """Which account."""

    model_config = ConfigDict(extra="forbid")

    account: AccountName = Field(default=PAPER, description="The trading account.")
