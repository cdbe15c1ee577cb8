"""What a user keeps naming: pairs, timeframes and indicators, found in what they wrote."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# Named in at least this many of the user's messages, something is a habit.
_HABIT_MESSAGES = 3
_SHOWN = 5

_QUOTE = "USDT|USDC|USD|EUR|KRW|JPY|GBP|BTC|ETH"
_PAIR = re.compile(rf"(?<![A-Za-z0-9])([A-Z0-9]{{2,10}})[/-]({_QUOTE})(?![A-Za-z0-9])")
_TIMEFRAME = re.compile(r"(?<![\w.])(1|2|3|4|5|6|8|12|15|30)\s?(m|h|d|w|M)(?!\w)", re.ASCII)
_SPELLED_TIMEFRAME = re.compile(
    r"(?<!\w)(1|2|3|4|5|6|8|12|15|30)[ -]?(min(?:ute)?s?|hours?|days?|weeks?|분봉|시간봉|일봉|주봉)(?![a-z])",
    re.IGNORECASE,
)
_UNIT = {"m": "m", "h": "h", "d": "d", "w": "w", "분": "m", "시": "h", "일": "d", "주": "w"}
_INDICATORS = {
    "RSI": r"rsi",
    "MACD": r"macd",
    "Bollinger Bands": r"bollinger(?: bands?)?|볼린저(?: ?밴드)?",
    "SMA": r"sma|simple moving averages?",
    "EMA": r"ema|exponential moving averages?",
    "Moving average": r"moving averages?|이동 ?평균선?",
    "ATR": r"atr|average true range",
    "VWAP": r"vwap",
    "Stochastic": r"stochastics?|스토캐스틱",
    "Ichimoku": r"ichimoku|일목균형표?",
    "ADX": r"adx",
    "OBV": r"obv|on[- ]balance volume",
    "Fibonacci": r"fib(?:onacci)?|피보나치",
}
_INDICATOR = re.compile(
    "|".join(
        f"(?P<i{number}>(?<![A-Za-z])(?:{pattern})(?![A-Za-z]))" for number, pattern in enumerate(_INDICATORS.values())
    ),
    re.IGNORECASE,
)
_INDICATOR_NAMES = tuple(_INDICATORS)


class Said(Protocol):
    """What is needed of a message."""

    @property
    def session_id(self) -> str:
        """Its conversation."""
        ...

    @property
    def message_id(self) -> str:
        """Its id there."""
        ...

    @property
    def content(self) -> str:
        """Its text."""
        ...


@dataclass(frozen=True)
class Mention:
    """One thing named, and the messages (`session_id/message_id`) that name it, in the order given."""

    name: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True)
class Habit:
    """A kind of thing a user keeps naming, the most named first, then by name."""

    words: str
    mentions: tuple[Mention, ...]


def infer_habits(messages: Sequence[Said]) -> list[Habit]:
    """The pairs, timeframes and indicators named in at least three of `messages`; at most five of each kind.

    Args:
        messages: A user's own messages, oldest first.
    """
    kinds = {"Pairs often named": _pairs, "Timeframes often named": _timeframes, "Indicators often named": _indicators}
    habits: list[Habit] = []
    for words, find in kinds.items():
        named: defaultdict[str, list[str]] = defaultdict(list)
        for message in messages:
            for name in sorted(find(message.content)):
                named[name].append(f"{message.session_id}/{message.message_id}")
        mentions = [Mention(name, tuple(ids)) for name, ids in named.items() if len(ids) >= _HABIT_MESSAGES]
        if mentions:
            mentions.sort(key=lambda mention: (-len(mention.message_ids), mention.name))
            habits.append(Habit(words, tuple(mentions[:_SHOWN])))
    return habits


def _pairs(text: str) -> set[str]:
    return {f"{base}/{quote}" for base, quote in _PAIR.findall(text) if base != quote}


def _timeframes(text: str) -> set[str]:
    short = {f"{count}{unit}" for count, unit in _TIMEFRAME.findall(text)}
    return short | {f"{count}{_UNIT[unit[0].lower()]}" for count, unit in _SPELLED_TIMEFRAME.findall(text)}


def _indicators(text: str) -> set[str]:
    return {_INDICATOR_NAMES[int(found.lastgroup[1:])] for found in _INDICATOR.finditer(text) if found.lastgroup}
