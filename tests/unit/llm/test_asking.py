from threading import Lock

import pytest

from satchel.errors import UnavailableError
from satchel.llm.asking import ask_all
from satchel.llm.structured import ModelFailedError, Question


def question(text="q", **changes):
    return Question(**{"prompt": "p.v1", "system": "s", "text": text, "schema": {}, "max_tokens": 10, **changes})


class Model:
    name = "claude-test"

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.asked = []
        self.lock = Lock()

    def ask(self, asked, *, timeout_s):
        with self.lock:
            self.asked.append((asked.text, timeout_s))
            outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Ledger:
    def __init__(self, *, is_down=False):
        self.records = {}
        self.is_down = is_down

    def find(self, keys):
        if self.is_down:
            raise UnavailableError("down")
        return {key: self.records[key] for key in keys if key in self.records}

    def keep(self, records, *, replace):
        if self.is_down:
            raise UnavailableError("down")
        for key, record in records.items():
            if replace or key not in self.records:
                self.records[key] = record
        return self.find(records)


def ask(questions, model, ledger, *, seconds=10.0, **options):
    return ask_all(questions, model=model, ledger=ledger, seconds_left=lambda: seconds, **options)


def test_an_answer_is_asked_for_once_and_then_comes_from_the_ledger():
    model, ledger = Model({"a": 1}, {"a": 2}), Ledger()
    first = ask([question()], model, ledger)
    assert ask([question()], model, ledger) == first
    assert first[0].answer == {"a": 1}
    assert len(model.asked) == 1


def test_a_failure_is_retried_once_and_then_kept_with_its_cause():
    model, ledger = Model(ModelFailedError("invalid"), ModelFailedError("timeout"), {"late": 1}), Ledger()
    assert ask([question()], model, ledger)[0].failure == "timeout"
    assert ask([question()], model, ledger)[0].failure == "timeout"
    assert len(model.asked) == 2


def test_a_retry_that_succeeds_counts():
    assert ask([question()], Model(ModelFailedError("unavailable"), {"a": 1}), Ledger())[0].answer == {"a": 1}


def test_a_rejected_question_is_not_repeated():
    model = Model(ModelFailedError("rejected", may_retry=False))
    assert ask([question()], model, Ledger())[0].failure == "rejected"
    assert len(model.asked) == 1


def test_the_better_of_two_half_answers_is_kept():
    model = Model({"share": 0.5}, {"share": 0.2})
    record = ask([question()], model, Ledger(), worth=lambda _question, answer: answer["share"])[0]
    assert record.answer == {"share": 0.5}


def test_a_half_answer_survives_a_failed_retry():
    model = Model({"share": 0.5}, ModelFailedError("timeout"))
    record = ask([question()], model, Ledger(), worth=lambda _question, answer: answer["share"])[0]
    assert record.answer == {"share": 0.5}


def test_out_of_time_is_kept_too():
    model, ledger = Model({"a": 1}), Ledger()
    assert ask([question()], model, ledger, seconds=0.2)[0].failure == "out_of_time"
    assert ask([question()], model, ledger)[0].failure == "out_of_time"
    assert model.asked == []


def test_refresh_asks_again_and_replaces():
    model, ledger = Model({"a": 1}, {"a": 2}), Ledger()
    ask([question()], model, ledger)
    assert ask([question()], model, ledger, refresh=True)[0].answer == {"a": 2}
    assert ask([question()], model, ledger)[0].answer == {"a": 2}


def test_a_ledger_that_is_down_asks_nobody():
    model = Model({"a": 1})
    with pytest.raises(UnavailableError):
        ask([question()], model, Ledger(is_down=True))
    assert model.asked == []


def test_records_come_in_the_order_of_the_questions_and_twins_are_asked_once():
    model = Model({"a": 1})
    records = ask([question("x"), question("y"), question("x")], model, Ledger())
    assert len(records) == 3
    assert sorted(text for text, _ in model.asked) == ["x", "y"]


@pytest.mark.parametrize(
    "changes", [{"prompt": "p.v2"}, {"system": "t"}, {"text": "r"}, {"schema": {"a": 1}}, {"max_tokens": 11}]
)
def test_whatever_decides_the_answer_is_in_the_key(changes):
    assert question(**changes).key("m") != question().key("m")
    assert question().key("n") != question().key("m")
    assert question().key("m") == question().key("m")
