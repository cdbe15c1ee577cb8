"""`satchel token`: a development token for scripts."""

import argparse
from typing import TYPE_CHECKING

from satchel.api.principal import can_name_a_user
from satchel.cli.errors import CommandError
from satchel.cli.options import add_data, add_user, base_url
from satchel.local.identity import DEVELOPMENT_SCOPES, Identity

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.cli.options import Commands

_DAY_S = 86_400


def add_commands(commands: "Commands") -> None:
    """Adds `token`."""
    parser = commands.add_parser(
        "token",
        help="print a development token",
        description="Print a token signed with the key in the data folder, and nothing else.",
    )
    add_user(parser)
    parser.add_argument(
        "--scope",
        default=" ".join(DEVELOPMENT_SCOPES),
        help="what it allows, separated by spaces (default: %(default)s)",
    )
    parser.add_argument(
        "--audience", metavar="URL", help="the MCP URL it is for (default: that of the server of the data folder)"
    )
    parser.add_argument("--expires", type=int, default=_DAY_S, metavar="SECONDS", help="validity (default: 86400)")
    add_data(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Prints a token."""
    print(
        mint(
            arguments.data,
            arguments.user,
            scopes=arguments.scope.split(),
            audience=arguments.audience,
            expires_s=arguments.expires,
        )
    )


def mint(
    data: "Path",
    user: str,
    *,
    scopes: "list[str] | None" = None,
    audience: str | None = None,
    expires_s: int = _DAY_S,
) -> str:
    """A token of a data folder's issuer.

    Raises:
        CommandError: The folder does not exist, or nobody can have that name: nothing would accept the token.
    """
    if not can_name_a_user(user):
        raise CommandError("A user is 1 to 256 characters that can be seen.")
    issuer = issuer_of(data)
    return issuer.mint(
        user, scopes=scopes or DEVELOPMENT_SCOPES, audience=audience or f"{issuer.issuer}/mcp", expires_s=expires_s
    )


def issuer_of(data: "Path") -> Identity:
    """The issuer of a data folder.

    Raises:
        CommandError: The folder does not exist: nothing would accept its tokens.
    """
    if not data.is_dir():
        raise CommandError(f"There is no data folder {data}; `satchel serve --data {data}` makes it.")
    return Identity(data.resolve(), base_url(data))
