"""`build_session_blocks`: the batch document's pipeline, from a session to its blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Protocol

from satchel.blocks.builder import Block, Planned, assemble, plan
from satchel.blocks.confidence import confidence_of
from satchel.blocks.continuity import Model
from satchel.blocks.result import BuildResult, BuiltBlock, Explained
from satchel.blocks.scoring import Scored
from satchel.blocks.sessions import RULES_MODEL, Options, Session, Snippet, Tags
from satchel.blocks.snippets import find_snippets
from satchel.blocks.summarise import fill, merge, summarise
from satchel.blocks.summary_questions import Summary
from satchel.blocks.zone_questions import Verdict


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a model decided in the zone, by message id, and how many of its answers were used."""

    of: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Summaries:
    """What a model wrote.

    Attributes:
        wanted: The blocks it was to summarise; one without tags falls to the rules.
        tags: What it wrote, by block id.
        calls: How many of its answers were used.
    """

    wanted: frozenset[str] = frozenset()
    tags: Mapping[str, Summary] = field(default_factory=dict[str, Summary])
    calls: int = 0


class Advisor(Protocol):
    """A model that is asked where the rules are not sure. It never raises: what it cannot say is missing."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    def decide_zone(self, planned: Sequence[Planned], options: Options) -> Verdicts:
        """Decide the undecided messages of `planned`."""
        ...

    def summarise(self, blocks: Sequence[Block], options: Options, *, calls_left: int) -> Summaries:
        """Write the tags of `blocks`, with at most `calls_left` questions."""
        ...


def build_session_blocks(
    session: Session, options: Options, *, continuity: Model, advisor: Advisor | None = None
) -> BuildResult:
    """Build the blocks of `session`.

    Args:
        session: The messages, and the blocks there are.
        options: How to decide.
        continuity: Scores how much a message goes on with what came before.
        advisor: Decides the zone and writes tags; None leaves both to the rules.
    """
    planned = plan(session, options, continuity)
    verdicts = advisor.decide_zone(planned, options) if advisor else Verdicts()
    told = {message_id: verdict.decision for message_id, verdict in verdicts.of.items()}
    blocks = assemble(session, planned, told, options)
    changed = [block for block in blocks if block.changed]
    summaries = Summaries()
    if advisor and options.summarize:
        summaries = advisor.summarise(changed, options, calls_left=options.max_llm_calls - verdicts.calls)
    model = advisor.name if advisor else RULES_MODEL
    return BuildResult(
        session_id=session.session_id,
        model=model,
        blocks=[built(block, options, summaries, model) if block.changed else _untouched(block) for block in blocks],
        messages=len(session.messages),
        shift_calls=verdicts.calls,
        summary_calls=summaries.calls,
        explanations=_explain(blocks, verdicts) if options.explain else None,
    )


def _untouched(block: Block) -> BuiltBlock:
    tags = block.known.tags if block.known else None
    return BuiltBlock(block.block_id, block.message_ids, tags or Tags(), last_at=_last_at(block))


def built(block: Block, options: Options, summaries: Summaries, model: str) -> BuiltBlock:
    """A changed block with what it is about, by `model` where `summaries` has its word, else by the rules."""
    members = [item.scored for item in block.members if item.sent]
    told = summaries.tags.get(block.block_id)
    partial = block.block_id in summaries.wanted and not (told and told.complete)
    given = block.known.tags if block.known else None
    tags = given or Tags()
    if options.summarize:
        found = told.tags if told and told.complete else summarise(members)
        found = fill(told.tags, found) if told else found
        tags = merge(given, found, whole=len(members) == len(block.message_ids))
    return BuiltBlock(
        block.block_id,
        block.message_ids,
        tags,
        snippets=_snippets(block, members),
        confidence=confidence_of(
            [item.decision for item in block.members], tags, options, by_rules=told is None, fell_back=partial
        ),
        model=model if told else RULES_MODEL,
        last_at=_last_at(block),
        partial=partial,
    )


def _snippets(block: Block, members: Sequence[Scored]) -> list[Snippet]:
    seen = {item.message.message_id for item in members}
    earlier = [
        snippet for snippet in (block.known.snippets if block.known else ()) if snippet.source_message_id not in seen
    ]
    found = (find_snippets(item.message.content, item.message.message_id) for item in members)
    return [*earlier, *chain.from_iterable(found)]


def _last_at(block: Block) -> datetime | None:
    return block.members[-1].scored.message.at if block.members else None


def _explain(blocks: Sequence[Block], verdicts: Verdicts) -> list[Explained]:
    members = [item for block in blocks for item in block.members if item.sent]
    members.sort(key=lambda item: (item.scored.message.at, item.scored.message.message_id))
    return [
        Explained(
            item.scored.message.message_id,
            item.decision.score,
            item.decision.action or "APPEND",
            item.decision.rule,
            verdicts.of[item.scored.message.message_id].reason if item.decision.rule == "llm" else None,
        )
        for item in members
    ]
