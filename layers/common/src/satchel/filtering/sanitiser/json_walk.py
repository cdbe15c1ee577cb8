"""Going through a JSON value: every text and number with what its surroundings say about it.

JSON inside strings is walked too, to a bounded depth, as a document of its own. Nothing recurses, so nesting is bounded
by memory alone.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from satchel.errors import InvalidInputError
from satchel.filtering.sanitiser.json_text import Path, parse_embedded
from satchel.filtering.sanitiser.names import Kind, classify

_EMBEDDED_DEPTH = 8
_MAX_LEVELS = 20_000
_OPENS_JSON = '{[" \n\t\r'
# A number with fewer digits is no card; without a telling name it is nothing else either.
_LONG_NUMBER = 10**11
_VALUE_FIELDS = ("value", "Value", "VALUE", "val", "content", "defaultValue", "default")
_NAME_FIELDS = (
    "name",
    "Name",
    "NAME",
    "key",
    "Key",
    "header",
    "field",
    "variable",
    "label",
    "param",
    "parameter",
    "id",
)
_NEUTRAL_NAMES = frozenset(
    {"value", "val", "data", "text", "string", "current", "plain", "plaintext", "raw", "content", "default"}
)
_COLUMN_FIELDS = ("columns", "headers", "fields", "header", "column_names", "columnNames", "cols")
_ROW_FIELDS = ("rows", "data", "values", "records", "results")


@dataclass(slots=True)
class Document:
    """The value itself, or the JSON that one of its strings holds; `raw` is then that string.

    `place` is where that string stands in the document around it.
    """

    raw: str | None = None
    place: "tuple[Container, str | int] | None" = None
    depth: int = 0


@dataclass(slots=True)
class Container:
    """An object or array. The outermost one of a document is a list that only holds the root."""

    document: Document
    value: Any
    parent: "Container | None" = None
    key: str | int = 0
    kind: Kind | None = None
    kinds: dict[Any, Kind] = field(default_factory=dict)  # of its fields, where more than their names tells
    row_kinds: dict[Any, Kind] = field(default_factory=dict)  # of the fields of each array in it
    level: int = 0

    def path_of(self, key: str | int) -> Path:
        """Path of one of its fields, within its document."""
        steps: list[str | int] = []
        container: Container | None = self
        while container is not None and container.parent is not None:
            steps.append(key)
            key, container = container.key, container.parent
        return tuple(reversed(steps))


class Leaf(NamedTuple):
    """A text, or a number as text: where it stands, and the kind that its name gives it."""

    text: str
    container: Container
    key: str | int
    kind: Kind | None
    is_number: bool


class Walk(NamedTuple):
    """All leaves worth a look, all objects, and all documents, outer ones before inner ones."""

    documents: list[Document]
    leaves: list[Leaf]
    objects: list[Container]


def walk(root: Any) -> Walk:
    """Collect the leaves of a JSON value.

    Raises:
        InvalidInputError: The value is nested beyond 20,000 levels, or contains itself.
    """
    seen = Walk([], [], [])
    pending: list[Container] = []

    def open_document(document: Document, value: Any, kind: Kind | None, level: int) -> None:
        seen.documents.append(document)
        pending.append(Container(document, [value], kind=kind, level=level))

    open_document(Document(), root, None, 0)
    for container in pending:  # it grows while it is gone through: outer before inner, earlier before later
        if container.level > _MAX_LEVELS:
            raise InvalidInputError("the value is nested too deeply")
        document = container.document
        for key, child, kind in _fields(container, seen):
            if isinstance(child, str):
                if child and child[0] in _OPENS_JSON and document.depth < _EMBEDDED_DEPTH:
                    inner = parse_embedded(child)
                    if inner is not None:
                        open_document(
                            Document(child, (container, key), document.depth + 1), inner, kind, container.level
                        )
                        continue
                seen.leaves.append(Leaf(child, container, key, kind, is_number=False))
            elif isinstance(child, (dict, list, tuple)):
                if child:
                    kinds = (
                        container.row_kinds if isinstance(child, list) and not isinstance(container.value, dict) else {}
                    )
                    inner = Container(document, child, container, key, kind, kinds, level=container.level + 1)
                    if isinstance(container.value, dict) and key in _ROW_FIELDS:
                        inner.row_kinds = container.row_kinds
                    pending.append(inner)
            elif (
                child is not None
                and child is not True
                and child is not False
                and (kind is not None or abs(child) >= _LONG_NUMBER)
            ):
                seen.leaves.append(Leaf(str(child), container, key, kind, is_number=True))
    return seen


def _fields(container: Container, seen: Walk) -> "list[tuple[Any, Any, Kind | None]]":
    """Key, value and kind of each field."""
    value, inherited = container.value, container.kind
    if isinstance(value, dict):
        seen.objects.append(container)
        _pair_kinds(value, container)
        _column_kinds(value, container)
        kinds = container.kinds
        return [
            (
                key,
                child,
                kinds[key] if key in kinds else (classify(key) or (inherited if key in _NEUTRAL_NAMES else None)),
            )
            for key, child in value.items()
        ]
    if container.kinds:
        return [(index, child, container.kinds.get(index, inherited)) for index, child in enumerate(value)]
    if len(value) > 1 and isinstance(value[0], (list, tuple)):
        _header_row(value, container)
    fields: list[tuple[Any, Any, Kind | None]] = []
    flag: Kind | None = None
    for index, child in enumerate(value):
        fields.append((index, child, flag or inherited))
        # ["--password", "…"]
        flag = classify(child) if isinstance(child, str) and child[:1] == "-" and "=" not in child else None
    return fields


def _pair_kinds(value: dict[str, Any], container: Container) -> None:
    """`{"name": "DB_PASSWORD", "value": "…"}`: the one names the other."""
    for value_field in _VALUE_FIELDS:
        if value_field in value:
            for name_field in _NAME_FIELDS:
                name = value.get(name_field)
                if isinstance(name, str) and name_field != value_field and (kind := classify(name)) is not None:
                    container.kinds[value_field] = kind
                    return


def _column_kinds(value: dict[str, Any], container: Container) -> None:
    """`{"columns": ["id", "password"], "rows": [[1, "…"]]}`: a column's name is that of its cells."""
    for column_field in _COLUMN_FIELDS:
        columns = value.get(column_field)
        if isinstance(columns, list) and columns:
            names = [column.get("name") if isinstance(column, dict) else column for column in columns]
            container.row_kinds = _kinds_of(names)
            return


def _header_row(value: Any, container: Container) -> None:
    """`[["id", "password"], [1, "…"]]`: the first row may name the cells of the others."""
    kinds = _kinds_of(list(value[0]))
    if kinds and all(isinstance(row, (list, tuple)) and len(row) == len(value[0]) for row in value):
        container.row_kinds = kinds


def _kinds_of(names: list[Any]) -> dict[int, Kind]:
    if not all(isinstance(name, str) for name in names):
        return {}
    return {index: kind for index, name in enumerate(names) if (kind := classify(name)) is not None}
