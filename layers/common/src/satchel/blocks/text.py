"""What one message says on its own: its terms, its cues and its shape.

Everything here is a function of the text alone, so that it can be computed once per message and cached.
Words are lower-cased runs of letters, digits and underscores; a run of Hangul, Han or kana is a word of its own.
"""

import re
from functools import lru_cache
from typing import NamedTuple

WORDS = re.compile(r"[a-z0-9_\u00c0-\u024f\u0370-\u06ff]+(?:'[a-z]+)?|[\uac00-\ud7a3]+|[\u3040-\u30ff\u4e00-\u9fff]+")
_READ_CHARS = 4000
_CODE = re.compile(r"```|`[^`\n]{2,}`|<-code->|[;{}]\s*(?:\n|$)|\w\(\w*\)|=>|</?\w+>|^\s*[$#>] \w", re.MULTILINE)

GREETING, THANKS, ACKNOWLEDGE, SHIFT, ANAPHOR, CONNECTIVE, SEEK, PROBLEM, QUESTION_WORD, CLOSING, REQUEST, ADVICE = (
    1 << n for n in range(12)
)
QUESTION, LINK, CODE, LOWER_START, TRAILS_OFF, EXCLAIMS, HANGUL, POLITE, TILDE, STOPPED = (
    1 << n for n in range(12, 22)
)
INDEFINITE, DEFINITE = 1 << 22, 1 << 23
CUE_BITS = 24
STYLE = LOWER_START | EXCLAIMS | HANGUL | POLITE | TILDE | STOPPED

_CUES: dict[int, str] = {
    GREETING: "hi hello hey hola morning greetings howdy|good morning|good evening|good afternoon|hi all|hey guys 안녕 "
    "안녕하세요 안녕하십니까 반가워 반갑습니다",
    THANKS: "thanks thank thx ty cheers appreciated appreciate grateful 감사 감사합니다 감사해요 고마워 고마워요 고맙습니다 "
    "감사드립니다 땡큐 ㄳ ㄱㅅ",
    ACKNOWLEDGE: "ok okay k yes yeah yep yup no nope sure right true exactly cool great nice perfect awesome lol haha hmm ah oh "
    "aha indeed agreed wow got alright|i see|got it|makes sense|sounds good 네 넵 넹 예 응 아니 아니요 아뇨 그래 그래요 "
    "그렇군요 그렇구나 맞아 맞아요 오 아 아하 음 ㅇㅇ ㅇㅋ 오케이 알겠어 알겠습니다 좋아 좋아요 ㅋㅋ ㅋㅋㅋ ㅎㅎ",
    SHIFT: "anyway anyways btw additionally furthermore separately unrelated|another question|different question|new question|"
    "by the way|on another|other question|one more|next question|quick question|something else|what about 그나저나 "
    "그런데 근데 다른 이번엔 이번에는 다음으로 마지막으로 참 한편 그건 혹시 새로운|다른 질문|하나 더",
    ANAPHOR: "it that this they them those these he she its his her their there one|the same 그거 그건 그게 그것 이거 이건 저거 "
    "그럼 거기 거긴 그때 그곳 여기 그런 이런",
    CONNECTIVE: "and but so or because then also though however if still well 그리고 그래서 하지만 그러면 그럼 그래도 또 또는 "
    "그러니까 왜냐하면",
    SEEK: "anyone anybody somebody someone everyone guys folks all|any idea|any ideas|help me|need help|can someone|"
    "could someone|is there|does anyone|has anyone|how do|how can|how to|i'm trying|i am trying|trying to|"
    "i have|i want|i need|i'm looking|i am looking|looking for 누가 누구 분 계신가요 아시는 알려줘 알려주세요 알려 궁금 "
    "궁금해 궁금한데",
    PROBLEM: "error errors issue problem fail fails failed failing broken bug wrong exception crash crashes stuck weird cannot "
    "can't doesn't won't undefined null 오류 에러 문제 안돼 안돼요 실패 안됩니다 안되는데 이상해 이상한데 깨져요 멈춰",
    QUESTION_WORD: "what why how when where which who whose can could would should is are do does did has have will 뭐 무엇 "
    "왜 어떻게 언제 어디 어디서 어떤 누가 몇 얼마나 뭔가요 뭐야 뭐지 어때 어떡해",
    CLOSING: "bye goodbye welcome|you're welcome|anything else|good luck|have a|see you|take care|no problem|that's all|"
    "that is all|help you|else i 안녕히 수고하세요 수고 천만에요 도움이",
    REQUEST: "please find show tell give get set book search remind schedule navigate play 해줘 줘 주세요 부탁 검색해줘 틀어줘 "
    "찾아줘 보여줘 해주세요 추천해줘",
    INDEFINITE: "a an some any another",
    DEFINITE: "the my your our",
    ADVICE: "try use should maybe you could need check run install look see instead|you can|you should|you need 하세요 보세요 "
    "됩니다 해보세요 쓰세요 있습니다 합니다 하면",
}

