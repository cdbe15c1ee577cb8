"""What a backtest is asked to do, as a value and as the JSON that a job keeps."""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, cast

from satchel.errors import InvalidInputError, TooLargeError
from satchel.timestamps import format_timestamp, parse_timestamp

MAX_TRIALS = 50


@dataclass(frozen=True, slots=True)
class BacktestRequest:
    """What to test.

    Attributes:
        strategy: Name of a stored strategy.
        params: Values for its parameters. A list of values makes a sweep over all combinations, at most 50.
        symbol: None: the strategy's first symbol, else AAPL.
        timeframe: None: the strategy's, else `1d`.
        since: First bar; None: the first there is.
        until: Bars before this; None: to the last there is.
        cash: Money at the start.
        commission: Share of each trade's value, both ways.
        version: Of the strategy; None: the current one.
    """

    strategy: str
    params: Mapping[str, Any]
    symbol: str | None
    timeframe: str | None
    since: datetime | None
    until: datetime | None
    cash: Decimal
    commission: Decimal
    version: int | None = None

    def as_json(self) -> dict[str, Any]:
        """As a job keeps it: amounts as decimal text, times as ISO-8601."""
        return asdict(self) | {
            "since": format_timestamp(self.since) if self.since else None,
            "until": format_timestamp(self.until) if self.until else None,
            "cash": format(self.cash, "f"),
            "commission": format(self.commission, "f"),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "BacktestRequest":
        """What `as_json` wrote."""
        read: dict[str, Any] = {name: Decimal(data[name]) for name in ("cash", "commission")}
        for name in ("since", "until"):
            read[name] = parse_timestamp(data[name], field=name) if data[name] else None
        return cls(**{**data, **read})

    def digest(self) -> str:
        """SHA-256 of the request: the same for the same request."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


def combinations(params: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the values given, the last parameter varying fastest.

    Raises:
        InvalidInputError: The strategy has no such parameter, or a list is empty.
        TooLargeError: There are more than 50.
    """
    known = metadata["params"]
    for name, value in params.items():
        if name not in known:
            has = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise InvalidInputError(f"the strategy has no parameter of this name; {has}", field=f"params.{name}")
        if value == []:
            raise InvalidInputError("a list of values is empty", field=f"params.{name}")
    values = [cast("list[Any]", value) if isinstance(value, list) else [value] for value in params.values()]
    count = 1
    for choices in values:
        count *= len(choices)
    if count > MAX_TRIALS:
        raise TooLargeError(f"{count} combinations are more than {MAX_TRIALS}", field="params")
    return [dict(zip(params, chosen, strict=True)) for chosen in itertools.product(*values)]
