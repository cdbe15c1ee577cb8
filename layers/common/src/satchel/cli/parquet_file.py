"""Candles of a Parquet file as the CSV text that `import_candles` takes: Parquet is read where the file is."""

import csv
import io
from importlib import import_module
from pathlib import Path
from typing import Any

from satchel.cli.errors import CommandError

_ROWS = 10_000
# Times with a zone as milliseconds: to write them, duckdb would need an extension. Floats of 32 bits with the digits
# they have, not with those that they get as floats of 64.
_SHOWN = {"TIMESTAMP WITH TIME ZONE": "epoch_ms({})", "FLOAT": "{}::VARCHAR"}


def parquet_as_csv(path: Path) -> str:
    """The table with its column names; every number as its shortest exact text.

    Raises:
        CommandError: duckdb, which reads it, is not installed, or the file is no Parquet.
    """
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        raise CommandError("Reading Parquet needs duckdb: .venv/bin/pip install duckdb") from error
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    with duckdb.connect(":memory:") as connection:
        try:
            columns = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
            replaced = ", ".join(
                _SHOWN[kind].format(quoted) + f" AS {quoted}"
                for name, kind, *_ in columns
                if kind in _SHOWN and (quoted := '"' + name.replace('"', '""') + '"')
            )
            shown = f"* REPLACE ({replaced})" if replaced else "*"
            table = connection.execute(f"SELECT {shown} FROM read_parquet(?)", [str(path)])  # noqa: S608 - quoted above
        except duckdb.Error as error:
            raise CommandError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
        lines.writerow(name for name, *_ in table.description)
        while rows := table.fetchmany(_ROWS):
            lines.writerows(rows)
    return text.getvalue()
