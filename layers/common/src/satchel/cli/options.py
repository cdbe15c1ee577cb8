"""Options that several commands share, so that each has one meaning and one default."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.local.data_folder import DataFolder

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - it has no public name

DEFAULT_PORT = 3000
DEFAULT_USER = "alice"


def add_data(parser: argparse.ArgumentParser) -> None:
    """`--data`."""
    parser.add_argument(
        "--data",
        type=_folder,
        default=Path(".satchel"),
        metavar="FOLDER",
        help="folder that holds the database and the signing keys (default: .satchel)",
    )


def add_user(parser: argparse.ArgumentParser) -> None:
    """`--user`."""
    parser.add_argument("--user", default=DEFAULT_USER, help=f"whose context it is (default: {DEFAULT_USER})")


def add_server(parser: argparse.ArgumentParser) -> None:
    """What a command that asks the server takes: `--user`, `--url`, `--data`, `--json`."""
    add_user(parser)
    parser.add_argument("--url", help="the server (default: the one that serves the data folder)")
    add_data(parser)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def _folder(text: str) -> Path:
    if not text:  # an unset variable of a script; the present folder is no data folder by chance
        raise argparse.ArgumentTypeError("a folder is needed")
    return Path(text)


def base_url(data: Path) -> str:
    """Where the server of a data folder is, or was last; the default port if it never served."""
    note = DataFolder(data).last_served()
    return note.url if note else f"http://127.0.0.1:{DEFAULT_PORT}"
