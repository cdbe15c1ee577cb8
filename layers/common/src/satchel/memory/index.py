"""What the search index holds of a message: passages with their vectors, and its terms. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.encoder import Encoder, Encoding
from satchel.errors import UnavailableError
from satchel.memory.messages import Message
from satchel.memory.terms import passage_terms

PASSAGE_CHARS = 1_200
"""Longest passage: within the 512 word pieces that e5 reads, for ordinary prose in any language."""

SPEAKER_CHARS = 100
"""Characters of a speaker's name that are read: it is read again before every passage."""

# What an assistant quotes (Markdown's block quotes) was said elsewhere, and is found there.
_QUOTED = re.compile(r"^ {0,3}> .*\n?", re.MULTILINE)

# Where a passage may end, best first: between paragraphs, lines, sentences, words.
_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"[.!?。\uff01\uff1f…]+\s*"), re.compile(r"\s+"))


@dataclass(frozen=True, slots=True, eq=False)
class IndexedPassage:
    """Vectors of one passage of a message.

    Attributes:
        embedding: float32, of length 1.
        tokens: int8, shape (word pieces, dimensions); None where the encoder gives none.
    """

    embedding: NDArray[np.float32]
    tokens: NDArray[np.int8] | None


@dataclass(frozen=True, slots=True, eq=False)
class IndexEntry:
    """Everything that is stored about one message.

    Attributes:
        terms: The message's terms and how often each occurs.
        passages: In the order of the text; none where there are no vectors yet.
        encoder: Name of what made the vectors; None without any.
    """

    terms: dict[str, int]
    passages: tuple[IndexedPassage, ...] = ()
    encoder: str | None = None


def passages_of(message: Message, *, longest: int = PASSAGE_CHARS) -> list[str]:
    """Return the texts to embed: the content in passages, each with its speaker's name in front where one is given.

    (Measured on dialogues between named people: "Ann: text" finds half again as much as the text alone.)

    Args:
        message: The message.
        longest: Characters of content per passage.
    """
    named = message.metadata.get("speaker")
    prefix = f"{named[:SPEAKER_CHARS]}: " if isinstance(named, str) and named else ""
    return [prefix + part for part in split_passages(own_words(message), longest)]


def own_words(message: Message) -> str:
    """Return a message's content, an assistant's without what it quotes as long as anything else is left."""
    if message.role != "assistant":
        return message.content
    kept = _QUOTED.sub("", message.content)
    return kept if kept.strip() else message.content


def split_passages(text: str, longest: int = PASSAGE_CHARS) -> list[str]:
    """Split a text into passages that together hold all of it.

    A passage ends after the last paragraph, else line, sentence, word that fits in its second half, else anywhere.
    """
    passages: list[str] = []
    start = 0
    while len(text) - start > longest:
        end = _best_end(text, start, start + longest)
        passages.append(text[start:end])
        start = end
    return [*passages, text[start:]]


def indexed_terms(message: Message) -> dict[str, int]:
    """Return the terms of a message's own words with their frequencies."""
    return dict(passage_terms(own_words(message)))


def index_entry(message: Message, encoder: Encoder, *, has_time: Callable[[], bool] = lambda: True) -> IndexEntry:
    """Return what is stored about a message.

    Args:
        message: The message.
        encoder: Reads its passages; a long message takes it tens of seconds.
        has_time: Whether another passage may be begun.

    Raises:
        UnavailableError: The encoder cannot answer now, or time ran out before it had read everything.
    """
    encodings = encode_whole(passages_of(message), encoder, has_time=has_time)
    passages = tuple(IndexedPassage(encoding.pooled, encoding.tokens) for encoding in encodings)
    return IndexEntry(indexed_terms(message), passages, encoder.name)


def encode_whole(texts: list[str], encoder: Encoder, *, has_time: Callable[[], bool] = lambda: True) -> list[Encoding]:
    """Encode texts so that no tail is lost: what one reading left over is read as a text of its own.

    Raises:
        UnavailableError: As in `index_entry`.
    """
    encodings: list[Encoding] = []
    for text in texts:
        if not has_time():
            raise UnavailableError("there is no time left to read the whole message")
        encodings += _encode_to_the_end(text, encoder)
    return encodings


def _encode_to_the_end(text: str, encoder: Encoder) -> Iterator[Encoding]:
    (encoding,) = encoder.encode([text], input_type="passage")
    yield encoding
    while 0 < encoding.chars_read < len(text):
        text = text[encoding.chars_read :]
        (encoding,) = encoder.encode([text], input_type="passage")
        yield encoding


def _best_end(text: str, start: int, latest: int) -> int:
    middle = (start + latest) // 2
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, middle, latest)]
        if ends:
            return ends[-1]
    return latest