STOP = frozenset(
    [
        "a",
        "about",
        "actually",
        "after",
        "again",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "anyone",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "don't",
        "each",
        "else",
        "even",
        "ever",
        "everyone",
        "few",
        "for",
        "from",
        "get",
        "gets",
        "getting",
        "give",
        "go",
        "goes",
        "going",
        "good",
        "got",
        "guys",
        "had",
        "has",
        "have",
        "having",
        "he",
        "hello",
        "help",
        "her",
        "here",
        "hey",
        "hi",
        "him",
        "his",
        "how",
        "i",
        "i'd",
        "i'll",
        "i'm",
        "i've",
        "if",
        "in",
        "into",
        "is",
        "isn't",
        "it",
        "it's",
        "its",
        "just",
        "know",
        "let",
        "like",
        "lot",
        "made",
        "make",
        "many",
        "maybe",
        "me",
        "more",
        "much",
        "my",
        "need",
        "never",
        "no",
        "not",
        "now",
        "of",
        "off",
        "oh",
        "ok",
        "okay",
        "on",
        "one",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "please",
        "really",
        "right",
        "said",
        "same",
        "say",
        "see",
        "seem",
        "she",
        "should",
        "so",
        "some",
        "someone",
        "something",
        "still",
        "such",
        "sure",
        "take",
        "tell",
        "than",
        "thank",
        "thanks",
        "that",
        "that's",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "thing",
        "things",
        "think",
        "this",
        "those",
        "through",
        "to",
        "too",
        "try",
        "trying",
        "u",
        "up",
        "us",
        "use",
        "using",
        "very",
        "want",
        "was",
        "way",
        "we",
        "well",
        "were",
        "what",
        "what's",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "without",
        "won't",
        "would",
        "yeah",
        "yes",
        "yet",
        "you",
        "you're",
        "your",
        "가",
        "것",
        "게",
        "그",
        "그거",
        "그건",
        "그게",
        "그냥",
        "그런",
        "그럼",
        "그리고",
        "근데",
        "나",
        "내",
        "너",
        "네",
        "다",
        "더",
        "도",
        "또",
        "때",
        "뭐",
        "수",
        "안",
        "어떻게",
        "어떤",
        "왜",
        "이",
        "이거",
        "이건",
        "있어",
        "있는",
        "잘",
        "저",
        "좀",
        "지금",
        "하는",
        "해",
        "해줘",
        "혹시",
        "때문에",
        "하면",
        "합니다",
        "있습니다",
        "됩니다",
        "주세요",
        "알려줘",
        "싶어",
        "어디",
        "언제",
        "하고",
        "할",
        "한",
    ]
)
_PARTICLES = re.compile(
    r"(?:에서는|으로는|에서|에게|한테|으로|까지|부터|이랑|하고|처럼|보다|마다|이나|은|는|이|가|을|를|에|로|도|만|의|와|과|랑|나)$"
)
_ENDINGS = re.compile(
    r"(?:하려면|하려고|하는데|했는데|하면|하고|하는|하기|해서|해줘|해주세요|해야|했어|할까|합니다|하세요|되나요|되는|돼요|됩니다|인가요"
    r"|이야|이에요|예요|있어|있나요|하나요|할|한|해|줘|요)$"
)
_KOREAN_QUESTION = re.compile(
    r"(?:나요|까요|가요|니까|은가|는가|을까|ㄹ까|는데요|어때|뭐야|뭐지|뭐니|지요|죠|냐|니|까)$"
)
_HANGUL = "\uac00"


