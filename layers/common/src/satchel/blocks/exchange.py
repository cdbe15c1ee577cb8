"""Features of the exchange: how the pause before a turn compares, who speaks, after whom and to whom."""

from collections import Counter, deque
from collections.abc import Sequence

from satchel.blocks import text as texts
from satchel.blocks.text import Text
from satchel.blocks.window import FAR, NEVER, WINDOW

_GAPS = 10
_SPEAKERS = 10
# A newcomer is somebody whom the window had not heard before; further back it would be too short to tell.
_NEWCOMERS = WINDOW // 2
_MAX_GAP_S = 10_000_000
_MAX_COUNTED_GAP_S = 3_600
_LONG_GAP_S = 600
_ROLES = {"user": 0, "assistant": 1, "system": 2, "tool": 3}
_ASSISTANT = 1


class Pauses:
    """How the pause before a turn compares with those before it."""

    def __init__(self) -> None:
        self._gaps: deque[int] = deque(maxlen=_GAPS)
        self._long_at = NEVER

    def observe(self, index: int, gap_s: float | None) -> tuple[int, int, int]:
        """The features `gap_s` to `long_gap_ago` of the turn at `index`."""
        long_ago = min(index - self._long_at, FAR)
        if gap_s is None:
            return -1, -1, long_ago
        gap = min(int(gap_s), _MAX_GAP_S)
        gaps = self._gaps
        ratio = -1
        if gaps:
            ratio = min(10 * gap * len(gaps) // (sum(gaps) + 10 * len(gaps)), 10_000)
        gaps.append(min(gap, _MAX_COUNTED_GAP_S))
        if gap > _LONG_GAP_S:
            self._long_at = index
        return gap, ratio, long_ago


class People:
    """Who speaks, after whom, to whom, and how they write."""

    def __init__(self) -> None:
        self._spoke: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._addressed: dict[str, int] = {}
        self._styles: dict[str, int] = {}
        # The last speakers in order, whether each was an assistant, and how often each occurs.
        self._recent: deque[tuple[str, bool]] = deque()
        self._counts: Counter[str] = Counter()
        self._assistants = 0
        self._previous = ""
        self._previous_role = -1
        self._run = 0
        # Of the latest turns, when who speaks there spoke before; the latest first.
        self._spoke_before: deque[int] = deque(maxlen=_NEWCOMERS)

    def observe(self, index: int, role_name: str, speaker: str, now: Text) -> tuple[int, ...]:
        """The features `role` to `style_shift` of the turn at `index`; `speaker` is "" where not known."""
        identity = speaker or role_name
        role = _ROLES.get(role_name, 0)
        assistants = self._assistants
        last = self._spoke.get(identity, NEVER)
        self._run = self._run + 1 if index and self._previous == identity else 0
        # Among nameless users nobody knows who is who.
        known = speaker or role or self._previous_role > 0 or assistants
        ago = min(index - last, FAR) if known else -1
        name = identity.lower()
        style = now.cues & texts.STYLE
        numbers = (
            role, self._previous_role, assistants, ago, len(self._counts), min(self._run, 10),
            self._newcomer_ago(index), self._mention_ago(index, now.words, name),
            self._address(index, now.addressee),
            (style ^ self._styles[identity]).bit_count() if index - last <= WINDOW else -1,
        )  # fmt: skip
        self._spoke_before.appendleft(last if known else index)
        self._spoke[identity] = index
        if speaker:
            self._names[name] = index
        self._styles[identity] = style
        self._remember(identity, role == _ASSISTANT)
        self._previous, self._previous_role = identity, role
        return numbers

    def _remember(self, identity: str, is_assistant: bool) -> None:  # noqa: FBT001 - one of two plain facts
        counts = self._counts
        if len(self._recent) == _SPEAKERS:
            oldest, was_assistant = self._recent.popleft()
            self._assistants -= was_assistant
            counts[oldest] -= 1
            if not counts[oldest]:
                del counts[oldest]
        self._recent.append((identity, is_assistant))
        self._assistants += is_assistant
        counts[identity] += 1

    def _newcomer_ago(self, index: int) -> int:
        """How long ago somebody spoke who had not before in this turn's window; `FAR` where it is long ago."""
        start = index - WINDOW
        return next((ago for ago, before in enumerate(self._spoke_before, 1) if before < start), FAR)

    def _mention_ago(self, index: int, words: Sequence[str], own: str) -> int:
        """How long ago the latest of the earlier speakers spoke whom a text names; -1 where it names nobody."""
        names = self._names
        named = names.keys() & words
        named.discard(own)
        ago = index - max(map(names.__getitem__, named), default=NEVER)
        return ago if ago <= WINDOW else -1

    def _address(self, index: int, addressee: str) -> int:
        """0: nobody is addressed; 1: an earlier speaker; 3: a name addressed before; 2: another word."""
        if not addressee:
            return 0
        before = self._addressed.get(addressee, NEVER)
        self._addressed[addressee] = index
        if index - self._names.get(addressee, NEVER) <= WINDOW:
            return 1
        return 3 if index - before <= WINDOW else 2
