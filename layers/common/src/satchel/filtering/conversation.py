"""Chat arrays: who answers whom, so that a reply counts even where it repeats no word of the question.

Pure. Links are heuristics of the kind used to disentangle channels (addressing by name, thread ids, turns of one
speaker, neighbours); relevance then flows along them as in a random walk with restart.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from satchel.filtering.json_values import is_object

_SPEAKER_KEYS = ("user", "user_name", "username", "author", "from", "sender", "nick", "speaker", "name")
_TEXT_KEYS = ("text", "message", "content", "body", "msg")
_TIME_KEYS = ("ts", "timestamp", "time", "date", "created_at", "createdat", "sent_at", "created")
_THREAD_KEYS = ("thread_ts", "thread_id", "threadid", "parent_id", "reply_to", "in_reply_to", "thread")
_NAME = re.compile(r"[\w\-\[\]|`^{}\\]+")

WINDOW_ITEMS = 60
OWN_TURN_ITEMS = 25
ADDRESSED, ANSWER, THREAD, OWN_TURN, NEIGHBOUR = 1.0, 0.7, 1.0, 0.6, 0.15
FLOW = 0.7
STEPS = 8
SHARPNESS = 2.0
LEAST_SHARE = 0.05
_SAMPLE_ITEMS = 50
_MIN_ITEMS = 4

Link = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class Chat:
    """The fields that make an array a conversation.

    Attributes:
        speaker: Name of the field of who spoke.
        text: Name of the field of what was said.
        thread: Name of the field that ties replies together; None where there is none.
        backwards: True where the newest message comes first.
    """

    speaker: str
    text: str
    thread: str | None
    backwards: bool


def _pick(names: Sequence[str], sample: Sequence[Mapping[str, Any]], share: float) -> str | None:
    lowered = {key.lower(): key for item in sample for key in item}
    for name in names:
        key = lowered.get(name)
        if key is not None and sum(item.get(key) is not None for item in sample) >= share * len(sample):
            return key
    return None


def _label(value: Any) -> str:
    if is_object(value):
        for key in ("name", "username", "id", "display_name"):
            if isinstance(value.get(key), str):
                return value[key]
        return ""
    return "" if value is None else str(value)


def recognise(items: Sequence[Any]) -> Chat | None:
    """The chat fields of an array, or None where it is not a conversation: no speaker, text and time in its objects."""
    if len(items) < _MIN_ITEMS:
        return None
    sample = [item for item in items[:_SAMPLE_ITEMS] if is_object(item)]
    if len(sample) < min(len(items), _SAMPLE_ITEMS):
        return None
    speaker, text = _pick(_SPEAKER_KEYS, sample, 0.8), _pick(_TEXT_KEYS, sample, 0.9)
    time = _pick(_TIME_KEYS, sample, 0.9)
    if speaker is None or text is None or time is None:
        return None
    if len({_label(item.get(speaker)) for item in sample}) == len(sample):
        return None  # nobody speaks twice: records that name an author, not a conversation
    first, last = items[0].get(time), items[-1].get(time) if is_object(items[-1]) else None
    return Chat(speaker, text, _pick(_THREAD_KEYS, sample, 0.01), _later(first, last))


def _later(first: Any, last: Any) -> bool:
    try:
        return float(first) > float(last)
    except (TypeError, ValueError, OverflowError):
        return isinstance(first, str) and isinstance(last, str) and first > last


def links(items: Sequence[Mapping[str, Any]], chat: Chat) -> list[Link]:
    """Pairs (later, earlier, strength) of items that belong to one exchange, in the order of the conversation."""
    order = range(len(items) - 1, -1, -1) if chat.backwards else range(len(items))
    speakers = {i: _label(items[i].get(chat.speaker)).lower() for i in order}
    names = set(speakers.values()) - {""}
    found: list[Link] = []
    last_of: dict[str, tuple[int, int]] = {}
    addressed: dict[str, tuple[int, int, str]] = {}
    threads: dict[str, int] = {}
    before: int | None = None
    for place, i in enumerate(order):
        item, speaker = items[i], speakers[i]
        said = item.get(chat.text)
        said = said.lower() if isinstance(said, str) else ""
        mentioned = dict.fromkeys(n for n in _NAME.findall(said) if n in names and n != speaker)
        for name in mentioned:
            earlier = last_of.get(name)
            if earlier is not None and place - earlier[1] <= WINDOW_ITEMS:
                found.append((i, earlier[0], ADDRESSED))
            addressed[name] = (i, place, speaker)
        call = addressed.get(speaker)
        if call is not None and place - call[1] <= WINDOW_ITEMS and (not mentioned or call[2] in mentioned):
            found.append((i, call[0], ANSWER))
        turn = last_of.get(speaker)
        if turn is not None and place - turn[1] <= OWN_TURN_ITEMS:
            found.append((i, turn[0], OWN_TURN))
        if chat.thread is not None and item.get(chat.thread) is not None:
            key = str(item[chat.thread])
            if key in threads:
                found.append((i, threads[key], THREAD))
            threads.setdefault(key, i)
        if before is not None:
            found.append((i, before, NEIGHBOUR))
        last_of[speaker] = (i, place)
        before = i
    return found


def spread(scores: Sequence[float], between: Sequence[Link]) -> list[float]:
    """Scores after relevance has flowed along the links; bigger is better, at least 0.

    A random walk with restart on squared scores: squaring lets one strong message outweigh many weak ones. What
    ends under a twentieth of the best counts as not reached.
    """
    start = [score**SHARPNESS for score in scores]
    degree = [0.0] * len(start)
    for i, j, strength in between:
        degree[i] += strength
        degree[j] += strength
    edges = [(i, j, strength / degree[j], strength / degree[i]) for i, j, strength in between]
    current = start
    for _ in range(STEPS):
        flowed = [(1 - FLOW) * score for score in start]
        for i, j, into_i, into_j in edges:
            flowed[i] += FLOW * into_i * current[j]
            flowed[j] += FLOW * into_j * current[i]
        current = flowed
    spread_out = [score ** (1 / SHARPNESS) for score in current]
    least = LEAST_SHARE * max(spread_out, default=0.0)
    return [score if score >= least else 0.0 for score in spread_out]
