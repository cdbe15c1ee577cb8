"""A picture of a backtest: equity above, drawdown below, as a PNG (RFC 2083) with nothing but the standard library."""

import struct
import zlib
from collections.abc import Sequence

WIDTH, HEIGHT = 800, 420
_MARGIN = 10
_EQUITY = (_MARGIN, 270)
_DRAWDOWN = (290, HEIGHT - _MARGIN)
# Palette: background, grid, equity, drawdown.
_PALETTE = bytes((255, 255, 255, 222, 222, 222, 31, 119, 180, 214, 39, 40))
_GRID, _BLUE, _RED = 1, 2, 3
_GRID_LINES = 4


def equity_png(equity: Sequence[float], drawdown: Sequence[float]) -> bytes:
    """Draw both lines over time, left to right; each has the whole of its own range.

    Where a column of the picture stands for several bars, it shows their whole range.

    Args:
        equity: Money at every bar.
        drawdown: Share of the peak lost at every bar, drawn downwards from 0.
    """
    canvas = [bytearray(WIDTH) for _ in range(HEIGHT)]
    for top, bottom in (_EQUITY, _DRAWDOWN):
        for line in range(_GRID_LINES + 1):
            row = top + (bottom - top) * line // _GRID_LINES
            canvas[row][_MARGIN : WIDTH - _MARGIN] = bytes([_GRID]) * (WIDTH - 2 * _MARGIN)
    _plot(canvas, equity, _EQUITY, _BLUE)
    _plot(canvas, [-share for share in drawdown], _DRAWDOWN, _RED)
    rows = b"".join(b"\0" + bytes(row) for row in canvas)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack("!IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", _PALETTE)
        + _chunk(b"IDAT", zlib.compress(rows, 9))
        + _chunk(b"IEND", b"")
    )


def _plot(canvas: list[bytearray], values: Sequence[float], band: tuple[int, int], colour: int) -> None:
    top, bottom = band
    low, high = min(values), max(values)
    scale = (bottom - top) / ((high - low) or 1)
    rows = [round(bottom - (value - low) * scale) for value in values]
    columns = WIDTH - 2 * _MARGIN
    previous = rows[0]
    for column in range(columns):
        start = column * len(rows) // columns
        shown = rows[start : max((column + 1) * len(rows) // columns, start + 1)]
        # From where the last column ended, so that the line has no gaps.
        for row in range(min(*shown, previous), max(*shown, previous) + 1):
            canvas[row][_MARGIN + column] = colour
        previous = shown[-1]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))
