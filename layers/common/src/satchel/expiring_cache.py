"""A small cache for derived things: the least recently used entry leaves first, and none outlives its time."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ExpiringCache(Generic[Value]):
    """Values under keys that name the content they were derived from.

    Args:
        max_entries: How many are kept.
        ttl: How long one is kept.
        clock: Gives the time.
    """

    def __init__(self, *, max_entries: int, ttl: timedelta, clock: Callable[[], datetime]) -> None:
        self._max_entries = max_entries
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[Hashable, tuple[datetime, Value]] = OrderedDict()

    def get_or_make(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value under `key`, made (and kept) where there is none that is young enough."""
        now = self._clock()
        found = self._entries.get(key)
        if found is not None and now - found[0] < self._ttl:
            self._entries.move_to_end(key)
            return found[1]
        value = make()
        self._entries[key] = (now, value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)
        return value
