"""Rows by the hundred thousand into PostgreSQL: numpy columns as one binary COPY."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor

_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_EPOCH = np.datetime64("2000-01-01", "us")


def copy_rows(cursor: Cursor, table: str, columns: Mapping[str, NDArray]) -> None:
    """Copy rows into a table.

    Args:
        cursor: Of a superuser's connection.
        table: Its name.
        columns: By name, each value in PostgreSQL's binary form and all of a column equally long; see the other
            functions here.
    """
    fields = [("fields", ">i2")]
    for name, column in columns.items():
        fields += [(f"{name} bytes", ">i4"), (name, column.dtype, column.shape[1:])]
    rows = np.empty(len(next(iter(columns.values()))), fields)
    rows["fields"] = len(columns)
    for name, column in columns.items():
        rows[name], rows[f"{name} bytes"] = column, column[:1].nbytes
    with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)") as copy:
        copy.write(_HEAD + rows.tobytes() + _END)


def texts(pattern: str, numbers: NDArray) -> NDArray:
    """Return a text for each number; the pattern gives all the same length."""
    return np.char.mod(pattern, numbers).astype(bytes)


def whole_numbers(numbers: NDArray, size: int) -> NDArray:
    """Return whole numbers of 2, 4 or 8 bytes."""
    return numbers.astype(f">i{size}")


def instants(times: NDArray) -> NDArray:
    """Return `datetime64` as timestamptz."""
    return whole_numbers((times.astype("datetime64[us]") - _EPOCH).astype(np.int64), 8)


def half_vectors(vectors: NDArray) -> NDArray:
    """Return the rows as pgvector's halfvec: the dimensions, two unused bytes, the numbers."""
    head = np.array([vectors.shape[1], 0], ">i2").view(np.uint8)
    numbers = vectors.astype(">f2").view(np.uint8)
    return np.concatenate([np.broadcast_to(head, (len(vectors), len(head))), numbers], axis=1)
