"""Causal features of a message: what its window of earlier messages says about whether it goes on or starts anew.

A feature looks at the message and at most `WINDOW` messages before it, never at a decision and never ahead, so
scoring a session in parts gives the scores of the whole. All features are integers; -1 means not known.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from satchel.blocks import text as texts
from satchel.blocks.text import Text

WINDOW = 30
_GAPS = 10

NAMES = (
    "gap_s",
    "gap_rank",
    "gap_ratio",
    "role",
    "previous_role",
    "assistants",
    "speaker_ago",
    "speakers",
    "run",
    "mention_ago",
    "addressed",
    "named_by_previous",
    "chars",
    "words",
    "previous_chars",
    "previous_words",
    "overlap_1",
    "overlap_2",
    "overlap_context",
    "overlap_window",
    "shared_1",
    "shared_context",
    "shared_window",
    "new_weight",
    "terms",
    "question_ago",
    "thanks_ago",
    "greeting_ago",
    "long_gap_ago",
    "newcomer_ago",
    "opening",
    "closing",
    "previous_2_closing",
    "rare_context",
    "style_shift",
    "own_overlap",
    "hangul",
    "fields",
    "field_1",
    "field_context",
    "field_window",
    "field_best",
)
FLAGS = (
    *(f"now_{n}" for n in range(texts.CUE_BITS)),
    *(f"before_{n}" for n in range(texts.CUE_BITS)),
)
ROLES = {"user": 0, "assistant": 1, "system": 2, "tool": 3}


class Turn(NamedTuple):
    """One message as the features need it.

    `speaker` is "" where it is not known; `gap_s` are seconds since the message before it, None where not known.
    """

    text: str
    role: str
    speaker: str
    gap_s: float | None


class Lexicon(NamedTuple):
    """What was learned about words: how rare a term is, and how much a phrase opens or closes a topic."""

    weight: Mapping[str, int]
    opens: Mapping[str, int]
    closes: Mapping[str, int]
    field: Mapping[str, int]


DEFAULT_WEIGHT = 10


def phrases(words: list[str]) -> Iterator[str]:
    """Yield what stands at the beginning, anywhere near it, and at the end of a text, as keys of the lexicon."""
    if not words:
        return
    yield "^" + words[0]
    yield "$" + words[-1][-3:]
    yield "^" + " ".join(words[:2])
    yield "$" + " ".join(words[-2:])
    yield from words[:12]


def _sum(words: list[str], weights: Mapping[str, int]) -> int:
    get = weights.get
    total = 0
    for phrase in phrases(words):
        total += get(phrase, 0)
    return total


class Seen(NamedTuple):
    """What the features say of one turn: the numbers of `NAMES`, a bit set of `FLAGS`, its text, whether it repeats the last."""

    numbers: list[int]
    flags: int
    text: Text
    repeats: bool


def extract(turns: Iterable[Turn], lexicon: Lexicon, *, context: int = 6) -> Iterator[Seen]:
    """Yield what the features say of every turn.

    Args:
        turns: In order of the session.
        lexicon: The learned words.
        context: How many messages back count as the context (`maxLastMessagesForContext`).
    """
    weight_of = lexicon.weight.get
    seen: dict[str, int] = {}
    spoke: dict[str, int] = {}
    gaps: deque[int] = deque(maxlen=_GAPS)
    assistants: deque[int] = deque([0] * 10, maxlen=10)
    speakers: deque[str] = deque(maxlen=10)
    before = Text([], (), 0, 0, "")
    before_text = None
    previous_role = -1
    previous_speaker = ""
    previous_names: set[str] = set()
    run = 0
    question_at = thanks_at = greeting_at = gap_at = newcomer_at = -1000
    closing = closing_2 = 0
    styles: dict[str, tuple[int, int]] = {}
    far = WINDOW + 1
    field_of = lexicon.field
    field_at: dict[int, int] = {}
    for index, turn in enumerate(turns):
        now = texts.read(turn.text)
        words = now.words
        # time
        gap = rank = ratio = -1
        if turn.gap_s is not None:
            gap = min(int(turn.gap_s), 10_000_000)
            if gaps:
                rank = sum(1 for g in gaps if g < gap) * 10 // len(gaps)
                ratio = min(10 * gap * len(gaps) // (sum(gaps) + 10 * len(gaps)), 10_000)
            gaps.append(min(gap, 3600))
        # people
        role = ROLES.get(turn.role, 0)
        speaker = turn.speaker
        identity = speaker or turn.role
        known = speaker or role or previous_role > 0
        ago = -1
        if known or 1 in assistants:
            last = spoke.get(identity, -1000)
            ago = min(index - last, far)
        run = run + 1 if identity == previous_speaker else 0
        mention = -1
        names: set[str] = set()
        for word in words:
            if word in spoke and word != identity:
                names.add(word)
                back = index - spoke[word]
                if back <= WINDOW and (mention < 0 or back < mention):
                    mention = back
        addressed = 0
        if now.addressee:
            addressed = 1 if index - spoke.get(now.addressee, -1000) <= WINDOW else 2
            if addressed == 2 and index - seen.get("@" + now.addressee, -1000) <= WINDOW:
                addressed = 3
            seen["@" + now.addressee] = index
        # words
        total = near_1 = near_2 = near_c = near_w = shared_1 = shared_c = shared_w = rare = 0
        for term in now.terms:
            weight = weight_of(term, DEFAULT_WEIGHT)
            total += weight
            back = index - seen.get(term, -1000)
            if back <= WINDOW:
                near_w += weight
                shared_w += 1
                if back <= context:
                    near_c += weight
                    shared_c += 1
                    if weight >= DEFAULT_WEIGHT:
                        rare += 1
                    if back <= 2:
                        near_2 += weight
                        if back == 1:
                            near_1 += weight
                            shared_1 += 1
            seen[term] = index
        fields = {field_of[term] for term in now.terms if term in field_of}
        field_1 = field_c = field_w = 0
        field_best = far if fields else -1
        for field in fields:
            back = index - field_at.get(field, -1000)
            field_at[field] = index
            field_best = min(field_best, back)
            if back <= WINDOW:
                field_w += 1
                if back <= context:
                    field_c += 1
                    if back <= 2:
                        field_1 += 1
        many = len(fields) or 1
        style_at, style = styles.get(identity, (-1000, 0))
        shift = -1
        if index - style_at <= WINDOW:
            shift = ((style ^ now.cues) & texts.STYLE).bit_count()
        styles[identity] = (index, now.cues)
        base = total or 1
        opening = _sum(words, lexicon.opens)
        flags = now.cues | before.cues << texts.CUE_BITS
        numbers = [
            gap,
            rank,
            ratio,
            role,
            previous_role,
            sum(assistants),
            ago,
            len(set(speakers)),
            min(run, 10),
            mention,
            addressed,
            int(identity in previous_names),
            min(now.chars, 2000),
            min(len(words), 300),
            min(before.chars, 2000),
            min(len(before.words), 300),
            100 * near_1 // base,
            100 * near_2 // base,
            100 * near_c // base,
            100 * near_w // base,
            shared_1,
            shared_c,
            shared_w,
            total - near_w,
            len(now.terms),
            min(index - question_at, far),
            min(index - thanks_at, far),
            min(index - greeting_at, far),
            min(index - gap_at, far),
            min(index - newcomer_at, far),
            opening,
            closing,
            closing_2,
            rare,
            shift,
            0,
            int(now.cues & texts.HANGUL > 0),
            len(fields),
            100 * field_1 // many,
            100 * field_c // many,
            100 * field_w // many,
            field_best,
        ]
        yield Seen(numbers, flags, now, repeats=turn.text == before_text)
        before_text = turn.text
        # state
        if now.cues & texts.QUESTION:
            question_at = index
        if now.cues & texts.THANKS:
            thanks_at = index
        if now.cues & texts.GREETING:
            greeting_at = index
        if gap > 600:
            gap_at = index
        if ago > WINDOW:
            newcomer_at = index
        closing_2 = closing
        closing = _sum(words, lexicon.closes)
        spoke[identity] = index
        assistants.append(int(role == 1))
        speakers.append(identity)
        previous_role, previous_speaker, previous_names, before = role, identity, names, now
