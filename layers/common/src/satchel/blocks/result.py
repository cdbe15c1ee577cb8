"""What a build answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from satchel.blocks.decision import Action, Rule
from satchel.blocks.sessions import ANALYSIS_VERSION, RULES_MODEL, Snippet, Tags


@dataclass(frozen=True, slots=True)
class BuiltBlock:
    """A block with what it is about.

    Attributes:
        block_id: Its id.
        message_ids: Its messages in order.
        tags: What it is about.
        snippets: Code in those of its messages that were sent.
        confidence: See `satchel.blocks.confidence`; None for a block that was not changed.
        model: Who wrote the tags.
        last_at: Time of its last message that was sent.
        partial: A model was to write the tags and its answer could not be used in full.
        analysis_version: Of the rules and the score.
    """

    block_id: str
    message_ids: Sequence[str]
    tags: Tags
    snippets: Sequence[Snippet] = ()
    confidence: float | None = None
    model: str = RULES_MODEL
    last_at: datetime | None = None
    partial: bool = False
    analysis_version: str = ANALYSIS_VERSION


class Explained(NamedTuple):
    """How one message was decided; `reason` is the model's, where it decided."""

    message_id: str
    score: float | None
    action: Action
    rule: Rule
    reason: str | None


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The blocks of a session.

    Attributes:
        session_id: The session.
        model: The model's name, or `rules`.
        blocks: Known ones in the order given, then new ones in order of time.
        messages: How many were sent.
        shift_calls: Questions about the zone whose answers were used.
        summary_calls: Questions for tags whose answers were used.
        explanations: Each decided message in order, where asked for.
        analysis_version: Of the rules and the score.
    """

    session_id: str
    model: str
    blocks: Sequence[BuiltBlock]
    messages: int
    shift_calls: int = 0
    summary_calls: int = 0
    explanations: Sequence[Explained] | None = None
    analysis_version: str = ANALYSIS_VERSION
