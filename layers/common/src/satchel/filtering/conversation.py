"""Chat arrays: who answers whom, so that a reply counts even where it repeats no word of the question.

Pure. Links are heuristics of the kind used to disentangle channels (addressing by name, thread ids, turns of one
speaker, neighbours); relevance then flows along them as in a random walk with restart. All of them order what the
question reaches; to bring in a message that it does not reach takes more, see `exchange`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from satchel.filtering.json_values import is_object

_SPEAKER_KEYS = ("user", "user_name", "username", "author", "from", "sender", "nick", "speaker", "name")
_TEXT_KEYS = ("text", "message", "content", "body", "msg")
_TIME_KEYS = ("ts", "timestamp", "time", "date", "created_at", "createdat", "sent_at", "created")
_CHANNEL_KEYS = ("channel", "channel_id", "channel_name", "room", "room_id", "conversation_id")
_THREAD_KEYS = ("thread_ts", "thread_id", "threadid", "parent_id", "reply_to", "in_reply_to", "thread")
_NAME = re.compile(r"[\w\-\[\]|`^{}\\]+")

WINDOW_ITEMS = 60
OWN_TURN_ITEMS = 25
ADDRESSED, ANSWER, THREAD, OWN_TURN, NEIGHBOUR = 1.0, 0.7, 1.0, 0.6, 0.15
FLOW = 0.7
STEPS = 8
SHARPNESS = 2.0
LEAST_SHARE = 0.05
# A message that no word reaches comes in over so many links at most, each between messages no further apart than this.
MAX_STEPS_AWAY = 3
EXCHANGE_S = 3_600.0
CONTINUATION_S = 120.0
_LEAST_MILLISECONDS = 1e11  # an epoch this large is in milliseconds
_SAMPLE_ITEMS = 50
_MIN_ITEMS = 4


class Link(NamedTuple):
    """Two messages that may belong to one exchange.

    Attributes:
        later: Index of the later one.
        earlier: Index of the earlier one.
        strength: How sure it is, in (0, 1].
        telling: Whether it alone says that they belong together: the same thread, a name, the first
            words of the one who was named, or one speaker going on.
    """

    later: int
    earlier: int
    strength: float
    telling: bool


@dataclass(frozen=True, slots=True)
class Chat:
    """The fields that make an array a conversation.

    Attributes:
        speaker: Name of the field of who spoke.
        text: Name of the field of what was said.
        time: Name of the field of when.
        channel: Name of the field of where; None where there is none, and all is one channel.
        thread: Name of the field that ties replies together; None where there is none.
        backwards: True where the newest message comes first.
    """

    speaker: str
    text: str
    time: str
    channel: str | None
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
    channel, thread = _pick(_CHANNEL_KEYS, sample, 0.8), _pick(_THREAD_KEYS, sample, 0.01)
    return Chat(speaker, text, time, channel, thread, _later(first, last))


def _later(first: Any, last: Any) -> bool:
    try:
        return float(first) > float(last)
    except (TypeError, ValueError, OverflowError):
        return isinstance(first, str) and isinstance(last, str) and first > last


def _seconds(value: Any) -> float | None:
    """A time as seconds since 1970: a number or its digits, in seconds or milliseconds, or ISO 8601; else None."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is not None:
        return number / 1_000 if number >= _LEAST_MILLISECONDS else number
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def links(items: Sequence[Mapping[str, Any]], chat: Chat) -> list[Link]:
    """Pairs of items that may belong to one exchange, channel by channel, in the order of the conversation.

    Only threads run across channels. Where a time cannot be read, the number of messages between two decides alone.
    """
    order = range(len(items) - 1, -1, -1) if chat.backwards else range(len(items))
    channels: defaultdict[str, list[int]] = defaultdict(list)
    for i in order:
        channels[_label(items[i].get(chat.channel)) if chat.channel is not None else ""].append(i)
    found = [link for channel in channels.values() for link in _in_channel(items, chat, channel)]
    if chat.thread is not None:
        threads: dict[str, int] = {}
        for i in order:
            thread = items[i].get(chat.thread)
            if thread is not None:
                first = threads.setdefault(str(thread), i)
                if first != i:
                    found.append(Link(i, first, THREAD, telling=True))
    return found


def _in_channel(items: Sequence[Mapping[str, Any]], chat: Chat, channel: Sequence[int]) -> list[Link]:
    speakers = {i: _label(items[i].get(chat.speaker)).lower() for i in channel}
    times = {i: _seconds(items[i].get(chat.time)) for i in channel}
    names = set(speakers.values()) - {""}
    found: list[Link] = []
    last_of: dict[str, tuple[int, int]] = {}
    addressed: dict[str, tuple[int, int, str]] = {}
    before: int | None = None

    def within(later: int, earlier: int, seconds: float) -> bool:
        start, end = times[earlier], times[later]
        return start is None or end is None or abs(end - start) <= seconds

    for place, i in enumerate(channel):
        speaker, said = speakers[i], items[i].get(chat.text)
        said = said.lower() if isinstance(said, str) else ""
        mentioned = dict.fromkeys(n for n in _NAME.findall(said) if n in names and n != speaker)
        for name in mentioned:
            earlier = last_of.get(name)
            if earlier is not None and place - earlier[1] <= WINDOW_ITEMS:
                found.append(Link(i, earlier[0], ADDRESSED, within(i, earlier[0], EXCHANGE_S)))
            addressed[name] = (i, place, speaker)
        turn = last_of.get(speaker)
        call = addressed.get(speaker)
        if call is not None and place - call[1] <= WINDOW_ITEMS and (not mentioned or call[2] in mentioned):
            is_first = call[2] in mentioned or turn is None or turn[1] < call[1]
            found.append(Link(i, call[0], ANSWER, is_first and within(i, call[0], EXCHANGE_S)))
        if turn is not None and place - turn[1] <= OWN_TURN_ITEMS:
            goes_on = turn[0] == before and within(i, turn[0], CONTINUATION_S)
            found.append(Link(i, turn[0], OWN_TURN, goes_on))
        if before is not None:
            found.append(Link(i, before, NEIGHBOUR, telling=False))
        last_of[speaker] = (i, place)
        before = i
    return found


def exchange(reached: Iterable[int], between: Sequence[Link]) -> set[int]:
    """The items reached, and those that telling links tie to them, over at most three of those."""
    tied: defaultdict[int, set[int]] = defaultdict(set)
    for link in between:
        if link.telling:
            tied[link.later].add(link.earlier)
            tied[link.earlier].add(link.later)
    together = set(reached)
    edge = together
    for _ in range(MAX_STEPS_AWAY):
        edge = {other for i in edge for other in tied.get(i, ())} - together
        together = together | edge
    return together


def spread(scores: Sequence[float], between: Sequence[Link]) -> list[float]:
    """Scores after relevance has flowed along the links; bigger is better, at least 0.

    A random walk with restart on squared scores: squaring lets one strong message outweigh many weak ones. What
    ends under a twentieth of the best counts as not reached.
    """
    start = [score**SHARPNESS for score in scores]
    degree = [0.0] * len(start)
    for i, j, strength, _ in between:
        degree[i] += strength
        degree[j] += strength
    edges = [(i, j, strength / degree[j], strength / degree[i]) for i, j, strength, _ in between]
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
