"""What a query asks for beside its words: whose message, which kind of answer, which days. Pure.

Rules for English, Korean and Chinese; other languages are ranked without these features.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import Literal

from satchel.embeddings.scripts import script_of
from satchel.memory.answers import Kind, asked_kinds, ends_with_question
from satchel.memory.dates import NamedDays, named_days

KEYWORDS = 4
"""Most words of a query that counts as keywords."""

# Asking the assistant to recall is not what it is asked to recall.
_REQUEST = re.compile(
    r"\b(?:(?:can|could|would|will|do|did) you (?:please )?(?:still )?(?:remember|recall|know|tell|remind|find|help)"
    r"|(?:tell|remind|show|give) me|remember (?:when|what|that))\b"
    r"|你(?:还|還)?(?:记得|記得|知道|能|可以)|(?:告诉|告訴|提醒)我|기억(?:해|나|하|해\s*줘)|알려\s*줘"
)
_USER = re.compile(
    r"\b(?:i|me|my|mine|i'm|i've|i'd)\b|(?<![가-힣])(?:내가|제가|나는|난|저는|나의|내|제|나한테|나에게)(?![가-힣])|我(?!们|們)"
)
_ASSISTANT = re.compile(
    r"\b(?:you|your|yours|you've|you'd|the assistant)\b"
    r"|(?<![가-힣])(?:네가|니가|너가|너는|넌|너의|네|너|당신[이은의]?)(?![가-힣])|[你您]"
)
# Korean leaves the subject out: doing something *for* the speaker, advising, or telling the speaker to do something
# (imperative + 라고; 얼마라고 is a noun + 라고) is the assistant's part.
_FOR_ME = re.compile(
    r"(?:추천|소개|설명|제안|조언|알려|말|가르쳐|정리)\s*(?:해\s*)?(?:줬|준|주었|주신|주셨)|(?:추천|제안|조언)했"
    r"|(?:하|쓰|가|오|보|말|으|두|사|주|내|자|치우|바꾸)라고\s*(?:했|하|말|조언)"
)
_SAID_BY_ME = re.compile(r"(?:내가|제가)")

# Words that ask rather than tell what is asked for. Chinese function characters part the words around them.
_FRAME = re.compile(
    r"\b(?:what|when|where|who|whom|whose|which|why|how (?:many|much|long|often)?"
    r"|do you (?:still )?(?:remember|recall|know)"
    r"|remember|remind|recall|(?:tell|told|asked?|ask) (?:me|you)|said?|say|saying|talk(?:ed|ing)?"
    r"|mention(?:ed)?|discuss(?:ed)?"
    r"|conversations?|chats?|once|right)\b"
    r"|(?:뭐|뭘|뭔|무엇|무슨|언제|어디|누구|얼마|어떻게|어떤|며칠|왜|혹시)[가-힣]*"
    r"|(?<![가-힣])(?:우리|내가|제가|나는|저는|네가|너한테|나한테|내|제|게|거)(?![가-힣])"
    r"|기억(?:나|해|하)[가-힣]*|(?:이야기|얘기|말)(?:를|을)?\s*(?:했|나눴|해)[가-힣]*"
    r"|(?:이?라고|다고|기로)?\s*(?:했|였|이었|했었|그랬)(?:지|어|니|나|더라|고|는지)(?![가-힣])"
    r"|(?:해\s*)?(?:줬|주었|주셨)(?:지|어|니|나|더라)(?![가-힣])|(?:해\s*)?준(?![가-힣])|맞지(?![가-힣])"
    r"|为什么|什么(?:时候)?|哪些?|怎么样?|多少|多久|是不是|对吗|记得|曾经?|的?时候|因此|聊了?|话题|告诉|[的了吗呢吧我你您他她们在是和与]",
    re.IGNORECASE,
)
# Korean particles at the end of a word of two or more syllables.
_PARTICLE = re.compile(
    r"(?<=[가-힣]{2})(?:에서는|에서|에게|한테|으로|까지|부터|이라고|라고|이랑|은|는|이|가|을|를|에|로|의|도|와|과)(?![가-힣])"
)

# What may be left of a question that asks for whatever was said on a day.
_WHATEVER = re.compile(
    r"\b(?:i|we|you|me|us|my|our|did|do|does|doing|done|was|were|had|have|has|is|are|happen(?:ed|ing)?|going|went|about|on"
    r"|in|at|from|of|the|to|with|any|anything|everything|something|all|show|messages?|topics?|subjects?|things?"
    r"|stuff|cover(?:ed)?|summari[sz]e|summary|recap|review|c[ao]me|up|lots?|a|much|so|s)\b"
    r"|(?<![가-힣])(?:대화|메시지|이야기|얘기|말|일이?|지난|보여|줘|에|주제(?:로|를|였지)?"
    r"|많이|우리(?:가)?|때|한|나눈|했는데|있었(?:지|어|나|니)|했(?:지|어|나|니))(?![가-힣])"
    r"|[说說做有事过過都聊谈談话話题題这這天那们們还還很多些]|[^\w]",
    re.IGNORECASE,
)

_BOTH = re.compile(r"\bwe\b|우리|我们|我們", re.IGNORECASE)
# How things stand with the asker: said outright, or in the present tense.
_NOW = re.compile(
    r"\b(?:currently|current|now|latest|nowadays|these days|(?:do|am) i|(?:is|are|what's|where's|who's) my)\b"
    r"|지금|현재|요즘|이제|최근|(?:^|\s)(?:내|나|난|나는|내가|제|제가|저는)\s.*[가-힣](?:지|니|어|아|야)\s*[?？]?\s*$"
    r"|现在|現在|目前|最近|我.*[^了过過](?:吗|呢)?[?？]\s*$",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:did|was|were|had|used to|when|before|first|once|originally|previously|ago|ever)\b"
    r"|[가-힣]*[았었했였갔왔됐줬]|예전|처음|전에|원래|了|过|過|曾|以前|原来|第一",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Intent:
    """What a query asks for.

    Attributes:
        role: Whose message most likely answers: `user` for "what did I say", `assistant` for "what did you suggest".
        speakers: Named speakers of the history whom the query names, as the history writes them.
        asks: Kinds of answer that it asks for.
        both: Whether it is about what both sides did ("what did we talk about").
        asks_current: Whether it asks how things are, so that the newest of several statements holds.
        keywords: Whether it is a few bare words rather than a question: then the words themselves are wanted.
        days: Days that the query names.
        days_alone: Whether they are all that it asks for: then whatever was said on them answers.
        zone: The asker's time zone.
        script: What it is written in, an index into `scripts.SCRIPTS`.
        subject: The query with everything that asks rather than tells blanked out: days, question words, the names in
            `speakers`. Of the same length.
    """

    role: Literal["user", "assistant"] | None
    speakers: frozenset[str]
    asks: frozenset[Kind]
    both: bool
    asks_current: bool
    keywords: bool
    days: tuple[NamedDays, ...]
    days_alone: bool
    zone: tzinfo
    script: int
    subject: str

    def nearness(self, said_at: Sequence[datetime]) -> list[float]:
        """Return how near what was said at some instants is to the days that the query names, 0 to 1."""
        if not self.days:
            return [0.0] * len(said_at)
        days = [instant.astimezone(self.zone).date() for instant in said_at]
        near = {day: sum(named.nearness(day) for named in self.days) / len(self.days) for day in set(days)}
        return [near[day] for day in days]

    def spans(self, now: datetime) -> list[tuple[datetime, datetime]]:
        """Return the days that the query names as spans of time [since, until)."""
        today = now.astimezone(self.zone).date()
        spans = [span for named in self.days for span in named.spans(today=today)]
        return [(self._midnight(first), self._midnight(after)) for first, after in spans]

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.zone)


def read_intent(query: str, *, speakers: Iterable[str], now: datetime, began: datetime | None = None) -> Intent:
    """Return what a query asks for.

    Args:
        query: In the form of `terms.normalize`.
        speakers: Names of those who speak in the history.
        now: The asker's time, in the asker's time zone.
        began: When the first message of all was said.
    """
    names = {speaker: _name_pattern(speaker) for speaker in speakers}
    named = frozenset(speaker for speaker, pattern in names.items() if pattern.search(query))
    zone = now.tzinfo or UTC
    days, rest = named_days(query, today=now.date(), began=began.astimezone(zone).date() if began else None)
    if days and not _PAST.search(query) and all(named.is_ahead(now.date()) for named in days):
        # Of days to come something was said before, on any day: their words count, not the day.
        days, rest = [], query
    for pattern in (*(names[speaker] for speaker in sorted(named)), _FRAME, _PARTICLE):
        rest = pattern.sub(_blank, rest)
    return Intent(
        role=None if named else _asked_role(_REQUEST.sub(" ", query.lower())),
        speakers=named,
        asks=asked_kinds(query),
        both=bool(_BOTH.search(query)),
        asks_current=not days and bool(_NOW.search(query)) and not _PAST.search(query),
        keywords=not days and _is_bare(query, rest),
        days=tuple(days),
        days_alone=bool(days) and not named and not _WHATEVER.sub("", rest),
        zone=zone,
        script=script_of(query),
        subject=rest,
    )


def _is_bare(query: str, subject: str) -> bool:
    words = query.split()
    return len(words) <= KEYWORDS and subject.split() == words and not ends_with_question(query)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _name_pattern(speaker: str) -> re.Pattern[str]:
    """Return what a speaker's name looks like in a query: the whole, or its first word."""
    names = sorted({speaker, speaker.split(maxsplit=1)[0]} if speaker.split() else {speaker}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?:'s)?(?![a-z0-9_])", re.IGNORECASE)


def _asked_role(query: str) -> Literal["user", "assistant"] | None:
    """Return whose turn the query is about: that of the first subject it names ("what did you tell me")."""
    user, assistant = _USER.search(query), _ASSISTANT.search(query)
    if _FOR_ME.search(query) and not _SAID_BY_ME.search(query):
        return "assistant"
    if user and assistant:
        return "user" if user.start() < assistant.start() else "assistant"
    if user:
        return "user"
    return "assistant" if assistant else None
