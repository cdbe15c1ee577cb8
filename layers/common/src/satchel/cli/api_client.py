"""Plain HTTPS to a running Satchel."""

import json
import os
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from satchel.cli.errors import CommandError
from satchel.cli.token import mint

# Longer than the API's own 30 seconds, so that its answer is what is shown.
_TIMEOUT_S = 35
# What a URL and a header are made of.
_SENDABLE = re.compile("[!-~]+")


class ApiClient:
    """Calls the API as one user.

    Args:
        url: The server, without a path.
        user: Whose token is made, unless `SATCHEL_TOKEN` holds one.
        data: The data folder with the signing key.

    Attributes:
        url: The server.
        token: What it is shown.

    Raises:
        CommandError: The URL is none of a server, or no token can be made.
    """

    def __init__(self, url: str, user: str, data: Path) -> None:
        if not _is_server(url):
            raise CommandError(f"{url} is no URL of a server; it should look like http://127.0.0.1:3000.")
        self.url = url.rstrip("/").removesuffix("/mcp")
        self.token = os.environ.get("SATCHEL_TOKEN", "").strip() or mint(data, user, audience=f"{self.url}/mcp")
        if not _SENDABLE.fullmatch(self.token):
            raise CommandError("SATCHEL_TOKEN holds no token.")

    def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A tool's `structuredContent`.

        Raises:
            CommandError: The API refused, or does not answer.
        """
        return self.request("POST", f"/v1/tools/{name}", arguments)

    def request(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The JSON object that answers a request; errors as for `call_tool`."""
        request = urllib.request.Request(  # noqa: S310 - the user names the server
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - as above
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise CommandError(_explain(error.code, error.read())) from error
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            raise CommandError(f"Satchel does not answer at {self.url}; is `satchel serve` running?") from error


def _is_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is none
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and _SENDABLE.fullmatch(url) is not None


def _explain(status: int, body: bytes) -> str:
    try:
        answer = json.loads(body)
        error = answer.get("error") or {"message": answer["message"]}
        field, told = error.get("field"), error["message"]
        where = f"{field}: " if field and not told.startswith(field) else ""
        return f"{where}{told} ({error.get('code', status)})"
    except (ValueError, KeyError, AttributeError):
        return f"The server answered {status}."
