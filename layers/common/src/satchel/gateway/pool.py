"""Clients by user and server, so that a warm process connects once."""

from collections import OrderedDict
from collections.abc import Callable

from satchel.gateway.link import Link


class LinkPool:
    """Links of many users, the least recently used closed first.

    Args:
        make: Makes a link to a server, by its name in the configuration.
        size: Most links held open.
    """

    def __init__(self, make: Callable[[str], Link], *, size: int = 64) -> None:
        self._make = make
        self._size = size
        self._links: OrderedDict[tuple[str, str], Link] = OrderedDict()

    async def link(self, user_id: str, server: str) -> Link:
        """The link of one user to one server; never another user's."""
        key = (user_id, server)
        if key not in self._links:
            self._links[key] = self._make(server)
        self._links.move_to_end(key)
        while len(self._links) > self._size:
            _, oldest = self._links.popitem(last=False)
            await oldest.close()
        return self._links[key]

    async def close(self) -> None:
        """Close all."""
        while self._links:
            _, link = self._links.popitem()
            await link.close()
