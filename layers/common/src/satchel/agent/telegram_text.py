"""A model's Markdown as Telegram shows it: plain text with entities, in parts of at most 4,096 UTF-16 units.

Entities instead of Telegram's own markup: there is nothing to escape, and what does not parse stays as it was written.
https://core.telegram.org/bots/api#messageentity counts offsets and lengths in UTF-16 code units.
"""

import re
from dataclasses import dataclass

MAX_UNITS = 4_096
# Of one message; Telegram ignores further ones.
_MAX_ENTITIES = 100
# Longest first: a fence is not three inline codes.
_MARKUP = re.compile(
    r"```(?P<language>[\w+-]*)\n(?P<pre>.*?)\n?```|`(?P<code>[^`\n]+)`|\*\*(?P<bold>\S(?:[^\n]*?\S)??)\*\*"
    r"|\[(?P<label>[^\]\n]+)\]\((?P<url>https?://[^\s)]+)\)",
    re.DOTALL,
)
_KINDS = ("pre", "code", "bold")
# Where a part ends best: after a paragraph, a line, a sentence's space.
_ENDS = ("\n\n", "\n", " ")


@dataclass(frozen=True)
class Entity:
    """A marked stretch of text; offsets in characters until it is sent."""

    kind: str
    start: int
    end: int
    url: str | None = None


@dataclass(frozen=True)
class Part:
    """One message: its text, and entities as the Bot API takes them."""

    text: str
    entities: list[dict[str, object]]


def units(text: str) -> int:
    """Length in UTF-16 code units: characters beyond the first plane count twice."""
    return len(text) + sum(character > "\uffff" for character in text)


def parts(markdown: str, *, max_units: int = MAX_UNITS) -> list[Part]:
    """`markdown` in messages, each within `max_units`; an entity over the end of one goes on in the next."""
    text, entities = render(markdown)
    found: list[Part] = []
    start = 0
    while start < len(text):
        end = _end(text, start, entities, max_units)
        piece = text[start:end]
        if piece.strip():
            found.append(
                Part(piece, [_wire(entity, text, start, end) for entity in entities if _in(entity, start, end)])
            )
        start = end
    return found


def render(markdown: str) -> tuple[str, list[Entity]]:
    """Plain text, and what is marked in it."""
    plain: list[str] = []
    entities: list[Entity] = []
    length = place = 0
    for match in _MARKUP.finditer(markdown):
        before = markdown[place : match.start()]
        kind = next((kind for kind in _KINDS if match[kind] is not None), "text_link")
        inner = match[kind] if kind != "text_link" else match["label"]
        plain += [before, inner]
        length += len(before)
        entities.append(Entity(kind, length, length + len(inner), match["url"]))
        length += len(inner)
        place = match.end()
    plain.append(markdown[place:])
    return "".join(plain), [entity for entity in entities if entity.end > entity.start]


def _end(text: str, start: int, entities: list[Entity], max_units: int) -> int:
    """Where the part that begins at `start` ends: within the limit, between words, and outside entities if it can."""
    limit = _reach(text, start, max_units)
    within = [entity for entity in entities if _in(entity, start, limit)]
    if len(within) > _MAX_ENTITIES:
        limit = within[_MAX_ENTITIES].start
    elif limit == len(text):
        return limit
    for ending in _ENDS:
        end = text.rfind(ending, start, limit)
        while end > start:
            if not any(entity.start < end + len(ending) < entity.end for entity in entities):
                return end + len(ending)
            end = text.rfind(ending, start, end)
    inside = next((entity for entity in entities if entity.start < limit < entity.end and entity.start > start), None)
    return inside.start if inside else limit


def _reach(text: str, start: int, max_units: int) -> int:
    """The furthest place that is within `max_units` of `start`; a character is never divided."""
    left, place = max_units, start
    while place < len(text):
        left -= 2 if text[place] > "\uffff" else 1
        if left < 0:
            break
        place += 1
    return place


def _in(entity: Entity, start: int, end: int) -> bool:
    return entity.start < end and entity.end > start


def _wire(entity: Entity, text: str, start: int, end: int) -> dict[str, object]:
    first, last = max(entity.start, start), min(entity.end, end)
    wire: dict[str, object] = {
        "type": entity.kind,
        "offset": units(text[start:first]),
        "length": units(text[first:last]),
    }
    return {**wire, "url": entity.url} if entity.url else wire
