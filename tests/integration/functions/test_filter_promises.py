"""What holds for any request to `filter_response`: its answer is of the published form, and no log has its content."""

import io
import json
import logging
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from satchel import filter_wiring
from satchel.api import request_log
from satchel.api.listing import catalogue
from satchel.errors import UnavailableError
from satchel.filtering.payload import PayloadFilter
from satchel.filtering.sanitiser.sanitiser import Sanitiser
from satchel.filtering.store import FilterStore
from tests.conftest import direct

TOKEN = "ghp_" + "T3stOnly" * 4 + "1234"
PASSWORD = "Tide-Lantern-40"
SCHEMA = catalogue().tool("filter_response").output_schema
WORDS = st.text(max_size=8) | st.sampled_from(
    ("security", "patch", "보안 패치 😀", f"token {TOKEN}", "\ud800", "x" * 6_000)
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=25) | st.dictionaries(WORDS, inner, max_size=25),
    max_leaves=60,
)
REQUESTS = st.fixed_dictionaries(
    {"tool": st.fixed_dictionaries({"name": st.sampled_from(("slack_search", "jira_search", "db_query", "anything"))}),
     "response": VALUES},
    optional={
        "arguments": st.dictionaries(st.text(max_size=4), st.text(max_size=8), max_size=3),
        "question": st.sampled_from(("", "top 3 about security", "보안 패치", "without patch since 2024-01-01")),
        "intent": st.fixed_dictionaries({
            "intent": st.text(max_size=8), "keywords": st.lists(WORDS, max_size=3), "filters": st.just({}),
            "maxResults": st.integers(1, 5), "confidence": st.floats(0, 1),
        }),
        "config": st.fixed_dictionaries({}, optional={
            "maxDepth": st.integers(1, 4), "maxFields": st.integers(1, 5), "table": st.booleans(),
            "textThresholdChars": st.integers(1, 100),
            "redactionStrategy": st.sampled_from(("full", "partial", "remove")),
            "tokenEncoding": st.sampled_from(("bytes", "o200k_base")), "piiDetection": st.booleans(),
        }),
        "explain": st.sampled_from(("brief", "full", True, False)),
    },
)  # fmt: skip


def ask(invoke, **arguments: Any) -> dict[str, Any]:
    return invoke("filter_response", direct(arguments=arguments))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(REQUESTS)
def test_any_answer_is_of_the_published_form_and_goes_out_as_json(invoke, arguments):
    answer = ask(invoke, **arguments)
    assert "error" not in answer, answer
    sent = json.loads(json.dumps(answer["structuredContent"], allow_nan=False).encode())
    jsonschema.Draft202012Validator(SCHEMA).validate(sent)
    assert sent.keys() == SCHEMA["properties"].keys() - {"error"}
    metadata = sent["metadata"]
    assert metadata["filteredItemCount"] + sum(metadata["removedByReason"].values()) == metadata["originalItemCount"]
    assert TOKEN not in json.dumps(sent)


@pytest.fixture
def logged(capfd):
    """Gives all that was logged, printed or counted so far, as it leaves the process."""
    request_log.log_work("filter_response", "first")
    stream = io.StringIO()
    (handler,) = logging.getLogger("satchel").handlers
    before = handler.setStream(stream)

    def read() -> str:
        printed = capfd.readouterr()
        return stream.getvalue() + printed.out + printed.err

    yield read
    handler.setStream(before)


SECRETIVE = {
    "tool": {"name": f"slack_{PASSWORD}"},
    "arguments": {"query": f"security {TOKEN}", "password": PASSWORD},
    "question": f"security messages of {TOKEN}",
    "response": [{"text": f"security {i} {TOKEN}", "password": PASSWORD} for i in range(30)],
    "config": {"redactPatterns": [PASSWORD], "allowlist": [f"not {PASSWORD}"], "abTestId": PASSWORD},
}


def refuse(*_arguments, **_named):
    raise UnavailableError(f"the store says {TOKEN}") from ValueError(PASSWORD)


def fail(*_arguments, **_named):
    raise ValueError(f"a fault with {TOKEN} and {PASSWORD}")


@pytest.mark.parametrize(
    ("changes", "broken", "code"),
    [
        ({}, None, None),
        ({"explain": "full"}, None, None),
        ({"response": {f"{TOKEN}": PASSWORD, "note": {"password": PASSWORD}}}, None, None),
        ({"response": f"ERROR password={PASSWORD} {TOKEN}\n" * 300}, None, None),
        ({"config": {TOKEN: 1}}, None, "invalid_input"),
        ({"config": {"redactPatterns": [f"(?={TOKEN}"]}}, None, "invalid_input"),
        ({"intent": {"maxResults": TOKEN}}, None, "invalid_input"),
        ({}, (PayloadFilter, "filter", fail), None),
        ({}, (Sanitiser, "sanitise", fail), "internal"),
        ({}, (FilterStore, "keep", refuse), None),
        ({}, (FilterStore, "write_audit", refuse), "unavailable"),
        ({}, (filter_wiring, "engine", fail), "internal"),
    ],
    ids=[
        "array", "explained", "object", "text", "unknown-option", "bad-pattern", "bad-number", "filter-fails",
        "sanitiser-fails", "keeping-fails", "audit-fails", "fault",
    ],
)  # fmt: skip
def test_no_secret_of_a_request_is_logged(invoke, logged, changes, broken, code):
    with pytest.MonkeyPatch.context() as patch:
        if broken is not None:
            patch.setattr(*broken)
        answer = ask(invoke, **(SECRETIVE | changes))
    assert answer.get("error", {}).get("code") == code
    told = logged()
    assert '"function":"filter_response"' in told.replace(" ", "")
    assert TOKEN not in told
    assert PASSWORD not in told
