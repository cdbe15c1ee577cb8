"""What the strategy tools take and answer, as in `docs/api.md`."""

from decimal import Decimal
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.amounts import Amount, Share, Timeframe
from satchel.api.wire.types import StorableText, Timestamp
from satchel.errors import InvalidInputError
from satchel.postgres.text import storable_json
from satchel.strategies.backtest import Backtest
from satchel.strategies.request import BacktestRequest
from satchel.strategies.results import results_uri
from satchel.strategies.versions import StrategyVersion
from satchel.timestamps import format_timestamp

StrategyName = Annotated[StorableText, Field(min_length=1, max_length=64, description="The strategy's name.")]
_Cash = Annotated[Amount, Field(le=10**12)]
_Commission = Annotated[Share, Field(lt=Decimal("0.1"))]
# Far beyond any strategy's parameter.
_MAX_PARAMS = 50


class NoArguments(BaseModel):
    """Nothing."""

    model_config = ConfigDict(extra="forbid")


class StrategyOut(BaseModel):
    """A strategy without its code."""

    name: str
    description: str
    version: int
    updated_at: str
    timeframe: str = Field(description="Of its header; empty where it names none.")
    symbols: list[str]
    params: dict[str, Any] = Field(description="Parameter names and defaults.")


class ListStrategiesResult(BaseModel):
    """The user's strategies by name."""

    strategies: list[StrategyOut]

    @classmethod
    def of(cls, rows: list[dict[str, Any]]) -> "ListStrategiesResult":
        """Rows of the store as they go out."""
        return cls(
            strategies=[
                StrategyOut(
                    name=row["name"],
                    description=row["metadata"]["description"],
                    version=row["version"],
                    updated_at=format_timestamp(row["created_at"]),
                    timeframe=row["metadata"]["timeframe"],
                    symbols=row["metadata"]["symbols"],
                    params=row["metadata"]["params"],
                )
                for row in rows
            ]
        )


class ReadStrategyArguments(BaseModel):
    """Which strategy."""

    model_config = ConfigDict(extra="forbid")

    name: StrategyName
    version: int | None = Field(default=None, ge=1, lt=2**31, description="A version; default: the current one.")


class ReadStrategyResult(BaseModel):
    """A strategy's code."""

    name: str
    version: int
    code: str
    hash: str = Field(description="SHA-256 of the code.")
    metadata: dict[str, Any]

    @classmethod
    def of(cls, version: StrategyVersion) -> "ReadStrategyResult":
        """`version` as it goes out."""
        return cls(
            name=version.name, version=version.version, code=version.code, hash=version.hash, metadata=version.metadata
        )


class WriteStrategyArguments(BaseModel):
    """A strategy's code."""

    model_config = ConfigDict(extra="forbid")

    name: StrategyName
    code: str = Field(
        min_length=1,
        description=(
            "A Python module with one class derived from backtesting.Strategy, with init(self) and next(self). Its "
            "docstring may hold a JSON object with name, description, timeframe, symbols, params (as in the class)."
        ),
    )


class WriteStrategyResult(BaseModel):
    """What is stored now."""

    name: str
    version: int
    hash: str
    size_bytes: int
    changed: bool = Field(description="False where this very code was the current version already.")

    @classmethod
    def of(cls, version: StrategyVersion, *, changed: bool) -> "WriteStrategyResult":
        """`version` as it goes out."""
        return cls(
            name=version.name,
            version=version.version,
            hash=version.hash,
            size_bytes=len(version.code.encode()),
            changed=changed,
        )


class RunBacktestArguments(BaseModel):
    """What to test."""

    model_config = ConfigDict(extra="forbid")

    strategy: StrategyName
    params: dict[str, Any] = Field(
        default_factory=dict,
        max_length=_MAX_PARAMS,
        description="Parameter values. A list of values sweeps over all combinations, at most 50.",
    )
    symbol: StorableText | None = Field(default=None, max_length=64, description="Default: the strategy's, else AAPL.")
    timeframe: Timeframe | None = Field(default=None, description="Default: the strategy's, else 1d.")
    since: Timestamp | None = Field(default=None, description="First bar; default: all there are.")
    until: Timestamp | None = Field(default=None, description="Bars before this; default: all there are.")
    cash: _Cash = Field(default=Decimal(10_000), description="Money at the start.")
    commission: _Commission = Field(default=Decimal("0.001"), description="Share of each trade's value.")

    def to_request(self) -> BacktestRequest:
        """The request as the feature takes it.

        Raises:
            InvalidInputError: A value of a parameter is no number, text or list of those.
        """
        for name, value in self.params.items():
            values = cast("list[Any]", value) if isinstance(value, list) else [value]
            field = f"params.{name}"
            if not all(isinstance(item, bool | int | float | str) for item in values):
                raise InvalidInputError("a parameter is a number or a text, or a list of those", field=field)
            if storable_json(value, field=field) != value:
                raise InvalidInputError("a text holds a NUL or a lone surrogate, which cannot be stored", field=field)
        return BacktestRequest(
            strategy=self.strategy,
            params=self.params,
            symbol=self.symbol,
            timeframe=self.timeframe,
            since=self.since,
            until=self.until,
            cash=self.cash,
            commission=self.commission,
        )


class BacktestJobResult(BaseModel):
    """A backtest that takes longer than a request may."""

    job_id: str
    status: Literal["queued"] = "queued"


class RunBacktestResult(BaseModel):
    """What would have happened, or the job that finds out."""

    job_id: str | None = Field(
        default=None,
        description="Of a long backtest, alone with `status`; context://job/{job_id} tells when it is done.",
    )
    backtest_id: str
    status: Literal["done", "queued"] = "done"
    stats: dict[str, Any] = Field(description="All statistics; null where undefined, with the reason in `undefined`.")
    undefined: dict[str, str]
    trades: list[dict[str, Any]] = Field(description="The first five; all are under `results_uri`.")
    lookahead: Literal["suspected", "not_found"] = Field(
        description="`suspected`: decisions change with bars that were still in the future; do not trust the result."
    )
    lookahead_reason: str | None
    selection: dict[str, Any] = Field(
        description="How many distinct combinations were ever tried, and the deflated Sharpe ratio: the probability "
        "that the best one is better than luck."
    )
    params: dict[str, Any] = Field(description="All of the run shown, given and default: the best of a sweep.")
    data: dict[str, Any] = Field(description="Which bars, their source and licence.")
    results_uri: str

    @classmethod
    def of(cls, backtest: Backtest) -> "RunBacktestResult":
        """`backtest` as it goes out."""
        report = backtest.report
        return cls(
            backtest_id=backtest.backtest_id,
            stats=report["stats"],
            undefined=report["undefined"],
            trades=backtest.trades,
            lookahead=report["lookahead"],
            lookahead_reason=report["lookahead_reason"],
            selection=report["selection"],
            params=report["request"]["params"],
            data=report["data"],
            results_uri=results_uri(backtest.backtest_id),
        )
