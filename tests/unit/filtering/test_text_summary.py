from pathlib import Path

import pytest

from satchel.filtering import intent, log_templates
from satchel.filtering.text_summary import kind_of, summarise
from satchel.filtering.tool_profiles import ToolProfile
from tests.support.filtering import create_mock_intent_analysis

GENERIC = ToolProfile("generic")

LOG = "\n".join(
    f"2024-01-01T10:{i // 60:02d}:{i % 60:02d}Z "
    + (f"ERROR pool: connection to 10.0.0.{i} refused" if i % 100 == 7 else f"INFO job {i} done in {i * 3}ms")
    for i in range(1_500)
)
CODE = Path(intent.__file__).read_text(encoding="utf-8")
DOCUMENT = "\n\n".join(
    ["# Handbook", "Welcome to the team. This text says what to do."]
    + [f"## Chapter {i}\n\nIn chapter {i} we talk about nothing in particular, at length. " * 3 for i in range(20)]
    + ["## Refunds\n\nA refund of 120 euros is approved by Maria Lopez within 5 days."]
    + [f"Closing words number {i}." for i in range(60)]
)


@pytest.mark.parametrize(
    ("text", "kind"), [(LOG, "log"), (CODE, "code"), (DOCUMENT, "document"), ("one line", "document")]
)
def test_the_kind_of_a_text_is_told_by_its_lines(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_a_log_becomes_templates_with_counts_worst_first() -> None:
    summary = summarise(LOG, create_mock_intent_analysis(keywords=("connection",), intent=""), GENERIC)
    lines = summary.text.splitlines()
    assert lines[0] == "1500 lines, 2 templates"
    assert lines[1].startswith("15x ERROR pool: connection to <*> refused")
    assert lines[2].startswith("  first: 2024-01-01T10:00:07Z ERROR")
    assert "1485x INFO job <*> done in <*>" in summary.text
    assert "matching lines:" in lines
    assert len(summary.text) < len(LOG) / 5
    assert summary.total == 1_500


def test_code_keeps_signatures_and_the_parts_that_match() -> None:
    summary = summarise(
        CODE, create_mock_intent_analysis(keywords=("specificity",), intent=""), GENERIC, max_chars=2_000
    )
    assert "def _specificity(word: str) -> float:" in summary.text
    assert "[… " in summary.text
    assert len(summary.text) < len(CODE) / 2


def test_a_document_keeps_structure_and_matching_passages_in_order() -> None:
    summary = summarise(DOCUMENT, create_mock_intent_analysis(keywords=("refund",), intent=""), GENERIC)
    assert "A refund of 120 euros is approved by Maria Lopez" in summary.text
    assert summary.text.index("# Handbook") < summary.text.index("## Refunds")
    assert len(summary.text) < len(DOCUMENT) / 2


def test_kept_and_removed_units_are_the_whole_text() -> None:
    for text in (LOG, CODE, DOCUMENT):
        summary = summarise(text, create_mock_intent_analysis(keywords=("connection", "refund")), GENERIC)
        assert 0 < len(summary.removed) <= summary.total


def test_one_endless_line_is_cut_in_bounded_pieces() -> None:
    summary = summarise("x" * 200_000, create_mock_intent_analysis(), GENERIC)
    assert len(summary.text) < 10_000
    assert summary.total > 300


def test_more_templates_than_the_summary_holds_are_counted() -> None:
    names = ["".join(chr(97 + (i // 26**k) % 26) for k in range(4)) for i in range(700)]
    lines = [f"INFO {name} started {name} {name}" for name in names]
    assert len(log_templates.templates(lines)) == log_templates.MAX_TEMPLATES
    summary = summarise("\n".join(lines), create_mock_intent_analysis(), GENERIC, max_chars=500)
    assert "more templates …]" in summary.text
    assert len(summary.text) < 700


def test_lines_that_only_differ_in_their_numbers_share_a_template() -> None:
    [template] = log_templates.templates(["GET /a/1 200 in 3ms", "GET /b/2 200 in 9ms"])
    assert (template.count, template.text) == (2, "GET <*> <*> in <*>")
    assert log_templates.templates(["", ""])[0].count == 2
