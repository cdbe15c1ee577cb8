"""A stretch of text that must not get out, and how overlapping ones are settled."""

from typing import Literal, NamedTuple

from satchel.filtering.sanitiser.names import Kind

FindingClass = Literal["secret", "pii"]
_HIDES_TAIL = frozenset({Kind.PASSWORD, Kind.PIN, Kind.PHRASE})


class Span(NamedTuple):
    """A stretch of bytes (or, once translated, of characters).

    `end` is exclusive. `rule` is a stable id such as `github-pat`, `assigned-password`, `email`.
    `shows_tail` is False for passwords and private keys: of those, partial masking shows nothing.
    """

    start: int
    end: int
    rule: str
    finding_class: FindingClass
    shows_tail: bool = True


def assigned(start: int, end: int, kind: Kind) -> Span:
    """The value of a credential of this kind, known by what names it."""
    return Span(start, end, f"assigned-{kind.value}", "secret", shows_tail=kind not in _HIDES_TAIL)


def settle(spans: list[Span]) -> list[Span]:
    """Merge overlapping spans; in text order. A secret's rule names the merged span, else the first one's."""
    settled: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end, span.finding_class != "secret")):
        last = settled[-1] if settled else None
        if last is None or span.start >= last.end:
            settled.append(span)
            continue
        named = span if span.finding_class == "secret" and last.finding_class == "pii" else last
        settled[-1] = Span(
            last.start,
            max(last.end, span.end),
            named.rule,
            named.finding_class,
            last.shows_tail and span.shows_tail,
        )
    return settled
