import struct
import zlib

import pytest

from satchel.strategies.chart import HEIGHT, WIDTH, equity_png


def pixels(png):
    """The palette indices of a PNG of ours, by row; every checksum is checked on the way."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(png):
        (size,) = struct.unpack("!I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack("!I", png[at + 8 + size : at + 12 + size]) == (zlib.crc32(kind + data),)
        chunks[kind], at = data, at + 12 + size
    assert struct.unpack("!II", chunks[b"IHDR"][:8]) == (WIDTH, HEIGHT)
    raw = zlib.decompress(chunks[b"IDAT"])
    return [raw[row * (WIDTH + 1) + 1 : (row + 1) * (WIDTH + 1)] for row in range(HEIGHT)]


def column_of(rows, column, colour):
    return [row for row in range(HEIGHT) if rows[row][column] == colour]


def test_equity_rises_to_the_right_and_drawdown_hangs_from_the_top():
    rows = pixels(equity_png([100.0, 110.0, 120.0], [0.0, 0.5, 0.0]))
    left, right = column_of(rows, 10, 2), column_of(rows, WIDTH - 11, 2)
    assert min(left) > max(right)
    assert column_of(rows, 10, 3)[0] < column_of(rows, WIDTH // 2, 3)[-1]


def test_a_peak_of_one_bar_among_thousands_is_not_lost():
    values = [100.0] * 50_000
    values[12_345] = 200.0
    rows = pixels(equity_png(values, [0.0] * 50_000))
    assert 2 in rows[10]


@pytest.mark.parametrize("values", [[5.0], [5.0, 5.0], [0.0] * 3])
def test_a_flat_line_is_drawn_in_every_column(values):
    rows = pixels(equity_png(values, [0.0] * len(values)))
    assert all(column_of(rows, column, 2) for column in range(10, WIDTH - 10))
