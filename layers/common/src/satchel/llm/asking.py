"""Asks many questions at once, from the ledger where it can, within a stated time, each at most twice."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from satchel.llm.ledger import Ledger, Record
from satchel.llm.structured import ModelFailedError, Question, StructuredModel

_PARALLEL = 8
_ATTEMPTS = 2
# An attempt with less time than this is not worth its cost.
_LEAST_S = 1.0
OUT_OF_TIME = "out_of_time"


def ask_all(
    questions: Sequence[Question],
    *,
    model: StructuredModel,
    ledger: Ledger,
    seconds_left: Callable[[], float],
    refresh: bool = False,
    worth: Callable[[Question, Mapping[str, Any]], float] = lambda _question, _answer: 1.0,
) -> list[Record]:
    """What came of each question, in their order; always what the ledger holds, so the next time is the same.

    Args:
        questions: What to ask.
        model: Who is asked what the ledger does not know.
        ledger: The user's ledger.
        seconds_left: Seconds until the answers must be there; read again before every attempt.
        refresh: Ask again though there is a record, and replace it.
        worth: How much of an answer is of use, in [0, 1]; one under 1 is asked for again once, and the better kept.

    Raises:
        UnavailableError: The ledger does not answer. Answers that cannot be kept are not used.
    """
    keys = [question.key(model.name) for question in questions]
    found = {} if refresh or not keys else ledger.find(keys)
    missing = {key: question for key, question in zip(keys, questions, strict=True) if key not in found}
    if missing:
        with ThreadPoolExecutor(min(_PARALLEL, len(missing))) as pool:
            asked = [pool.submit(_ask, question, model, seconds_left, worth) for question in missing.values()]
        answers = dict(zip(missing, (each.result() for each in asked), strict=True))
        found |= ledger.keep(answers, replace=refresh)
    return [found[key] for key in keys]


def _ask(
    question: Question,
    model: StructuredModel,
    seconds_left: Callable[[], float],
    worth: Callable[[Question, Mapping[str, Any]], float],
) -> Record:
    best = Record(question.prompt, model.name, None, OUT_OF_TIME)
    best_worth = -1.0
    for _attempt in range(_ATTEMPTS):
        timeout_s = seconds_left()
        if timeout_s < _LEAST_S:
            break
        try:
            answer = model.ask(question, timeout_s=timeout_s)
        except ModelFailedError as error:
            if best.answer is None:
                best = Record(question.prompt, model.name, None, error.cause)
            if not error.may_retry:
                break
            continue
        value = worth(question, answer)
        if value > best_worth:
            best, best_worth = Record(question.prompt, model.name, answer, None), value
        if value >= 1:
            break
    return best
