"""Clients by user and server, so that a warm process connects once."""

from collections import OrderedDict

from satchel.gateway.link import Link


class LinkPool:
    """Links of many users, the least recently used closed first.

    Args:
        size: Most links held open.
    """

    def __init__(self, *, size: int = 64) -> None:
        self._size = size
        self._links: OrderedDict[tuple[str, str], Link] = OrderedDict()

    async def link(self, user_id: str, url: str) -> Link:
        """The link of one user to the server at `url`; never another user's."""
        key = (user_id, url)
        if key not in self._links:
            self._links[key] = Link(url)
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
