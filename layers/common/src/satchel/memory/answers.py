"""Which kind of answer a question asks for, and whether a message gives one of that kind. Pure.

The expected answer type of question answering (Li and Roth, "Learning question classifiers", 2002), by rules for
English, Korean, Chinese and a little Japanese; in other languages nothing is asked for and nothing is given.
"""

import re
from typing import Literal, get_args

Kind = Literal["time", "duration", "place", "number", "name"]
"""What may be asked for: when, how long, where, how many or how much, who or what it is called."""

_THINGS = (
    r"(?:names?|titles?|books?|novels?|movies?|films?|songs?|albums?|bands?|artists?|authors?|games?|shows?|series|brands?"
    r"|teams?|compan(?:y|ies)|schools?|apps?)"
)
_ASKED: dict[Kind, re.Pattern[str]] = {
    "time": re.compile(
        r"\bwhen\b|\bhow long ago\b|\bwhat (?:time|day|date|month|year)\b|\bwhich (?:day|date|month|year)\b"
        r"|언제|며칠|몇\s*(?:월|일|시|년|요일)(?!\s*(?:동안|간|째))|什么时候|什麼時候|何时|哪(?:一)?(?:天|年|月|日)|几(?:月|号|点)"
        r"|いつ|何(?:日|月|時|年)(?!間)"
    ),
    "duration": re.compile(
        r"\bhow long\b(?! ago)|\bhow many (?:minutes|hours|days|weeks|months|years)\b"
        r"|얼마나\s*(?:오래|걸)|얼마\s*동안|몇\s*(?:분|시간|일|주|달|개월|년)\s*(?:동안|간|째)|多久|多长时间|どのくらい|何(?:日|年)間"
    ),
    "place": re.compile(r"\bwhere\b|\bwhich (?:city|town|country|place)\b|어디|哪里|哪裡|哪儿|什么地方|どこ"),
    "number": re.compile(
        r"\bhow (?:many|much|old|often|far|tall|big|heavy)\b|\bwhat (?:age|price|percentage|size|number)\b"
        r"|몇\s*(?:명|개|번|살|권|마리|잔|편|퍼센트)|얼마(?!나)|几(?![月号點点])|多少|多大|多高|多远|いくつ|いくら|何(?:人|個|回|歳)"
    ),
    "name": re.compile(
        r"\b(?:who|whose|whom|which|called)\b"
        rf"|\bwhat(?:'s| is| was| are| were)?(?: the| my| your| our| his| her| their)? {_THINGS}\b"
        r"|누구|누가|이름|제목|(?:무슨|어떤)\s*(?:책|영화|노래|밴드|게임|팀|회사|드라마)"
        r"|谁|誰|叫什么|名字|(?:什么|哪)[一-龥]?(?:书|电影|歌|游戏|公司|乐队)|名前"
    ),
}
_GIVEN: dict[Kind, re.Pattern[str]] = {
    "time": re.compile(
        r"\b(?:yesterday|today|tonight|tomorrow|ago|last (?:night|week|weekend|month|year|summer|winter|fall"
        r"|spring|[a-z]+day)"
        r"|next (?:week|weekend|month|year|[a-z]+day)|this (?:morning|week|weekend|month|year|summer|winter|[a-z]+day)"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|april|june|july|august|september|october"
        r"|november|december|recently|since|(?:19|20)\d\d|\d{1,2}(?::\d\d)?\s?[ap]m"
        r"|(?:few|couple of|two|three|four|five|several) (?:days|weeks|months|years)|the other day|just)\b"
        r"|어제|오늘|내일|모레|그저께|작년|올해|내년|지난|이번|다음\s*(?:주|달)|[월화수목금토일]요일|(?<!\d)\d{1,4}\s{0,3}(?:월|일|시|년)|전에"
        r"|昨天|今天|明天|前天|后天|去年|今年|明年|上周|下周|这周|上个月|下个月|[周星期][一二三四五六日天]|(?<!\d)\d{1,4}\s{0,3}[月日号年点]|以前",
        re.IGNORECASE,
    ),
    "duration": re.compile(
        r"\b(?:minutes?|hours?|days?|weeks?|months?|years?|decades?|ages|all my life)\b|\bsince\b"
        r"|(?<!\d)\d{1,4}\s{0,3}(?:분|시간|일|주|달|개월|년|分钟|小时|天|周|个月|年)|동안|째"
        r"|[一二三四五六七八九十两半](?:天|周|年|个月|小时)|多年|年間",
        re.IGNORECASE,
    ),
    # A preposition of place before a name or an article, or what Korean, Chinese and Japanese put beside a place.
    "place": re.compile(
        r"\b(?:in|at|to|from|near|under|inside|behind|into|around) (?:(?:the|a|an|my|our|their) )?(?=\w)"
        r"|[가-힣](?:에서|에|으로|로)(?![가-힣])|[在到去于住]|[ぁ-んァ-ヶ一-龥](?:に|で|へ)",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twice|several|couple|few|hundreds?"
        r"|thousands?|millions?|half)\b|(?<![가-힣])(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|몇)\s?(?:명|개|번|살|권|마리|잔|편)"
        r"|[一二三四五六七八九十两百千万半][个個次岁歲本只杯块塊元人]",
        re.IGNORECASE,
    ),
    # A capital inside a sentence, or quotation marks.
    "name": re.compile(r"(?<=[a-z\d,;:가-힣一-龥] )[A-Z][A-Za-z]+|[\"“«「『《][^\"”»」』》]{1,80}[\"”»」』》]"),
}

READ_CHARS = 4_000
"""The beginning of a message, in which an answer is looked for: a longer one is a document rather than an answer."""

_END_CHARS = 20
_QUESTION_END = re.compile(r"[?？؟]\s*[\"'”’)\]]*\s*$")
_REACTION = re.compile(
    r"\W{0,9}(?:(?:wow|whoa|oh|aw+|haha\w*|yay|yeah|yep|nice|great|cool|awesome|amazing|wonderful|congrat\w*|thanks?|sorry"
    r"|sounds?|so|good|glad|that(?:'s| is| sounds| must))\b"
    r"|우와|와[,!~ ]|오[,!~ ]|대박|정말[?!~]|그렇(?:군|구나)|좋(?:네|겠)|축하|고마|감사|미안|ㅋㅋ|ㅎㅎ"
    r"|哇|太[好棒酷]|真[的好棒]|好的|谢谢|謝謝|恭喜|不错|哈哈|すごい|いいね|ありがとう|なるほど)",
    re.IGNORECASE,
)


def asked_kinds(query: str) -> frozenset[Kind]:
    """Return the kinds of answer that a query asks for; none for most."""
    lower = query.lower()
    return frozenset(kind for kind in get_args(Kind) if _ASKED[kind].search(lower))


def gives(kind: Kind, content: str) -> bool:
    """Whether a message may give an answer of a kind."""
    return bool(_GIVEN[kind].search(content, 0, READ_CHARS))


def ends_with_question(content: str) -> bool:
    """Whether a message ends in a question: it asks for facts more often than it states them."""
    return bool(_QUESTION_END.search(content[-_END_CHARS:]))


def opens_with_reaction(content: str) -> bool:
    """Whether a message begins with what it makes of the one before ("Wow, that's great!"): it seldom tells a fact."""
    return bool(_REACTION.match(content))
