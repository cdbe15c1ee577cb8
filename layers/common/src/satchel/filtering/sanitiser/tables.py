"""Credentials in tables written as text: a column's name stands once, in the header row, and its values lie below.

CSV and its kin, pipes (Markdown, psql, mysql), columns set apart by blanks, and SQL `INSERT INTO … (…) VALUES (…)`.
"""

from collections.abc import Iterator

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.names import Kind, classify
from satchel.filtering.sanitiser.patterns import compile_bytes
from satchel.filtering.sanitiser.span import Span, assigned
from satchel.filtering.sanitiser.values import Standing

Cell = tuple[int, int]

_DELIMITERS = (b"\t", b"|", b";", b",", b"  ")
_EDGES = (*_DELIMITERS, b"\n")
_LINE_LIMIT = 4_000
_NAME_LIMIT = 40
_COLUMN_NAME = compile_bytes(rb"\A[A-Za-z_#\x80-\xff][\w.#/\x80-\xff-]{0,40}(?:[ ][\w.#/()\x80-\xff-]{1,20}){0,2}\z")
_CODE = compile_bytes(rb"[\w.\]]\(|^[\w.\[\]\"']+ [+*|-]?= |^(?:return|def|class|import|from|self)\b")
_RULER = frozenset(b"|+-=: \t\r")
_CREDENTIALS = frozenset({Kind.PASSWORD, Kind.SECRET, Kind.TOKEN, Kind.KEY, Kind.PIN, Kind.AUTHORIZATION})
_INSERT = compile_bytes(rb"(?i)insert\s+(?:ignore\s+)?into\s+[\w.\"`\[\]]{1,100}\s*\(([^()]{1,1000})\)\s*values\s*\(")
_INSERT_LIMIT = 65_536
_MOST_NESTED = 8


def beneath(data: bytes, at: int, end: int) -> tuple[list[Span], int]:
    """The credentials of the table that has the name of a column at `at`, and up to where there is no other header.

    Args:
        data: The text.
        at: Where the column's name has a credential's word.
        end: One past what ends the name: a quote, a delimiter, or the end of the line.
    """
    delimiter = _delimiter(data, at, end)
    start = data.rfind(b"\n", max(0, at - _LINE_LIMIT), at) + 1
    stop = data.find(b"\n", at, at + _LINE_LIMIT)
    if not delimiter or stop < 0:
        return [], at
    header = data[start:stop]
    if delimiter == b"|" and b" |" not in header and b"| " not in header and header.strip()[:1] != b"|":
        return [], at  # alternatives of a pattern
    cells = _cells(header, delimiter)
    columns = _columns(header, cells, delimiter)
    if not columns or _goes_on(data, start, delimiter, len(cells)):
        return [], stop  # nor is any other name in this line the name of a column
    # In prose a comma has a blank behind it: there only what is no plain word counts.
    is_loose = delimiter == b"," and b", " in header
    found, reached = _rows(data, stop + 1, delimiter, columns, cells, is_loose=is_loose)
    return found, max(at, reached)


def _goes_on(data: bytes, start: int, delimiter: bytes, width: int) -> bool:
    """Whether the line above is of the same table, so that this one is a row of it and no header."""
    above = data[data.rfind(b"\n", max(0, start - _LINE_LIMIT), max(0, start - 1)) + 1 : max(0, start - 1)]
    return not _RULER.issuperset(above) and len(_cells(above, delimiter)) == width


def _delimiter(data: bytes, at: int, end: int) -> bytes:
    """What sets the name apart from its neighbours; empty where it is not the name of a column."""
    before = data[max(0, at - _NAME_LIMIT) : at]
    left = max((before.rfind(mark), mark) for mark in _EDGES)
    behind = data[end - 1 : end + 4].lstrip(b"\"' ")[:1]
    right = b"  " if data[end - 2 : end] == b"  " and behind not in _DELIMITERS else behind
    if right in _DELIMITERS:
        return right if left[0] < 0 or left[1] in {right, b"\n"} else b""
    return left[1] if left[0] >= 0 and left[1] != b"\n" and right in {b"\n", b"\r"} else b""


def _columns(header: bytes, cells: list[Cell], delimiter: bytes) -> dict[int, Kind]:
    """Kind by place of the columns that hold credentials; empty where the line is no header."""
    kinds: dict[int, Kind] = {}
    if len(cells) < 2:
        return kinds
    for place, (start, end) in enumerate(cells):
        name = header[start:end]
        if not name and delimiter == b"|" and place in {0, len(cells) - 1}:
            continue
        if _COLUMN_NAME.match(name) is None or name.isdigit():
            return {}
        kind = classify(name.decode("utf-8", "replace"))
        if kind in _CREDENTIALS:
            kinds[place] = kind
    return kinds


