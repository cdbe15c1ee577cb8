"""What a guest leaves behind is checked, whatever it is."""

import base64
import json

from hypothesis import given
from hypothesis import strategies as st

from satchel.sandbox.answer import conclude
from satchel.sandbox.model import Limits

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 20
LIMITS = Limits(output_bytes=10, value_bytes=50, artefacts=2, artefact_bytes=60)


def concluded(answer=b"", *, ended=None, stdout=b"", stderr=b""):
    raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return conclude(
        ended=ended, stdout=stdout, stderr=stderr, answer=raw, limits=LIMITS, layers=("wall",), duration_ms=1
    )


def picture(name="a.png", data=PNG):
    return {"name": name, "base64": base64.b64encode(data).decode()}


@given(st.binary(max_size=200) | st.recursive(st.none() | st.text() | st.floats() | st.integers(), st.lists).map(repr))
def test_no_answer_of_a_guest_is_an_exception(raw):
    result = concluded(raw if isinstance(raw, bytes) else raw.encode("utf-8", "replace"))
    assert result.status in {"ok", "error", "crashed", "memory_limit", "output_limit"}


def test_a_program_that_says_nothing_has_crashed():
    assert concluded().status == "crashed"
    assert concluded(stderr=b"MemoryErr").status == "crashed"
    assert concluded(stderr=b"MemoryError\n").status == "output_limit"


def test_a_guest_cannot_claim_a_status_that_only_the_engine_knows():
    assert concluded({"status": "time_limit"}).status == "crashed"
    assert concluded({"status": "ok"}, ended="time_limit").status == "time_limit"


def test_output_over_the_limit_outranks_every_other_ending():
    assert concluded({"status": "ok"}, stdout=b"x" * 11).status == "output_limit"
    assert concluded({"status": "ok"}, stdout=b"x" * 11, ended="time_limit").status == "output_limit"


def test_numbers_that_other_readers_would_bend_are_text_or_null():
    raw = b'{"status": "ok", "value": [9007199254740993, NaN, Infinity, true]}'
    assert concluded(raw).value == ["9007199254740993", None, None, True]


def test_what_a_database_cannot_hold_is_replaced():
    assert concluded(b'{"status": "ok", "value": "a\\u0000\\ud800"}').value == "a\N{REPLACEMENT CHARACTER}?"


def test_a_value_nested_without_end_is_left_out():
    result = concluded(b'{"status": "ok", "value": ' + b"[" * 900 + b"]" * 900 + b"}")
    assert (result.value, result.truncated) == (None, ("value",))


def test_only_pictures_within_the_limits_are_kept():
    found = [picture("b.png"), picture("a.png"), picture("c.png")]
    result = concluded({"status": "ok", "artefacts": found})
    assert [artefact.name for artefact in result.artefacts] == ["a.png", "b.png"]
    assert result.truncated == ("artefacts",)


def test_what_is_no_picture_is_no_artefact():
    found = [
        picture("../up.png"),
        picture("back\\up.png"),
        picture(".hidden.png"),
        picture("gnp.\u202eexe.png"),
        picture("two\nlines.png"),
        picture("\ud800.png"),
        picture(data=b"<html>"),
        {"name": "x.png", "base64": "not base64!"},
        {"name": 5, "base64": ""},
        "x.png",
    ]
    result = concluded({"status": "ok", "artefacts": found})
    assert (result.artefacts, result.truncated) == ((), ("artefacts",))
