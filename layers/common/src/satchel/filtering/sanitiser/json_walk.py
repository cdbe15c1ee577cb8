"""Going through a JSON value: every text and number with what its surroundings say about it.

JSON inside strings is walked too, to a bounded depth, as a document of its own. Nothing recurses, so nesting is bounded
by memory alone.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from satchel.errors import InvalidInputError
from satchel.filtering.sanitiser.json_text import Path, parse_embedded
from satchel.filtering.sanitiser.named_blocks import is_open
from satchel.filtering.sanitiser.names import Kind, classify

_EMBEDDED_DEPTH = 8
_MAX_LEVELS = 20_000
_OPENS_JSON = '{[" \n\t\r'
# A number with fewer digits is no card; without a telling name it is nothing else either.
_LONG_NUMBER = 10**11
_VALUE_FIELDS = ("value", "Value", "VALUE", "val", "content", "defaultValue", "default")
_VALUE_NAMES = frozenset(_VALUE_FIELDS)
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
_COLUMN_FIELDS = frozenset({"columns", "headers", "fields", "header", "column_names", "columnNames", "cols"})
_ROW_FIELDS = ("rows", "data", "values", "records", "results")
# What an object is about may be told by these fields.
_TELLING = _VALUE_NAMES | _COLUMN_FIELDS | {"kty", "kind"}
_JWK_PRIVATE: Mapping[str | int, Kind] = dict.fromkeys(("d", "p", "q", "dp", "dq", "qi", "k"), Kind.SECRET)
_NONE: Mapping[Any, Any] = MappingProxyType({})


def _none() -> Mapping[Any, Any]:
    return _NONE


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
    kinds: Mapping[str | int, Kind] = field(default_factory=_none)  # of fields, by more than their names
    row_kinds: Mapping[str | int, Kind] = field(default_factory=_none)  # of the fields of each array in it
    field_kinds: Mapping[str, Mapping[str | int, Kind]] = field(
        default_factory=_none
    )  # of the fields of an object in it
    level: int = 0

    def path_of(self, key: str | int) -> Path:
        """Path of one of its fields, within its document."""
        steps: list[str | int] = []
        container = self
        while container.parent is not None:
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


class Shape(NamedTuple):
    """What the names of an object's fields say: the kinds of some, and whether others are to be looked at closely."""

    kinds: Mapping[str | int, Kind]
    is_telling: bool


@dataclass(slots=True)
class Walk:
    """All texts and telling numbers, all objects, and all documents, outer ones before inner ones.

    Leaves are kept as columns, since there are many and hardly one is ever asked for.
    """

    documents: list[Document] = field(default_factory=list[Document])
    objects: list[Container] = field(default_factory=list[Container])
    shapes: dict[tuple[str, ...], Shape] = field(default_factory=dict[tuple[str, ...], Shape])
    texts: list[str] = field(default_factory=list[str])
    kinds: dict[int, Kind] = field(default_factory=dict[int, Kind])
    keys: list[str | int] = field(default_factory=list[str | int])
    _numbers: set[int] = field(default_factory=set[int])
    _owners: list[Container] = field(default_factory=list[Container])
    _owner_starts: list[int] = field(default_factory=list[int])

    def leaf(self, index: int) -> Leaf:
        """The leaf of `texts[index]`."""
        container = self._owners[bisect_right(self._owner_starts, index) - 1]
        return Leaf(self.texts[index], container, self.keys[index], self.kinds.get(index), index in self._numbers)

    def enter(self, container: Container) -> None:
        """Say that the leaves that follow are this container's."""
        self._owners.append(container)
        self._owner_starts.append(len(self.texts))

    def add(self, text: str, key: str | int, kind: Kind | None, *, is_number: bool) -> None:
        """Note a leaf of the container entered last."""
        if kind is not None:
            self.kinds[len(self.texts)] = kind
        if is_number:
            self._numbers.add(len(self.texts))
        self.texts.append(text)
        self.keys.append(key)


def walk(root: Any) -> Walk:
    """Collect the leaves of a JSON value.

    Raises:
        InvalidInputError: The value is nested beyond 20,000 levels, or contains itself.
    """
    seen = Walk()
    pending: list[Container] = []
    _open(Document(), root, seen, pending, kind=None, level=0)
    for container in pending:  # it grows while it is gone through: outer before inner, earlier before later
        if container.level > _MAX_LEVELS:
            raise InvalidInputError("the value is nested too deeply")
        seen.enter(container)
        value: Any = container.value
        if isinstance(value, dict):
            _walk_object(cast("dict[str, Any]", value), container, seen, pending)
        else:
            _walk_array(cast("list[Any]", value), container, seen, pending)
    return seen


def _walk_object(value: dict[str, Any], container: Container, seen: Walk, pending: list[Container]) -> None:
    seen.objects.append(container)
    names = tuple(value)
    shape = seen.shapes.get(names)
    if shape is None:
        shape = seen.shapes[names] = _shape(names)
    if shape.is_telling:
        _note_pair(value, container)
        _note_columns(value, container)
        _note_secrets(value, container)
    told: Mapping[str | int, Kind] = shape.kinds
    if container.kinds:
        told = {**told, **container.kinds}
    if container.kind is not None:
        told = {**dict.fromkeys(_NEUTRAL_NAMES.intersection(names), container.kind), **told}
    texts, keys = seen.texts, seen.keys
    for key, child in value.items():
        if type(child) is str and (not child or child[0] not in _OPENS_JSON) and (not told or key not in told):
            texts.append(child)  # what nearly every field is, without a call
            keys.append(key)
        else:
            _visit(child, container, key, told.get(key), seen, pending)