def _rows(
    data: bytes, at: int, delimiter: bytes, columns: dict[int, Kind], header: list[Cell], *, is_loose: bool
) -> tuple[list[Span], int]:
    found: list[Span] = []
    reached = at
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line = data[at:end]
        if not _RULER.issuperset(line) or not line.strip():
            if b"\x00" in line:
                break
            cells = _cells(line, delimiter)
            if len(cells) != len(header) or not line.strip():
                break
            for place, kind in columns.items():
                start, stop = cells[place]
                if delimiter == b"  " and start != header[place][0] and stop != header[place][1]:
                    return found, reached  # blanks make columns only where they align
                if _is_value(line[start:stop], kind, is_loose=is_loose):
                    found.append(assigned(at + start, at + stop, kind))
            reached = end
        at = end + 1
    return found, reached


def _is_value(cell: bytes, kind: Kind, *, is_loose: bool) -> bool:
    text = cell.decode("utf-8", "replace")
    if (is_loose and text.replace(" ", "").isalpha()) or _CODE.search(cell) is not None:
        return False
    return values.is_credential(text, Kind.SECRET if kind is Kind.AUTHORIZATION else kind, Standing.EXACT)


def _cells(line: bytes, delimiter: bytes) -> list[Cell]:
    """Where each cell's text is, blanks and quotes around it aside."""
    found: list[Cell] = []
    if delimiter == b"  ":
        return list(_spaced(line))
    at = 0
    while at <= len(line):
        lead = len(line[at:]) - len(line[at:].lstrip(b" "))
        if line[at + lead : at + lead + 1] == b'"':
            end = _closing(line, at + lead + 1, b'"')
            end = len(line) if end < 0 else end
            found.append((at + lead + 1, end))
            stop = line.find(delimiter, end)
        else:
            stop = line.find(delimiter, at)
            found.append(_stripped(line, at, len(line) if stop < 0 else stop))
        if stop < 0:
            break
        at = stop + len(delimiter)
    return found


def _closing(data: bytes, at: int, quote: bytes, limit: int | None = None) -> int:
    """Where the quoted text at `at` ends, -1 where it does not; a doubled quote is one of its characters."""
    end = data.find(quote, at, limit)
    while end >= 0 and data[end + 1 : end + 2] == quote:
        end = data.find(quote, end + 2, limit)
    return end


def _stripped(line: bytes, start: int, end: int) -> Cell:
    cell = line[start:end]
    start += len(cell) - len(cell.lstrip(b" \t`"))
    return start, max(start, start + len(cell.strip(b" \t\r`")))


def _spaced(line: bytes) -> Iterator[Cell]:
    """Cells that two blanks or more set apart."""
    at = 0
    for piece in line.split(b"  "):
        if piece.strip():
            yield _stripped(line, at, at + len(piece))
        at += len(piece) + 2


def inserted(data: bytes, at: int) -> tuple[list[Span], int]:
    """The credentials of a SQL `INSERT` that begins at `at`, and where its rows end."""
    match = _INSERT.match(data, at, at + _LINE_LIMIT)
    if match is None:
        return [], at
    names = [name.strip(b' \t\r\n"`[]').decode("utf-8", "replace") for name in match.group(1).split(b",")]
    kinds = {place: kind for place, name in enumerate(names) if (kind := classify(name)) in _CREDENTIALS}
    found: list[Span] = []
    reached = match.end()
    for place, start, stop in _tuples(data, match.end() - 1, min(len(data), at + _INSERT_LIMIT)) if kinds else ():
        kind = kinds.get(place)
        reached = stop
        if kind is not None and _is_value(data[start:stop], kind, is_loose=False):
            found.append(assigned(start, stop, kind))
    return found, reached


def _tuples(data: bytes, at: int, limit: int) -> Iterator[tuple[int, int, int]]:
    """Place, start and end of each quoted text in `(…), (…)`."""
    place, depth = 0, 0
    while at < limit:
        char = data[at : at + 1]
        if char == b"'":
            end = _closing(data, at + 1, b"'", limit)
            if end < 0:
                return
            yield place, at + 1, end
            at = end
        elif char == b"(":
            depth += 1
            if depth > _MOST_NESTED:
                return
            place = 0 if depth == 1 else place
        elif char == b")":
            depth -= 1
        elif char == b"," and depth == 1:
            place += 1
        elif depth == 0 and char not in {b",", b" ", b"\n", b"\r", b"\t"}:
            return
        at += 1
