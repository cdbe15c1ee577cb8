"""The command line: `satchel COMMAND`. Exit status: 0 done, 1 error, 2 wrong usage."""

import argparse
import os
import sys
from collections.abc import Sequence

from satchel.cli import blocks_file, chat, filter_file, invoke, market, requests, rotate_keys, serve, token
from satchel.cli.errors import CommandError


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; each one's `run` takes the parsed arguments."""
    parser = argparse.ArgumentParser(
        prog="satchel", description="A context server for LLM agents, on your own machine."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (serve, token, rotate_keys, invoke, requests, chat, market, filter_file, blocks_file):
        module.add_commands(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: What follows the program's name; None takes the process's own.

    Returns:
        The exit status.
    """
    parsed = build_parser().parse_args(arguments)
    try:
        parsed.run(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has enough (`| head`); the interpreter's own last flush must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except CommandError as error:
        print(f"satchel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
