"""Putting changed leaves and keys back: copies of what changes, the given objects for everything else."""

from collections.abc import Mapping
from typing import Any, cast

from satchel.filtering.sanitiser import json_text
from satchel.filtering.sanitiser.json_walk import Container, Document


class Changes:
    """New values of fields and new names of keys, by the container they stand in."""

    def __init__(self) -> None:
        self._containers: dict[int, dict[int, Container]] = {}
        self._values: dict[int, dict[str | int, Any]] = {}
        self._names: dict[int, dict[str, str]] = {}

    def set(self, container: Container, key: str | int, value: Any) -> None:
        """Give a field a new value."""
        self._note(container)
        self._values.setdefault(id(container), {})[key] = value

    def rename(self, container: Container, names: dict[str, str]) -> None:
        """Give some keys of an object new names."""
        if names:
            self._note(container)
            self._names[id(container)] = names

    def values_of(self, container: Container) -> Mapping[str | int, Any]:
        """New values of the container's fields, by their old keys."""
        return self._values.get(id(container), {})

    def names_of(self, container: Container) -> Mapping[str, str]:
        """New names of the container's keys."""
        return self._names.get(id(container), {})

    def within(self, document: Document) -> list[Container]:
        """The document's containers in which something changes."""
        return list(self._containers.get(id(document), {}).values())

    def _note(self, container: Container) -> None:
        self._containers.setdefault(id(container.document), {})[id(container)] = container


def rebuild(documents: list[Document], changes: Changes) -> list[Any] | None:
    """The root with all changes in it, in a list of one; None where nothing changes.

    Inner documents are written first, each becoming a changed string of the one around it.
    """
    for document in reversed(documents):
        concerned = changes.within(document)
        if not concerned:
            continue
        if document.raw is None or document.place is None:
            return _copied(concerned, changes)
        values = {
            container.path_of(key): value
            for container in concerned
            for key, value in changes.values_of(container).items()
        }
        keys = {
            container.path_of(old): new for container in concerned for old, new in changes.names_of(container).items()
        }
        changes.set(*document.place, json_text.edit(document.raw, values, keys))
    return None


def _copied(concerned: list[Container], changes: Changes) -> list[Any]:
    copies: dict[int, Any] = {}
    root = concerned[0]
    for container in concerned:
        missing: list[Container] = []
        above: Container | None = container
        while above is not None and id(above) not in copies:
            missing.append(above)
            above = above.parent
        for step in reversed(missing):
            copies[id(step)] = _copy(step, changes)
            if step.parent is None:
                root = step
            else:
                copies[id(step.parent)][_new_key(step.parent, step.key, changes)] = copies[id(step)]
    return copies[id(root)]


def _copy(container: Container, changes: Changes) -> Any:
    values, names = changes.values_of(container), changes.names_of(container)
    value: Any = container.value
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {names.get(key, key): values.get(key, child) for key, child in fields.items()}
    return [values.get(index, child) for index, child in enumerate(value)]


def _new_key(container: Container, key: str | int, changes: Changes) -> str | int:
    return changes.names_of(container).get(key, key) if isinstance(key, str) else key


def shown_path(container: Container, key: str | int, changes: Changes) -> str:
    """The field's path for people and the audit log, through JSON in strings, with redacted keys as they are now."""
    steps: list[str] = []
    at: Container | None = container
    while at is not None:
        if at.parent is not None or at.document.place is None:
            if at.parent is not None:
                new = _new_key(at, key, changes)
                steps.append(f"[{new}]" if isinstance(new, int) else f".{new}")
                key = at.key
            at = at.parent
        else:
            at, key = at.document.place
    return "".join(reversed(steps)).lstrip(".")
