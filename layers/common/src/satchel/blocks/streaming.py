"""A session of any length, block by block, in a piece's and the open block's memory.

The decisions, ids, tags and confidences are those of `building.build_session_blocks` in `FULL` mode; where a model is
asked, its questions are laid out anew in every piece.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from satchel.blocks.builder import Block, Planned, new_ids, plan_new, settle
from satchel.blocks.building import Advisor, Summaries, Verdicts, built
from satchel.blocks.continuity import Model
from satchel.blocks.result import BuiltBlock
from satchel.blocks.sessions import RULES_MODEL, Message, Options

_PIECE = 2_000


class StreamedBuild:
    """One build. What it counts is whole once `blocks` has ended.

    Args:
        session_id: Names the session; part of the ids.
        options: How to decide; `explain` has no effect.
        continuity: As for `build_session_blocks`.
        advisor: As for `build_session_blocks`.
        reserved: Ids that are taken.

    Attributes:
        messages: How many there were.
        shift_calls: Questions about the zone whose answers were used.
        summary_calls: Questions for tags whose answers were used.
    """

    def __init__(
        self,
        session_id: str,
        options: Options,
        *,
        continuity: Model,
        advisor: Advisor | None = None,
        reserved: Collection[str] = (),
    ) -> None:
        self.messages = self.shift_calls = self.summary_calls = 0
        self._options = options
        self._continuity = continuity
        self._advisor = advisor
        self._ids = new_ids(session_id, reserved)

    @property
    def model(self) -> str:
        """Who wrote tags and decided the zone: the model, or `rules`."""
        return self._advisor.name if self._advisor else RULES_MODEL

    def blocks(self, messages: Iterable[Message]) -> Iterator[BuiltBlock]:
        """The blocks of `messages`, which are in the document's order, each as soon as the next one opens."""
        planned = plan_new(messages, self._options, self._continuity)
        before: Sequence[Planned] = ()
        laid: list[Block] = []
        while piece := list(islice(planned, _PIECE)):
            self.messages += len(piece)
            settled = self._settle(piece, before)
            for item in settled:
                if not laid or item.decision.action == "NEW_BLOCK":
                    laid.append(Block(next(self._ids), [], changed=True))
                laid[-1].message_ids.append(item.scored.message.message_id)
                laid[-1].members.append(item)
            yield from self._close(laid[:-1])
            laid, before = laid[-1:], settled[-self._options.context :]
        yield from self._close(laid)

    def _settle(self, piece: Sequence[Planned], before: Sequence[Planned]) -> list[Planned]:
        verdicts = Verdicts()
        if self._advisor:
            verdicts = self._advisor.decide_zone([*before, *piece], self._left())
            self.shift_calls += verdicts.calls
        return settle(piece, {each: verdict.decision for each, verdict in verdicts.of.items()}, self._options)

    def _close(self, blocks: Sequence[Block]) -> Iterator[BuiltBlock]:
        summaries = Summaries()
        if self._advisor and self._options.summarize and blocks:
            left = self._left()
            summaries = self._advisor.summarise(blocks, left, calls_left=left.max_llm_calls)
            self.summary_calls += summaries.calls
        return (built(block, self._options, summaries, self.model) for block in blocks)

    def _left(self) -> Options:
        used = self.shift_calls + self.summary_calls
        return replace(self._options, max_llm_calls=max(0, self._options.max_llm_calls - used))
