"""Names of an object's keys, where some of them change."""

from collections.abc import Mapping
from typing import Any


def distinct_keys(value: Mapping[str, Any], changed: Mapping[str, str]) -> dict[str, str]:
    """New names for the keys of one object: the form that `changed` gives them, numbered from the second one on where keys collide."""
    concerned = [key for key in value if key in changed]
    if not concerned:
        return {}
    taken = {key for key in value if key not in changed}
    names: dict[str, str] = {}
    for key in concerned:
        name, number = changed[key], 1
        while name in taken:
            number += 1
            name = f"{changed[key]}#{number}"
        taken.add(name)
        names[key] = name
    return names