def _shape(names: tuple[str, ...]) -> Shape:
    kinds: dict[str | int, Kind] = {name: kind for name in names if (kind := classify(name)) is not None}
    return Shape(kinds, not _TELLING.isdisjoint(names))


def _walk_array(value: list[Any], container: Container, seen: Walk, pending: list[Container]) -> None:
    if not container.kinds and len(value) > 1 and isinstance(value[0], list):
        _note_header(value, container)
    kinds, inherited = container.kinds, container.kind
    flag: Kind | None = None
    for index, child in enumerate(value):
        _visit(child, container, index, kinds.get(index) or flag or inherited, seen, pending)
        # A command line in pieces: the flag `--password`, then its value.
        flag = classify(child) if isinstance(child, str) and child[:1] == "-" and "=" not in child else None


def _visit(  # noqa: PLR0917 (called for every value: keywords cost a tenth of the walk)
    child: Any, container: Container, key: str | int, kind: Kind | None, seen: Walk, pending: list[Container]
) -> None:
    if isinstance(child, str):
        if child and child[0] in _OPENS_JSON and _opened(child, container, key, kind, seen, pending):
            return
        seen.add(child, key, kind, is_number=False)
    elif isinstance(child, (dict, list, tuple)):
        if child:
            pending.append(_inner(container, key, cast("Any", child), kind))
    elif child is None or child is True or child is False:
        return
    elif kind is not None or abs(child) >= _LONG_NUMBER:
        seen.add(str(child), key, kind, is_number=True)


def _open(
    document: Document, value: Any, seen: Walk, pending: list[Container], *, kind: Kind | None, level: int
) -> None:
    seen.documents.append(document)
    pending.append(Container(document, [value], kind=kind, level=level))


def _opened(  # noqa: PLR0917 (as above)
    text: str, container: Container, key: str | int, kind: Kind | None, seen: Walk, pending: list[Container]
) -> bool:
    """Whether the text holds JSON that is now walked as a document of its own."""
    depth = container.document.depth
    inner = parse_embedded(text) if depth < _EMBEDDED_DEPTH else None
    if inner is None:
        return False
    _open(Document(text, (container, key), depth + 1), inner, seen, pending, kind=kind, level=container.level)
    return True


def _inner(container: Container, key: str | int, child: Any, kind: Kind | None) -> Container:
    kinds = rows = _NONE
    if container.row_kinds or container.field_kinds:
        is_field = isinstance(container.value, dict)
        if isinstance(child, dict):
            kinds = container.field_kinds.get(str(key), _NONE)
        elif not is_field:
            kinds = container.row_kinds
        rows = container.row_kinds if is_field and key in _ROW_FIELDS else _NONE
    return Container(container.document, child, container, key, kind, kinds, rows, _NONE, container.level + 1)


def _note_pair(value: dict[str, Any], container: Container) -> None:
    """`{"name": "DB_PASSWORD", "value": "…"}`: the one names the other."""
    for value_field in _VALUE_FIELDS:
        if value_field in value:
            for name_field in _NAME_FIELDS:
                name = value.get(name_field)
                if isinstance(name, str) and (kind := classify(name)) is not None:
                    container.kinds = {**container.kinds, value_field: kind}
                    return


def _note_columns(value: dict[str, Any], container: Container) -> None:
    """`{"columns": ["id", "password"], "rows": [[1, "…"]]}`: a column's name is that of its cells."""
    for column_field in sorted(_COLUMN_FIELDS):
        columns = value.get(column_field)
        if isinstance(columns, list) and columns:
            container.row_kinds = _kinds_of(cast("list[Any]", columns))
            return


def _note_secrets(value: dict[str, Any], container: Container) -> None:
    """A JSON Web Key and a Kubernetes secret say of themselves which of their fields are secret."""
    if "kty" in value:
        container.kinds = {**container.kinds, **_JWK_PRIVATE}
    if value.get("kind") == "Secret":
        container.field_kinds = {
            part: {name: Kind.SECRET for name in cast("dict[str, Any]", fields) if not is_open(name)}
            for part in ("data", "stringData")
            if isinstance(fields := value.get(part), dict)
        }


def _note_header(value: list[Any], container: Container) -> None:
    """`[["id", "password"], [1, "…"]]`: the first row may name the cells of the others."""
    first = cast("list[Any]", value[0])
    kinds = _kinds_of(first)
    if kinds and all(isinstance(row, list) and len(cast("list[Any]", row)) == len(first) for row in value):
        container.row_kinds = kinds


def _kinds_of(columns: list[Any]) -> Mapping[str | int, Kind]:
    kinds: dict[str | int, Kind] = {}
    for index, column in enumerate(columns):
        name = cast("dict[str, Any]", column).get("name") if isinstance(column, dict) else column
        if not isinstance(name, str):
            return {}
        kind = classify(name)
        if kind is not None:
            kinds[index] = kind
    return kinds
