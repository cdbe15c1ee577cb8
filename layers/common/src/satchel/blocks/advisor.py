"""A language model as the advisor of a build, with the ledger behind it."""

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any

from satchel.blocks.builder import Block, Planned
from satchel.blocks.building import Summaries, Verdicts
from satchel.blocks.sessions import RULES_MODEL, Options
from satchel.blocks.summarise import is_phatic
from satchel.blocks.summary_questions import Summary, read_summaries, summary_questions
from satchel.blocks.zone_questions import Verdict, read_verdicts, zone_questions
from satchel.errors import UnavailableError
from satchel.llm.asking import ask_all
from satchel.llm.ledger import Ledger
from satchel.llm.structured import Question, StructuredModel


class ModelAdvisor:
    """Asks a model through the ledger; whatever it cannot say is left to the rules and told to the log.

    Args:
        model: Who is asked.
        ledger: The user's ledger. When it is down nobody is asked: an answer that cannot be kept would not repeat.
        seconds_left: Seconds until all answers must be there.
        log: Takes the name of an event and its counts.
    """

    def __init__(
        self,
        model: StructuredModel,
        ledger: Ledger,
        *,
        seconds_left: Callable[[], float],
        log: Callable[[str, dict[str, str | int]], None],
    ) -> None:
        self._model = model
        self._ledger = ledger
        self._seconds_left = seconds_left
        self._log = log
        self._is_down = False

    @property
    def name(self) -> str:
        """Who answers: the model, or `rules` once the ledger was found down."""
        return RULES_MODEL if self._is_down else self._model.name

    def decide_zone(self, planned: Sequence[Planned], options: Options) -> Verdicts:
        """See `Advisor.decide_zone`."""
        questions = zone_questions(planned, options.context)[: options.max_llm_calls]
        by_text = {zone.question.text: zone for zone in questions}
        answers = self._ask(
            [zone.question for zone in questions],
            options,
            lambda question, answer: _share(
                read_verdicts(by_text[question.text], answer), by_text[question.text].asked
            ),
        )
        verdicts: dict[str, Verdict] = {}
        used = 0
        for zone, answer in zip(questions, answers, strict=True):
            found = read_verdicts(zone, answer)
            used += bool(found)
            verdicts |= found
            if len(found) < len(zone.asked):
                self._log("zone_fell_back", {"asked": len(zone.asked), "answered": len(found)})
        return Verdicts(verdicts, used)

    def summarise(self, blocks: Sequence[Block], options: Options, *, calls_left: int) -> Summaries:
        """See `Advisor.summarise`. Blocks of greetings and thanks alone are not asked about."""
        wanted = [block for block in blocks if not all(is_phatic(item.scored) for item in block.members)]
        questions = summary_questions(wanted)[: max(0, calls_left)]
        by_text = {each.question.text: each for each in questions}
        answers = self._ask(
            [each.question for each in questions],
            options,
            lambda question, answer: _share(
                read_summaries(by_text[question.text], answer), by_text[question.text].asked
            ),
        )
        tags: dict[str, Summary] = {}
        used = 0
        for each, answer in zip(questions, answers, strict=True):
            found = read_summaries(each, answer)
            used += bool(found)
            tags |= found
            if len(found) < len(each.asked):
                self._log("summary_fell_back", {"asked": len(each.asked), "answered": len(found)})
        return Summaries(frozenset(block.block_id for block in wanted), tags, used)

    def _ask(
        self, questions: Sequence[Question], options: Options, worth: Callable[[Question, Mapping[str, Any]], float]
    ) -> list[Mapping[str, Any] | None]:
        if self._is_down or not questions:
            return [None] * len(questions)
        try:
            records = ask_all(
                questions,
                model=self._model,
                ledger=self._ledger,
                seconds_left=self._seconds_left,
                refresh=options.refresh_llm,
                worth=worth,
            )
        except UnavailableError:
            self._is_down = True
            self._log("ledger_is_down", {"questions": len(questions)})
            return [None] * len(questions)
        for record in records:
            if record.failure:
                self._log("model_failed", {"prompt": record.prompt, "cause": record.failure})
        return [record.answer for record in records]


def _share(found: Sized, asked: Sized) -> float:
    return len(found) / len(asked)
