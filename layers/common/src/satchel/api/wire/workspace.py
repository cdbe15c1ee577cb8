"""What `/v1/workspace-state` takes: the document's object, whose numbers stay as they were written."""

from decimal import Decimal
from typing import Annotated, Any, Literal

import simplejson
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from satchel.api.strict_json import parse_json
from satchel.api.validation import validate
from satchel.api.wire.types import StorableText, Timestamp
from satchel.errors import InvalidInputError, TooLargeError
from satchel.postgres.text import storable_json

# The largest workspace, in bytes of JSON.
MAX_WORKSPACE_BYTES = 262_144
_MAX_ITEMS = 1_000
# Far beyond any price or size, and well within PostgreSQL's numeric.
_MAX_DIGITS = 40


def _reasonable(number: Decimal) -> Decimal:
    if not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS or len(number.as_tuple().digits) > _MAX_DIGITS:
        raise ValueError("the number is out of range")
    return number


def _no_text(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("a JSON number is needed")  # noqa: TRY004 - pydantic turns a ValueError into a finding
    return value


_Number = Annotated[Decimal, BeforeValidator(_no_text), AfterValidator(_reasonable), WithJsonSchema({"type": "number"})]
_Name = Annotated[StorableText, Field(min_length=1, max_length=200)]


class Chart(BaseModel):
    """The chart on screen."""

    ticker: _Name
    timeframe: _Name
    indicators: list[_Name] = Field(default_factory=list[str], max_length=_MAX_ITEMS)


class Position(BaseModel):
    """An open position."""

    ticker: _Name
    side: Literal["long", "short"]
    size: _Number
    entryPrice: _Number  # noqa: N815 - the document's names
    currentPrice: _Number | None = None  # noqa: N815
    unrealizedPnL: _Number | None = None  # noqa: N815


class Alert(BaseModel):
    """Something that happened."""

    type: _Name
    message: Annotated[StorableText, Field(max_length=2_000)]
    timestamp: Timestamp


class WorkspaceBody(BaseModel):
    """The workspace; what is left out is empty. Fields of a client's own are kept inside the parts."""

    model_config = ConfigDict(extra="forbid")

    currentChart: Chart | None = None  # noqa: N815
    watchlist: list[_Name] = Field(default_factory=list[str], max_length=_MAX_ITEMS)
    openPositions: list[Position] = Field(default_factory=list[Position], max_length=_MAX_ITEMS)  # noqa: N815
    recentAlerts: list[Alert] = Field(default_factory=list[Alert], max_length=_MAX_ITEMS)  # noqa: N815


def workspace_text(body: bytes) -> str:
    """The JSON of a workspace, checked, with every number as it was written.

    Raises:
        InvalidInputError: It is not a workspace; the field is named.
        TooLargeError: It is over 262,144 bytes.
    """
    if len(body) > MAX_WORKSPACE_BYTES:
        raise TooLargeError(f"the workspace is over {MAX_WORKSPACE_BYTES} bytes")
    value: Any = parse_json(body, parse_float=Decimal)
    validate(WorkspaceBody, value)
    clean = storable_json(value, field="workspace")
    _check_numbers(clean, "")
    return simplejson.dumps(clean, use_decimal=True, ensure_ascii=False)


def _check_numbers(value: Any, path: str) -> None:
    if isinstance(value, Decimal | int) and not isinstance(value, bool):
        try:
            _reasonable(Decimal(value))
        except ValueError as error:
            raise InvalidInputError(f"{path}: {error}", field=path) from error
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            _check_numbers(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType]
            _check_numbers(item, f"{path}.{key}" if path else str(key))  # pyright: ignore[reportUnknownArgumentType]