def _cue_table() -> dict[str, int]:
    table: dict[str, int] = {}
    for bit, entries in _CUES.items():
        head, *phrases = entries.split("|")
        words = head.split()
        if phrases:
            *middle, tail = phrases
            first, *rest = tail.split(" ")
            cut = [first, rest[0]] if rest else [first]
            words += rest[1:]
            phrases = [*middle, " ".join(cut)]
        for entry in (*words, *phrases):
            table[entry] = table.get(entry, 0) | bit
    return table


_TABLE = _cue_table()


class Text(NamedTuple):
    """One message's text as the features see it.

    `words` in order; `terms` distinct content terms in order of first use; `cues` a bit set of the constants above;
    `addressee` the lower-cased name the text opens with ("name:" or "@name"), or "".
    """

    words: list[str]
    terms: tuple[str, ...]
    cues: int
    chars: int
    addressee: str


@lru_cache(maxsize=65536)
def term_of(word: str) -> str:
    """Return the term a word counts as, or "" for a function word: crude stems, since overlap only needs to be stable."""
    if word in STOP:
        return ""
    if word[0] >= _HANGUL and word[0] <= "\ud7a3":
        if len(word) == 1:
            return ""
        root = _ENDINGS.sub("", word)
        if len(root) < 2:
            return ""
        stem = _PARTICLES.sub("", root)
        return (stem if len(stem) > 1 else root)[:2]
    if len(word) < 2:
        return ""
    if len(word) > 4:
        for suffix in ("'s", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly"):
            if word.endswith(suffix) and len(word) - len(suffix) >= 3:
                return word[: -len(suffix)]
        if word[-1] in "ey":
            return word[:-1]
    return word


_ADDRESS = re.compile(r"\s*(?:@([\w.-]{2,40})|([\w.-]{2,40})\s?[:,]\s)")


def read(text: str) -> Text:
    """Return what a text says on its own; reads its first 4,000 characters."""
    text = text[:_READ_CHARS]
    lower = text.lower()
    words = WORDS.findall(lower)
    cues = 0
    table = _TABLE
    previous = ""
    for word in words[:14]:
        cues |= table.get(word, 0) | table.get(f"{previous} {word}", 0)
        previous = word
    for word in words[14:]:
        cues |= table.get(word, 0) & PROBLEM
    if "?" in text or "？" in text or (words and words[-1][0] >= _HANGUL and _KOREAN_QUESTION.search(words[-1])):
        cues |= QUESTION
    if "http" in lower or "<-link->" in lower or "www." in lower:
        cues |= LINK
    if _CODE.search(lower):
        cues |= CODE
    if text[:1].islower():
        cues |= LOWER_START
    if text.endswith(("...", "…", ",", ":")):
        cues |= TRAILS_OFF
    if text.endswith("!"):
        cues |= EXCLAIMS
    if "~" in text:
        cues |= TILDE
    if text.endswith((".", "?", "!")):
        cues |= STOPPED
    if words and words[-1][0] >= _HANGUL:
        cues |= HANGUL
        if words[-1].endswith(("요", "니다", "니까", "세요", "죠")):
            cues |= POLITE
        if words[-1].endswith("세요"):
            cues |= ADVICE
    terms = dict.fromkeys(map(term_of, words))
    terms.pop("", None)
    address = _ADDRESS.match(lower)
    return Text(words, tuple(terms), cues, len(text), (address[1] or address[2]) if address else "")
