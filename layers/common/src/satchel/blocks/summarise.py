"""What a block is about, by its structure: who asked, what was tried, what helped. English and Korean.

The opener's first question or error is the PROBLEM; what somebody says they tried or still see is a TRIAL; the last
advice of somebody else before thanks or success of the opener is the SOLUTION; a stated lesson or cause is the
INSIGHT; what the opener says of their situation is the CONTEXT. A text is a sentence of one message, verbatim; where
there is no sign there is no tag.
"""

import re
from collections.abc import Iterator, Sequence

from satchel.blocks import text as cues
from satchel.blocks.scoring import Scored
from satchel.blocks.sessions import Tags

_MAX_TAG_CHARS = 300
_MAX_TRIALS = 8
_OPENING_MESSAGES = 8
_ADVICE_WITHIN = 8
_SENTENCE_END = re.compile("(?<=[.!?\u3002\uff1f\uff01])\\s+|\n+")
_QUESTION_MARKS = ("?", "\uff1f")
_SHORT_TERMS = 2

# Korean inflects: no list of words holds all forms of a verb.
_TROUBLE_KO = re.compile(
    "실패|에러|오류|안 ?[되돼됩될]|멈[추춰췄]|깨[지져졌]|터[지져졌]|죽[어었]|먹통|막[혀혔]"
    "|이상[해하한]|문제가 (?:있|생)"
)
_TRIED_WORDS = frozenset(("tried", "still", "luck", "same", "attempted", "worked", "didn't", "again", "trying"))
_TRIED = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:already |also |just )?(?:tried|attempted)\b|\balready tried\b|^tried\b"
    r"|\bstill (?:the same|not|no|gets?|getting|have|having|see|seeing|fails?|failing|doesn't|does not|can't|isn't"
    r"|broken|happens|says|stuck)\b"
    r"|\bno luck\b|\bdidn't (?:work|help)\b|\bsame (?:error|problem|issue|result|thing)\b",
    re.IGNORECASE,
)
_TRIED_KO = (
    "해봤",
    "해 봤",
    "시도",
    "여전히",
    "아직도",
    "똑같",
    "그대로예",
    "그대로네",
    "안되네",
    "안 되네",
    "안돼",
    "봤는데",
    "했는데도",
)
_SUCCESS_WORDS = frozenset(
    ("works", "worked", "working", "fixed", "solved", "resolved", "thanks", "thank", "thx", "ty", "cheers", "perfect")
)
_SUCCESS = re.compile(
    r"\b(?:works|worked|working|fixed|solved|resolved|thanks|thank you|thx|ty|cheers|perfect)\b", re.IGNORECASE
)
_NOT_SUCCESS = re.compile(
    r"\b(?:not|n't|didn't|doesn't|isn't|never|no longer|stopped|still|anyone|in advance|anyway|if (?:it|that|this))\b",
    re.IGNORECASE,
)
_SUCCESS_KO = ("됐", "되네", "됩니다!", "해결", "감사", "고마워", "고맙", "줄었", "잘 되", "잘되", "이해했")
_NOT_SUCCESS_KO = re.compile("안 ?[됐되돼됩줄]|밖에|여전히|아직|그대로|해결(?:이|은)? ?(?:안|못|하|할|방)")
_OWN_FIX = re.compile(
    r"\b(?:by|after|with|using|adding|removing|changing)\b|하니까|니까|해서|바꾸|바꿔|으로 하|이었네|였네",
    re.IGNORECASE,
)
_INSIGHT_WORDS = frozenset(
    ("turns", "turned", "because", "cause", "reason", "why", "root", "caused", "due", "lesson", "lessons", "til")
) | {"takeaway", "takeaways", "learned", "learnt"}
_INSIGHT = re.compile(
    r"\bturn(?:s|ed) out\b|\bthe (?:root )?(?:reason|cause|problem|issue) (?:is|was)\b|\bthat'?s why\b"
    r"|\b(?:caused by|due to)\b"
    r"|\b(?:lessons?|takeaways?)(?: learn(?:ed|t)| here)?(?: is| was)?\s*[:\u2013\u2014-]|\blessons? learn(?:ed|t)\b"
    r"|^til(?:\s*[:\u2013\u2014-]| that\b)|\btoday i learn(?:ed|t)\b|\bi(?:'ve)? learn(?:ed|t) that\b",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\bbecause\b", re.IGNORECASE)
_INSIGHT_KO = (
    "원인",
    "알고 보니",
    "알고보니",
    "이유는",
    "때문이",
    "때문입",
    "문제였",
    "문제입니다",
    "문제네요",
    "배운 점",
    "배운 건",
    "배웠",
    "교훈",
    "기억해야",
    "기억해 둬",
    "기억해둬",
    "명심",
    "깨달았",
)
_SITUATION_WORDS = frozenset(
    ("i'm", "we're", "using", "running", "have", "trying", "version", "working", "want", "installed", "need", "my")
)
_SITUATION = re.compile(
    r"\b(?:i'm|i am|we're|we are|i have|we have|i've|using|running|version|trying to|i want to|i need to|installed)\b",
    re.IGNORECASE,
)
_SITUATION_KO = ("쓰고 있", "사용 중", "사용하", "환경", "버전", "하려고", "중인데", "때 ", "에서 ")


def summarise(block: Sequence[Scored]) -> Tags:
    """The tags of a block, from its messages in order; all empty where they only greet, thank or acknowledge."""
    spoken = [item for item in block if item.message.role != "system"] or list(block)
    if all(is_phatic(item) for item in spoken):
        return Tags()
    telling = [item for item in spoken if not is_phatic(item)]
    # An assistant has no problem of its own: where it speaks first, it goes on with one.
    opener = next((item for item in telling if item.message.role != "assistant"), telling[0])
    identity = _identity(opener)
    problem_at, problem = _problem(spoken, identity)
    success_at = _success(spoken, identity)
    return Tags(
        CONTEXT=_context(spoken, identity, problem),
        PROBLEM=problem,
        TRIAL=tuple(_trials(spoken, problem)),
        SOLUTION=_solution(spoken, identity, success_at, problem_at),
        INSIGHT=_insight(spoken, problem),
    )


def _identity(item: Scored) -> str:
    return item.message.speaker or item.message.role


def is_phatic(item: Scored) -> bool:
    """Whether a message only greets, thanks or acknowledges."""
    text = item.text
    if text.cues & (cues.PROBLEM | cues.CODE | cues.LINK):
        return False
    return len(text.terms) <= _SHORT_TERMS and (
        bool(text.cues & (cues.GREETING | cues.THANKS | cues.ACKNOWLEDGE | cues.CLOSING)) or not text.terms
    )


def _sentences(content: str) -> list[str]:
    return [sentence for part in _SENTENCE_END.split(content) if (sentence := part.strip())]


def _clip(sentence: str) -> str:
    if len(sentence) <= _MAX_TAG_CHARS:
        return sentence
    return sentence[: _MAX_TAG_CHARS - 1].rstrip() + "…"


def _problem(block: Sequence[Scored], opener: str) -> tuple[int, str]:
    """Where the problem is stated and how; (-1, "") where it is not."""
    for sign in (cues.QUESTION, cues.PROBLEM, cues.REQUEST | cues.SEEK):
        for index, item in enumerate(block[:_OPENING_MESSAGES]):
            if _identity(item) != opener or not item.text.terms or not _shows(item.text, item.message.content, sign):
                continue
            before = ""
            for sentence in _sentences(item.message.content):
                text = item.text if sentence == item.message.content else cues.read(sentence)
                if text.terms and _shows(text, sentence, sign):
                    # "Any suggestions?" leans on what was said before it.
                    short = before and len(text.terms) <= _SHORT_TERMS
                    return index, _clip(f"{before} {sentence}" if short else sentence)
                before = sentence
    return -1, ""


def _shows(text: cues.Text, content: str, sign: int) -> bool:
    if text.cues & sign:
        return True
    return bool(sign & cues.PROBLEM) and not content.isascii() and bool(_TROUBLE_KO.search(content))


def _matching(item: Scored, words: frozenset[str], pattern: re.Pattern[str], korean: tuple[str, ...]) -> Iterator[str]:
    """The sentences of a message that show a sign, looked for only where a word of it occurs."""
    content = item.message.content
    is_korean = not content.isascii()
    if words.isdisjoint(item.text.words) and not (is_korean and any(sign in content for sign in korean)):
        return
    for sentence in _sentences(content):
        if pattern.search(sentence) or (is_korean and any(sign in sentence for sign in korean)):
            yield sentence


def _trials(block: Sequence[Scored], problem: str) -> list[str]:
    found: dict[str, None] = {}
    for item in block:
        for sentence in _matching(item, _TRIED_WORDS, _TRIED, _TRIED_KO):
            if sentence != problem and not sentence.endswith(_QUESTION_MARKS):
                found[_clip(sentence)] = None
    return list(found)[:_MAX_TRIALS]


def _success(block: Sequence[Scored], opener: str) -> int:
    """The opener's last message after the first that thanks or reports success; -1 where there is none.

    What others say works is advice.
    """
    for index in range(len(block) - 1, 0, -1):
        if _identity(block[index]) != opener:
            continue
        for sentence in _matching(block[index], _SUCCESS_WORDS, _SUCCESS, _SUCCESS_KO):
            denied = _NOT_SUCCESS.search(sentence) or _NOT_SUCCESS_KO.search(sentence)
            if not denied and not sentence.endswith(_QUESTION_MARKS):
                return index
    return -1


def _solution(block: Sequence[Scored], opener: str, success_at: int, problem_at: int) -> str:
    if success_at <= problem_at:
        return ""
    success = block[success_at]
    if _identity(success) == opener:
        own = next((s for s in _sentences(success.message.content) if _OWN_FIX.search(s)), "")
        if own and len(cues.read(own).terms) > _SHORT_TERMS:
            return _clip(own)
    helper = [
        item
        for item in block[max(problem_at + 1, success_at - _ADVICE_WITHIN, 0) : success_at]
        if _identity(item) != opener and not is_phatic(item) and not item.text.cues & cues.THANKS
    ]
    advice = [
        item for item in helper if item.text.cues & (cues.ADVICE | cues.CODE | cues.LINK) and not _only_asks(item)
    ]
    stated = advice or [
        item
        for item in helper
        if not _only_asks(item) and len(item.text.terms) > _SHORT_TERMS and not item.text.cues & cues.ACKNOWLEDGE
    ]
    return _clip(" ".join(stated[-1].message.content.split())) if stated else ""


def _only_asks(item: Scored) -> bool:
    return item.message.content.rstrip().endswith(_QUESTION_MARKS)


def _insight(block: Sequence[Scored], problem: str) -> str:
    weak = ""
    for item in reversed(block):
        for sentence in _matching(item, _INSIGHT_WORDS, _INSIGHT, _INSIGHT_KO):
            if sentence != problem and not sentence.endswith(_QUESTION_MARKS):
                return _clip(sentence)
        if not weak and "because" in item.text.words:
            weak = next(
                (
                    s
                    for s in _sentences(item.message.content)
                    if _BECAUSE.search(s) and not s.endswith("?") and s != problem
                ),
                "",
            )
    return _clip(weak)


def _context(block: Sequence[Scored], opener: str, problem: str) -> str:
    for item in block[:3]:
        if _identity(item) != opener:
            continue
        for sentence in _matching(item, _SITUATION_WORDS, _SITUATION, _SITUATION_KO):
            if _clip(sentence) != problem and not sentence.endswith(_QUESTION_MARKS):
                return _clip(sentence)
    return ""


def merge(given: Tags | None, found: Tags, *, whole: bool) -> Tags:
    """The tags of a block that grew.

    Args:
        given: What was known of it.
        found: What its messages say now.
        whole: All its messages were seen; then `found` stands alone. Else what was known of the beginning stays,
            trials add up, and a later solution or insight replaces the earlier.
    """
    if given is None or whole:
        return found
    return Tags(
        CONTEXT=given.CONTEXT or found.CONTEXT,
        PROBLEM=given.PROBLEM or found.PROBLEM,
        TRIAL=tuple(dict.fromkeys((*given.TRIAL, *found.TRIAL)))[:_MAX_TRIALS],
        SOLUTION=found.SOLUTION or given.SOLUTION,
        INSIGHT=found.INSIGHT or given.INSIGHT,
    )


def fill(told: Tags, found: Tags) -> Tags:
    """`told` with what it lacks taken from `found`."""
    return Tags(
        CONTEXT=told.CONTEXT or found.CONTEXT,
        PROBLEM=told.PROBLEM or found.PROBLEM,
        TRIAL=told.TRIAL or found.TRIAL,
        SOLUTION=told.SOLUTION or found.SOLUTION,
        INSIGHT=told.INSIGHT or found.INSIGHT,
    )
