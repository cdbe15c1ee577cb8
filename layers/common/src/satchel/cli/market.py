"""`satchel market`: move the replay of past candles, which fills paper orders, and import candles of one's own."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from satchel.cli.errors import CommandError
from satchel.cli.parquet_file import parquet_as_csv
from satchel.cli.requests import client_of, finish, show

if TYPE_CHECKING:
    from satchel.cli.options import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `market`."""
    market = commands.add_parser("market", help="the replay of past candles", description="The replay of past candles.")
    actions = market.add_subparsers(title="actions", metavar="ACTION", required=True)
    step = actions.add_parser(
        "step", help="move to later candles", description="Move to later candles; those passed fill paper orders."
    )
    step.add_argument("steps", nargs="?", type=int, default=1, metavar="N", help="how many candles (default: 1)")
    finish(step, _step)
    load = actions.add_parser(
        "import",
        help="store candles of a CSV or Parquet file",
        description="Store candles of a CSV or Parquet file, for backtests and paper.",
    )
    load.add_argument("file", type=Path, help="time, open, high, low, close and perhaps volume, with a header")
    load.add_argument("--symbol", required=True, help="such as BTC/USDT")
    load.add_argument("--timeframe", required=True, help="1m, 5m, 15m, 30m, 1h, 4h, 1d or 1w")
    load.add_argument("--source", help="what the data is (default: the file's name)")
    load.add_argument("--licence", default="unknown", help="its licence (default: unknown)")
    load.add_argument("--synthetic", action="store_true", help="say so where it was made up")
    finish(load, _import)


def _step(arguments: argparse.Namespace) -> None:
    result = client_of(arguments).call_tool("market_step", {"steps": arguments.steps})
    show(arguments, result, describe_step(result))


def _import(arguments: argparse.Namespace) -> None:
    text = parquet_as_csv(arguments.file) if arguments.file.suffix == ".parquet" else _read(arguments.file)
    result = client_of(arguments).call_tool(
        "import_candles",
        {
            "symbol": arguments.symbol,
            "timeframe": arguments.timeframe,
            "csv": text,
            "source": arguments.source or f"the file {arguments.file.name}",
            "licence": arguments.licence,
            "synthetic": arguments.synthetic,
        },
    )
    show(arguments, result, f"Stored {result['bars']} bars of {result['symbol']} {result['timeframe']}.")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error


def describe_step(result: dict[str, Any]) -> str:
    """What the candles did, a line each; says how to begin where there is nothing to replay."""
    lines = [f"{bar['symbol']}  {bar['ts']}  {bar['close']}" for bar in result["bars"]]
    lines += [
        f"filled: {fill['side']} {fill['quantity']} {fill['symbol']} at {fill['price']}" for fill in result["fills"]
    ]
    lines += [f"alert: {message}" for message in result["alerts"]]
    return "\n".join(lines) or "Nothing to replay: a symbol's replay begins with its first order or price alert."
