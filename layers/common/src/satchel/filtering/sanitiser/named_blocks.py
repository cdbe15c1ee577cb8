"""Credentials whose name stands elsewhere in the same tag or block: XML attributes, HCL variables, Kubernetes secrets.

Beside the name there is no mark that introduces the value, so the block is looked through.
"""

from collections.abc import Iterator

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.names import Kind, classify
from satchel.filtering.sanitiser.patterns import compile_bytes
from satchel.filtering.sanitiser.span import Span, assigned
from satchel.filtering.sanitiser.values import Standing

_TAG_LIMIT = 600
_BLOCK_LIMIT = 2_000
_VALUE_LIMIT = 8_192
_NAMING = compile_bytes(
    rb"(?i)\s(?:name|key|id|field|property|param|parameter|variable|setting)\s{0,2}=\s{0,2}[\"']([^\"'<>]{2,100})[\"']"
)
_VALUE = compile_bytes(
    rb"(?i)\s(?:value|val|content|default|defaultvalue|string)\s{0,2}=\s{0,2}(?:\"([^\"<>]*)\"|'([^'<>]*)')"
)
_VARIABLE = compile_bytes(rb"\Avariable\s+\"?([\w.-]{2,100})\"?\s*\{")
_DEFAULT = compile_bytes(rb"(?:^|\n|\{|;)\s*default\s*=\s*\"([^\"\n]{3,500})\"")
_SECRET_DATA = compile_bytes(rb"(?m)^([ ]{0,8})(?:data|stringData):[ ]*\r?\n")
_SECRET_FIELD = compile_bytes(rb"[ ]{1,12}[\"']?([\w.-]{1,100})[\"']?:[ ]+[\"']?([^\s\"'#|>&*!]\S*)")
# What a Kubernetes secret holds beside secrets.
_OPEN_FIELDS = frozenset(
    [
        "user",
        "username",
        "login",
        "host",
        "hostname",
        "port",
        "database",
        "dbname",
        "db_name",
        "email",
        "ca.crt",
        "tls.crt",
        "name",
        "namespace",
        "url",
        "type",
    ]
)


def is_open(name: str) -> bool:
    """Whether a field of a Kubernetes secret holds nothing to hide, by its name."""
    return name.lower().replace("-", "_") in _OPEN_FIELDS or name.lower() in _OPEN_FIELDS


def in_tag(data: bytes, at: int) -> Iterator[Span]:
    """The value of a tag that is named at `at`: `<param value="…" type="text" name="password"/>`."""
    start = data.rfind(b"<", max(0, at - _TAG_LIMIT), at)
    if start < 0 or data.find(b">", start, at) >= 0:
        return
    end = data.find(b">", at, at + _TAG_LIMIT)
    tag = data[start : end if end >= 0 else at + _TAG_LIMIT]
    name, value = _NAMING.search(tag), _VALUE.search(tag)
    if name is not None and value is not None:
        group = 1 if value.groups()[0] is not None else 2
        yield from _judged(data, start + value.start(group), start + value.end(group), name.group(1))


def in_variable(data: bytes, at: int) -> Iterator[Span]:
    """The default of a variable that is declared around `at`: `variable "db_password" { default = "…" }`."""
    start = data.rfind(b"variable", max(0, at - 120), at)
    declared = _VARIABLE.match(data[start : start + 240]) if start >= 0 else None
    if declared is None or start + declared.end() < at:
        return
    opened = start + declared.end() - 1
    closing = data.find(b"\n}", opened, opened + _BLOCK_LIMIT)
    block = data[opened : closing if closing >= 0 else opened + _BLOCK_LIMIT]
    value = _DEFAULT.search(block)
    if value is not None:
        yield from _judged(data, opened + value.start(1), opened + value.end(1), declared.group(1))


def in_kubernetes_secret(data: bytes, at: int) -> tuple[list[Span], int]:
    """The fields of a Kubernetes secret in YAML whose `kind: Secret` is at `at`, and where its document ends."""
    start = data.rfind(b"\n---", max(0, at - _BLOCK_LIMIT), at)
    first = start if start >= 0 else max(0, at - _BLOCK_LIMIT)
    end = data.find(b"\n---", at, at + _BLOCK_LIMIT)
    end = end if end >= 0 else min(len(data), at + _BLOCK_LIMIT)
    found: list[Span] = []
    for block in _SECRET_DATA.finditer(data[first:end]):
        place = first + block.end()
        while (field := _SECRET_FIELD.match(data, place, place + _VALUE_LIMIT)) is not None:
            value = field.group(2).rstrip(b"\"',").decode("utf-8", "replace")
            name = field.group(1).decode("utf-8", "replace")
            if len(value) >= 3 and not is_open(name) and not values.is_placeholder(value):
                begin = field.start(2)
                found.append(Span(begin, begin + len(value.encode()), "kubernetes-secret", "secret", shows_tail=False))
            line_end = data.find(b"\n", field.end())
            if line_end < 0 or line_end > end:
                break
            place = line_end + 1
    return found, end


def _judged(data: bytes, start: int, end: int, name: bytes) -> Iterator[Span]:
    kind = classify(name.decode("utf-8", "replace"))
    if kind not in {Kind.PASSWORD, Kind.SECRET, Kind.TOKEN, Kind.KEY}:
        return
    if values.is_credential(data[start:end].decode("utf-8", "replace"), kind, Standing.EXACT):
        yield assigned(start, end, kind)
