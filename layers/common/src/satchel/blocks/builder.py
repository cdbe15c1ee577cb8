"""From a session's messages to its blocks, in two pure steps with the model's answers between them.

`plan` decides every message it can; what is left is the zone, which a model may decide. `assemble` takes the
answers, lets the rest fall to the midpoint, and lays the messages into blocks. No decision looks at another, so
the zone can be asked in any order and a session in parts.

Known messages keep their block. A known block's `lastMessage` that is not sent stands in for what came before.
A late message that falls between two messages of one block joins it, so that blocks stay contiguous.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from satchel.blocks.continuity import Model
from satchel.blocks.decision import Decision, decide, fall_back
from satchel.blocks.scoring import Scored, score_session
from satchel.blocks.sessions import KnownBlock, Message, Options, Session, in_order


class Planned(NamedTuple):
    """A message, what was decided for it, and the known block it is in already, "" for none."""

    scored: Scored
    decision: Decision
    block_id: str
    sent: bool


@dataclass(slots=True)
class Block:
    """A block as it was built.

    Attributes:
        block_id: Its id.
        message_ids: All its messages in order.
        members: Those of them that this build saw, in order.
        known: The block it grew from; None for a new one.
        changed: Whether this build put a message into it.
    """

    block_id: str
    message_ids: list[str]
    members: list[Planned] = field(default_factory=list[Planned])
    known: KnownBlock | None = None
    changed: bool = False


def plan(session: Session, options: Options, model: Model) -> list[Planned]:
    """Decide every message of `session` that needs no second opinion; the order is that of time."""
    known = session.known if session.mode == "INCREMENTAL" else ()
    home = {message_id: block.block_id for block in known for message_id in block.message_ids}
    sent = {message.message_id for message in session.messages}
    stand_ins = [
        block.last_message
        for block in known
        if block.last_message is not None and block.last_message.message_id not in sent
    ]
    messages: Sequence[Message] = in_order([*session.messages, *stand_ins]) if stand_ins else session.messages
    homes = [home.get(message.message_id, "") for message in messages]
    following = _next_homes(homes)
    planned: list[Planned] = []
    before = ""
    for index, scored in enumerate(score_session(messages, options, model)):
        block_id = homes[index]
        if block_id:
            decision = _KEPT
        elif before and before == following[index]:
            decision = _INSIDE
        else:
            decision = decide(scored.gap_s, scored.score, options, has_open_block=index > 0)
        planned.append(Planned(scored, decision, block_id, sent=scored.message.message_id in sent))
        # An undecided or new message leaves the block it follows open only if it is inside it.
        before = block_id or (before if decision is _INSIDE else "")
    return planned


def plan_new(messages: Iterable[Message], options: Options, model: Model) -> Iterator[Planned]:
    """Decide every message of a session without known blocks, one by one, in the order of time."""
    for index, scored in enumerate(score_session(messages, options, model)):
        decision = decide(scored.gap_s, scored.score, options, has_open_block=index > 0)
        yield Planned(scored, decision, "", sent=True)


def settle(planned: Iterable[Planned], verdicts: Mapping[str, Decision], options: Options) -> list[Planned]:
    """`planned` with every message decided.

    Args:
        planned: In order.
        verdicts: What a model decided, by message id; only messages of the zone are looked up.
        options: The thresholds; what nobody decided falls to their midpoint.
    """
    return [
        item
        if item.decision.action
        else item._replace(decision=fall_back(verdicts.get(item.scored.message.message_id, item.decision), options))
        for item in planned
    ]


_KEPT = Decision("APPEND", "kept", None)
_INSIDE = Decision("APPEND", "inside", None)


def assemble(
    session: Session, planned: Sequence[Planned], verdicts: Mapping[str, Decision], options: Options
) -> list[Block]:
    """Lay the messages into blocks.

    Args:
        session: As for `plan`.
        planned: The result of `plan`.
        verdicts: As for `settle`.
        options: As for `plan`.

    Returns:
        The known blocks in the order given, then the new ones in order of time. In `FULL` mode all are new.
    """
    known = session.known if session.mode == "INCREMENTAL" else ()
    blocks = {
        block.block_id: Block(block.block_id, list(dict.fromkeys(block.message_ids)), known=block) for block in known
    }
    ids = new_ids(session.session_id, {block.block_id for block in session.known})
    place: Block | None = None
    previous_id = ""
    for item in settle(planned, verdicts, options):
        message_id = item.scored.message.message_id
        if item.block_id:
            place = blocks[item.block_id]
        elif item.decision.action == "APPEND" and place is not None:
            _insert(place, message_id, after=previous_id)
        else:
            block_id = next(ids)
            place = blocks[block_id] = Block(block_id, [message_id], changed=True)
        place.members.append(item)
        previous_id = message_id
    return list(blocks.values())


def _insert(block: Block, message_id: str, *, after: str) -> None:
    block.changed = True
    ids = block.message_ids
    if ids[-1] == after:
        ids.append(message_id)
    else:
        ids.insert(ids.index(after) + 1, message_id)


def _next_homes(homes: Sequence[str]) -> list[str]:
    """For each message the known block of the next message that has one, "" where there is none."""
    following = [""] * len(homes)
    ahead = ""
    for index in range(len(homes) - 1, -1, -1):
        following[index] = ahead
        ahead = homes[index] or ahead
    return following


def new_ids(session_id: str, taken: Collection[str]) -> Iterator[str]:
    """Ids for new blocks: `blk_{session_id}_{seq}` with seq from 1, without those that are taken."""
    seq = 0
    while True:
        seq += 1
        block_id = f"blk_{session_id}_{seq}"
        if block_id not in taken:
            yield block_id
