"""Uniform flat rows as a header and rows: the names of the fields once instead of in every item.

Pure.
"""

from typing import Any

from satchel.filtering.json_values import is_array, is_object

MIN_ROWS = 3


def as_table(items: list[Any]) -> dict[str, Any] | None:
    """`{"columns": [...], "rows": [[...], ...]}` of at least three objects with the same scalar fields, else None."""
    if len(items) < MIN_ROWS or not is_object(items[0]) or not items[0]:
        return None
    columns = list(items[0])
    wanted = set(columns)
    rows: list[list[Any]] = []
    for item in items:
        if not is_object(item) or item.keys() != wanted:
            return None
        row = [item[column] for column in columns]
        if any(is_object(value) or is_array(value) for value in row):
            return None
        rows.append(row)
    return {"columns": columns, "rows": rows}
