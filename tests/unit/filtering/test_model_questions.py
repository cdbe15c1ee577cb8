"""What a language model changes, with a scripted one."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from satchel.filtering.answering import FilterCall
from satchel.filtering.model_questions import ModelReader
from satchel.filtering.tool_profiles import default_profiles
from satchel.llm.ledger import Record
from satchel.llm.structured import ModelFailedError, Question
from tests.support.filtering import WordSanitiser, create_mock_intent_analysis, create_test_filter_engine

CALL = FilterCall("slack_search_messages", {"query": "breach SECRETWORD"}, [], question="Was there a breach?")
BY_RULES = create_mock_intent_analysis(intent="breach", keywords=("breach",), max_results=10, confidence=0.5)


class MemoryLedger:
    def __init__(self) -> None:
        self.records: dict[str, Record] = {}

    def find(self, keys: Any) -> dict[str, Record]:
        return {key: self.records[key] for key in keys if key in self.records}

    def keep(self, records: Mapping[str, Record], *, replace: bool) -> dict[str, Record]:
        self.records |= records
        return dict(records)


class ScriptedModel:
    """Answers from a script; plays the part of the document's MockLLMProvider in unit tests."""

    name = "scripted"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    def ask(self, question: Question, *, timeout_s: float) -> dict[str, Any]:
        self.asked.append(question)
        answer = self.answers.pop(0) if self.answers else ModelFailedError("unavailable")
        if isinstance(answer, Exception):
            raise answer
        return answer


def reader(model: ScriptedModel, **fields: Any) -> ModelReader:
    given: dict[str, Any] = {
        "model": model,
        "ledger": MemoryLedger(),
        "sanitiser": WordSanitiser("SECRETWORD"),
        "profile": default_profiles().of_tool("slack"),
        "tool_name": "slack_search_messages",
        "seconds_left": lambda: 20.0,
    }
    return ModelReader(**(given | fields))


def test_the_models_intent_adds_to_that_of_the_rules():
    answer = {"intent": "Find intrusions", "keywords": ["intrusion", "breach"], "max_results": 5, "confidence": 0.9}
    model = ScriptedModel(answer)
    intent = reader(model, prompt_template="Mind the tone.").improve(CALL, BY_RULES)
    assert intent.keywords == ("breach", "intrusion")
    assert (intent.max_results, intent.confidence) == (5, 0.9)
    assert intent.intent == "breach\nFind intrusions"
    assert "SECRETWORD" not in model.asked[0].text
    assert model.asked[0].system.endswith("Mind the tone.")


@pytest.mark.parametrize(
    "answer",
    [
        {"intent": "x", "keywords": "breach", "max_results": None, "confidence": 0.5},
        {"intent": "x", "keywords": [" "], "max_results": None, "confidence": 0.5},
        {"intent": "x", "keywords": ["a"], "max_results": None, "confidence": 7},
        {"intent": "x", "keywords": ["a"], "max_results": None, "confidence": True},
        ModelFailedError("refused", may_retry=False),
    ],
)
def test_an_answer_that_does_not_fit_leaves_the_rules(answer):
    assert reader(ScriptedModel(answer, answer)).improve(CALL, BY_RULES) == BY_RULES


def test_a_number_that_the_call_named_is_not_overruled():
    answer = {"intent": "x", "keywords": ["a"], "max_results": 500, "confidence": 1}
    named = replace(BY_RULES, max_results=3)
    assert reader(ScriptedModel(answer)).improve(CALL, named).max_results == 3
    bad = {**answer, "max_results": 0, "intent": None}
    assert reader(ScriptedModel(bad)).improve(CALL, BY_RULES).intent == "breach"


def test_items_are_judged_in_one_question_and_the_same_again_from_the_ledger():
    model = ScriptedModel({"scores": [0.2, 1]})
    asks = reader(model)
    items = [{"text": "SECRETWORD one"}, {"text": "two"}]
    assert asks.judge(items, BY_RULES) == [0.2, 1.0]
    assert asks.judge(items, BY_RULES) == [0.2, 1.0]
    assert len(model.asked) == 1
    assert "SECRETWORD" not in model.asked[0].text
    assert list(json.loads(model.asked[0].text)["items"]) == ["1", "2"]


@pytest.mark.parametrize("scores", [[0.5], [0.5, 2], [0.5, "x"], [0.5, True], None])
def test_scores_that_do_not_fit_are_not_used(scores):
    model = ScriptedModel(*[{"scores": scores}] * 4)
    assert reader(model).judge(["a", "b"], BY_RULES) is None


def test_without_time_nothing_is_asked():
    model = ScriptedModel({"scores": [1]})
    assert reader(model, seconds_left=lambda: 0.0).judge(["a"], BY_RULES) is None
    assert model.asked == []


def test_a_summary_is_the_models_or_none():
    assert reader(ScriptedModel({"summary": "short"})).summarise("long", BY_RULES) == "short"
    assert reader(ScriptedModel({"summary": " "})).summarise("long", BY_RULES) is None
    assert reader(ScriptedModel()).summarise("long", BY_RULES) is None


def test_the_engine_uses_the_judge_for_items_that_share_no_word():
    model = ScriptedModel({"scores": [0.9]}, {"scores": [0.8] + [0.1] * 28})
    engine = create_test_filter_engine(judge=reader(model).judge)
    items = ["a breach was found", "intruders got in", *[f"lunch {i}" for i in range(28)]]
    result = engine.filter_response(items, replace(BY_RULES, max_results=3), tool_name="x", explain="full")
    assert result.data == items[:2]
    assert result.removed_by_reason == {"llm_relevance_low": 28}
    assert result.strategy == "array:bm25+llm"
