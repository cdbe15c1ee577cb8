from datetime import UTC, datetime
from decimal import Decimal

import duckdb
import pytest

from satchel.cli import parquet_file
from satchel.cli.errors import CommandError
from satchel.cli.parquet_file import parquet_as_csv
from satchel.market.importing import read_csv


@pytest.mark.parametrize("time_type", ["TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_MS"])
def test_candles_come_with_their_digits_and_times(tmp_path, time_type):
    path = tmp_path / "candles.parquet"
    duckdb.execute(
        f"""COPY (SELECT TIMESTAMP '2025-01-01 00:00:00'::{time_type} + INTERVAL (n) HOUR AS "timestamp",
                         0.00001700::DECIMAL(18, 8) AS open, 0.1::DOUBLE AS high, 0.000017::DOUBLE AS low,
                         0.1::FLOAT AS close, 5000000000::BIGINT AS volume
                  FROM range(12000) AS t(n)) TO '{path}' (FORMAT parquet)"""
    )
    bars = list(read_csv(parquet_as_csv(path).splitlines()))
    assert len(bars) == 12_000
    first = bars[0]
    assert first.ts == datetime(2025, 1, 1, tzinfo=UTC)
    assert (str(first.open), first.high, first.low) == ("0.00001700", Decimal("0.1"), Decimal("0.000017"))
    assert first.volume == Decimal(5_000_000_000)


def test_what_is_no_parquet_is_told(tmp_path):
    path = tmp_path / "candles.parquet"
    path.write_text("ts,open\n")
    with pytest.raises(CommandError, match="cannot be read"):
        parquet_as_csv(path)
    with pytest.raises(CommandError, match="cannot be read"):
        parquet_as_csv(tmp_path / "none.parquet")


def test_without_its_reader_it_says_what_to_install(monkeypatch, tmp_path):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(parquet_file, "import_module", missing)
    with pytest.raises(CommandError, match="pip install duckdb"):
        parquet_as_csv(tmp_path / "x.parquet")
