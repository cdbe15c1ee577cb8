"""Places of objects, as the tests of what is kept there see them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from satchel.objects.port import Objects


@dataclass
class Place:
    """A place of objects, and how somebody outside uses a link of it; both give the status, `get` the body too."""

    objects: Objects
    put: Callable[[str, bytes], int]
    get: Callable[[str], tuple[int, bytes]]


@dataclass
class Clock:
    now: datetime = datetime(2026, 1, 2, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now
