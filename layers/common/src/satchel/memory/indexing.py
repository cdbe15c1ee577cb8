"""Making stored messages searchable: in the call that saves them, and later where that failed."""

from collections.abc import Callable, Iterable

from satchel.embeddings.encoder import Encoder
from satchel.errors import UnavailableError
from satchel.memory.index import IndexEntry, index_entry, indexed_terms
from satchel.memory.messages import Message
from satchel.memory.search_store import SearchStore

BATCH = 50
"""Messages read at once by `reindex`."""


def index_message(
    message: Message, *, store: SearchStore, encoder: Encoder, has_time: Callable[[], bool] = lambda: True
) -> bool:
    """Make a stored message searchable, and return whether its meaning is.

    Where the encoder does not answer, or has not read all of a long message when time runs short, the message is
    searchable by its words alone and stays among those that `reindex` takes up, as it does when the process dies here.
    A step of the work on an answer is no hit, and is not indexed.

    Raises:
        UnavailableError: The store does not answer.
    """
    if message.is_step:
        return True
    try:
        entry = index_entry(message, encoder, has_time=has_time)
    except UnavailableError:
        entry = IndexEntry(indexed_terms(message))
    store.write_entry(message, entry)
    return entry.encoder is not None


def reindex(*, store: SearchStore, encoder: Encoder, has_time: Callable[[], bool]) -> tuple[int, bool]:
    """Index messages that have no vectors of this encoder, oldest first.

    Safe to repeat and to run beside saves. What is done stays done, so that the next run goes on from there.

    Args:
        store: One user's index.
        encoder: Another one than before re-embeds everything; until that is done, search finds the rest by words.
        has_time: Whether another message may be begun.

    Returns:
        How many were done, and whether none is left.

    Raises:
        UnavailableError: Encoder or store do not answer.
    """
    done = 0
    while waiting := store.unindexed_messages(encoder=encoder.name, limit=BATCH):
        for message in waiting:
            if not has_time():
                return done, False
            store.write_entry(message, index_entry(message, encoder))
            done += 1
    return done, True


def reindex_all(
    users: Iterable[str], *, store_of: Callable[[str], SearchStore], encoder: Encoder, has_time: Callable[[], bool]
) -> tuple[int, bool]:
    """Reindex user after user; see `reindex`."""
    total = 0
    for user_id in users:
        done, complete = reindex(store=store_of(user_id), encoder=encoder, has_time=has_time)
        total += done
        if not complete:
            return total, False
    return total, True
