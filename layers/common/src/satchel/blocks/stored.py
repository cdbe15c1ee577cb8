"""The blocks of a stored session, brought up to date with its messages.

Blocks are derived from messages: nothing is lost when they are, and whoever asks for them first brings them up to
date. A message is decided once, in the order of time, with the 30 messages before it as context; a late one is
placed by its time and leaves the others where they are (between two messages of one block it joins that block).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from satchel.blocks.building import Advisor, build_session_blocks
from satchel.blocks.continuity import Model
from satchel.blocks.decision import Action, Rule
from satchel.blocks.result import BuiltBlock, Explained
from satchel.blocks.sessions import KnownBlock, Message, Options, Session
from satchel.errors import UnavailableError

# Stored conversations have real pauses and no thresholds of a caller's own: weigh the pause with everything else.
STORED_OPTIONS = Options(gap_mode="soft", explain=True)
_ATTEMPTS = 3


class Window(NamedTuple):
    """What is needed to place the messages that are in no block yet.

    Attributes:
        version: Of the session's blocks; 0 where there are none.
        messages: From 30 before the first unplaced one to the newest, in order; empty when all are placed.
        homes: The block of each of them that has one, by message id.
        blocks: The blocks among `homes`, whole; the others by their id alone.
    """

    version: int
    messages: Sequence[Message]
    homes: Mapping[str, str]
    blocks: Sequence[KnownBlock]


class Placement(NamedTuple):
    """Where a message is and how that was decided."""

    block_id: str
    action: Action
    rule: Rule
    score: float | None


class Store(Protocol):
    """Where the blocks of one user's sessions are kept."""

    def unplaced(self, session_id: str) -> Window:
        """What is needed to place the messages that are in no block yet."""
        ...

    def keep(
        self, session_id: str, version: int, blocks: Sequence[BuiltBlock], placed: Sequence[tuple[str, Explained]]
    ) -> bool:
        """Store changed blocks and new placements; False where the session is no longer at `version`."""
        ...


def bring_up_to_date(session_id: str, *, store: Store, continuity: Model, advisor: Advisor | None = None) -> None:
    """Place every message of the session that is in no block yet.

    Raises:
        UnavailableError: Others kept changing the session; trying again is safe.
    """
    for _attempt in range(_ATTEMPTS):
        window = store.unplaced(session_id)
        if not window.messages:
            return
        session = Session(session_id, "INCREMENTAL", window.messages, window.blocks)
        result = build_session_blocks(session, STORED_OPTIONS, continuity=continuity, advisor=advisor)
        home = {message_id: block.block_id for block in result.blocks for message_id in block.message_ids}
        placed = [
            (home[each.message_id], each) for each in result.explanations or () if each.message_id not in window.homes
        ]
        changed = {block_id for block_id, _ in placed}
        if store.keep(session_id, window.version, [b for b in result.blocks if b.block_id in changed], placed):
            return
    raise UnavailableError("the session is being changed; try again")
