"""Where things too large for a request are kept for a while: one user's objects, each under a key.

An object lives about a day, whoever forgets it (`LIFETIME`); a link to it lives an hour at most. A link is all that
its bearer needs, so it is made for one object and one direction, and handed to the object's user alone.
"""

import hashlib
import re
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import BinaryIO, Protocol

from satchel.errors import NotFoundError

LIFETIME = timedelta(days=1)
LINK_S = 3_600
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}(?:\.[a-z0-9]{1,8})?")


class Objects(Protocol):
    """Objects by key; keys are made by `object_key` alone.

    Every method raises UnavailableError where the place does not answer.
    """

    def upload_link(self, key: str) -> str:
        """A URL that takes the object by one `PUT`, for `LINK_S` seconds."""
        ...

    def download_link(self, key: str) -> str:
        """A URL that gives the object by `GET`, for `LINK_S` seconds."""
        ...

    def size(self, key: str) -> int | None:
        """The object's size in bytes; None where there is none."""
        ...

    def open(self, key: str) -> AbstractContextManager[BinaryIO]:
        """The object, to be read in pieces.

        Raises:
            NotFoundError: There is none.
        """
        ...

    def write(self, key: str, content: BinaryIO) -> None:
        """Keep all of `content`, in place of what was there; whoever reads meanwhile sees the one or the other."""
        ...

    def create(self, key: str, content: bytes) -> bool:
        """Keep `content` where there is nothing yet; False where there was. Of several at once, one gets True."""
        ...


def object_key(user_id: str, *parts: str) -> str:
    """The key of one user's object, `{digest of the user}/{part}/…`: no name leads to anybody else's.

    Raises:
        NotFoundError: A part is no plain name, so nothing can be there.
    """
    if not parts or not all(_PART.fullmatch(part) for part in parts):
        raise NotFoundError("there is no such object")
    return "/".join((hashlib.sha256(user_id.encode()).hexdigest(), *parts))
