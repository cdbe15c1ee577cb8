from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from satchel.filtering.object_filter import FieldLimits, select_fields
from satchel.filtering.tool_profiles import ToolProfile
from tests.support.filtering import create_mock_intent_analysis

GENERIC = ToolProfile("generic")


def cut(value: dict[str, Any], limits: FieldLimits | None = None, **intent: Any) -> Any:
    return select_fields(value, create_mock_intent_analysis(**intent), GENERIC, limits or FieldLimits())


ACCOUNT = {
    "id": 7,
    "timestamp": "2024-01-01T00:00:00Z",
    "status": "ok",
    "billingCity": "Paris",
    "note": "the invoice was late",
    "profile": {"invoice_total": 12, "theme": "dark"},
    **{f"field_{i}": i for i in range(30)},
}


def test_fields_are_kept_by_name_and_by_value() -> None:
    selection = cut(ACCOUNT, keywords=("invoice", "billing"), intent="")
    assert selection.data == {
        "id": 7,
        "timestamp": "2024-01-01T00:00:00Z",
        "status": "ok",
        "billingCity": "Paris",
        "note": "the invoice was late",
        "profile": {"invoice_total": 12},
    }
    assert selection.total == 37
    assert {removal.reason for removal in selection.removed} == {"field_not_relevant"}
    assert ("profile", "theme") in {removal.path for removal in selection.removed}


def test_preserved_fields_stay_by_name_or_path() -> None:
    selection = cut(ACCOUNT, FieldLimits(preserve=frozenset({"profile", "field_3"})), keywords=("billing",), intent="")
    assert selection.data["profile"] == ACCOUNT["profile"]
    assert selection.data["field_3"] == 3
    assert "field_4" not in selection.data


def test_at_most_so_many_fields_stay() -> None:
    selection = cut(ACCOUNT, FieldLimits(max_fields=2), keywords=("field",), intent="")
    assert [key for key in selection.data if key.startswith("field")] == ["field_0", "field_1"]
    assert {r.reason for r in selection.removed} >= {"exceeded_max_fields"}


def test_what_is_nested_too_deep_is_removed_whole() -> None:
    value = {"invoice": {"a": {"b": 1}}, "flat": "invoice"}
    selection = cut(value, FieldLimits(max_depth=2, forced=True), keywords=("invoice",), intent="")
    assert selection.data == {"flat": "invoice"}
    assert [(r.path, r.reason) for r in selection.removed] == [(("invoice", "a"), "exceeded_max_depth")]


def test_a_small_object_passes_whole_unless_limits_were_set() -> None:
    value = {"balance": 5, "currency": "USD"}
    assert cut(value, keywords=("balance",)).data == value
    assert cut(value, FieldLimits(forced=True), keywords=("balance",), intent="").data == {"balance": 5}


def test_an_object_that_answers_to_nothing_keeps_its_first_fields() -> None:
    selection = cut({f"f{i}": i for i in range(40)}, keywords=("zebra",), intent="")
    assert list(selection.data) == [f"f{i}" for i in range(20)]


def test_columns_asked_for_are_fields_wanted() -> None:
    selection = cut(ACCOUNT, keywords=(), intent="", filters={"columns": ["theme"]})
    assert selection.data["profile"] == {"theme": "dark"}


values = st.recursive(
    st.one_of(st.integers(), st.text("ab ", max_size=5), st.none(), st.lists(st.integers(), max_size=2)),
    lambda inner: st.dictionaries(st.text("abcxyz", min_size=1, max_size=3), inner, max_size=5),
    max_leaves=30,
)


@given(st.dictionaries(st.text("abcxyz", min_size=1, max_size=3), values, max_size=12), st.integers(1, 5))
def test_kept_and_removed_fields_are_all_fields(value: dict[str, Any], most: int) -> None:
    selection = cut(value, FieldLimits(max_fields=most, forced=True), keywords=("a", "xy"), intent="")
    again = cut(selection.data, FieldLimits(max_fields=1_000, max_depth=50), keywords=(), intent="")
    assert len(selection.removed) + again.total >= selection.total
    assert selection.total >= len(selection.removed)
