"""`satchel market step`: move the replay of past candles, which fills paper orders."""

import argparse
from typing import TYPE_CHECKING, Any

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


def _step(arguments: argparse.Namespace) -> None:
    result = client_of(arguments).call_tool("market_step", {"steps": arguments.steps})
    show(arguments, result, describe_step(result))


def describe_step(result: dict[str, Any]) -> str:
    """What the candles did, a line each; says how to begin where there is nothing to replay."""
    lines = [f"{bar['symbol']}  {bar['ts']}  {bar['close']}" for bar in result["bars"]]
    lines += [
        f"filled: {fill['side']} {fill['quantity']} {fill['symbol']} at {fill['price']}" for fill in result["fills"]
    ]
    lines += [f"alert: {message}" for message in result["alerts"]]
    return "\n".join(lines) or "Nothing to replay: a symbol's replay begins with its first order or price alert."
