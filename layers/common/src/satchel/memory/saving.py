"""Saving a message: durable first, searchable in the same call, the same message twice is one message."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from satchel.errors import ConflictError
from satchel.memory.messages import Message, NewMessage


class MessageStore(Protocol):
    """Where messages are kept."""

    def insert_message(self, new: NewMessage, arrived_at: datetime) -> tuple[Message, bool]:
        """The stored message of this id, and whether this call stored it."""
        ...


def save_message(
    new: NewMessage,
    *,
    store: MessageStore,
    index: Callable[[Message], object],
    clock: Callable[[], datetime],
) -> tuple[Message, bool]:
    """Store `new` and make it searchable; return the stored message and whether it had been there before.

    The message is committed before the index is touched: whatever happens to the encoder then (an error, a kill),
    nothing is lost, and the message stays marked for indexing.

    Args:
        new: A storable message.
        store: Where it goes.
        index: Makes a stored message searchable; it reports its own failures and raises none of the encoder's.
        clock: Gives the time of arrival.

    Raises:
        ConflictError: The id is taken by another message; nothing was written.
        UnavailableError: The store does not answer; repeating the call is safe.
    """
    message, stored_now = store.insert_message(new, clock())
    if not stored_now and not message.is_repeat(new):
        raise ConflictError("this message_id already stands for another message", field="message_id")
    # Of a repeat too: the first call may have died between the two.
    index(message)
    return message, not stored_now
