"""`satchel rotate-keys`: a new key for signing tokens."""

import argparse
from typing import TYPE_CHECKING

from satchel.cli.options import add_data
from satchel.cli.token import issuer_of

if TYPE_CHECKING:
    from satchel.cli.options import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `rotate-keys`."""
    parser = commands.add_parser(
        "rotate-keys",
        help="sign tokens with a new key",
        description="Make a new key, which signs every token from now on, also while the folder is served. "
        "Tokens of the older keys are accepted until they expire.",
    )
    add_data(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Makes a key and says what that means."""
    issuer = issuer_of(arguments.data)
    print(f"The key {issuer.rotate()} signs from now on; tokens of older keys are accepted until they expire.")
    print(f"To end those sooner, delete the older files in {issuer.folder} and restart the server.")
