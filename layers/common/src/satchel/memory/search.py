"""Searching a user's conversation: one query in, the messages that answer it out, best first."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import MAXYEAR, UTC, datetime, timedelta
from itertools import islice

from satchel.embeddings.encoder import Encoder
from satchel.errors import InvalidInputError
from satchel.memory.candidates import Corpus, Filters
from satchel.memory.hits import DEFAULT_LIMIT, DEFAULT_MIN_SCORE, Hit, SearchResult
from satchel.memory.intent import read_intent
from satchel.memory.messages import Message, Role
from satchel.memory.ranking import Ranked, rank
from satchel.memory.search_store import SearchStore
from satchel.memory.terms import normalize, query_terms

EVERYTHING = "*"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

MAX_QUERY_CHARS = 4_000
"""A longer query is searched for by its beginning: no question is longer, and a pasted document repeats itself."""


@dataclass(frozen=True, slots=True)
class _Cursor:
    """A place between two hits.

    Attributes:
        as_of: The newest message when the first page was made: later ones do not shift the pages.
        now: The asker's time then.
        key: What sorts the last hit given out.
        question: Fingerprint of everything asked; a cursor serves no other question.
    """

    as_of: int
    now: datetime
    key: tuple[float, int, int]
    question: str


def search(
    store: SearchStore,
    encoder: Encoder,
    query: str,
    *,
    clock: Callable[[], datetime],
    limit: int = DEFAULT_LIMIT,
    min_score: float = DEFAULT_MIN_SCORE,
    since: datetime | None = None,
    until: datetime | None = None,
    session_id: str | None = None,
    role: Role | None = None,
    neighbours: int = 0,
    max_tokens: int | None = None,
    cursor: str | None = None,
) -> SearchResult:
    """Find the messages of one user that answer a query.

    Args:
        store: The user's index.
        encoder: The one that the index was made with.
        query: What is asked, in any language; `*` lists messages, newest first.
        clock: The asker's time.
        limit: Hits on a page, 1 to 100.
        min_score: Hits below this probability are left out.
        since: Only messages said at or after this instant.
        until: Only messages said before it.
        session_id: Only messages of this session.
        role: Only messages of this role.
        neighbours: Messages to return on each side of a hit, from its session.
        max_tokens: Budget for the page: hits that do not fit any more are left out.
        cursor: `next_cursor` of the page before, with all other arguments unchanged.

    Raises:
        InvalidInputError: The query is blank or the cursor is not of this question.
        UnavailableError: Store or encoder do not answer.
    """
    text = normalize(query[:MAX_QUERY_CHARS]).strip()
    if not text:
        raise InvalidInputError("query is blank", field="query")
    filters = Filters(since, until, session_id, role)
    question = _fingerprint(text, min_score, filters)
    place = None if cursor is None else _read_cursor(cursor, question)
    now = place.now if place else clock()
    corpus = store.corpus(replace(filters, as_of=place.as_of if place else None))
    filters = replace(filters, as_of=corpus.newest)
    if text == EVERYTHING:
        found = _list(store, filters, place, limit + 1)
    else:
        found = find(store, encoder, text, now=now, filters=filters, corpus=corpus)
    best = list(islice((one for one in found if place is None or _key(one) > place.key), limit + 1))
    page = [one for one in best[:limit] if one.score >= min_score]
    more = len(best) > limit and len(page) == limit
    packed = page if max_tokens is None else _pack(page, max_tokens)
    return SearchResult(
        _hits(store, packed, neighbours),
        len(best[:limit]) - len(page),
        _write_cursor(_Cursor(corpus.newest, now, _key(page[-1]), question)) if more else None,
    )


def find(
    store: SearchStore, encoder: Encoder, text: str, *, now: datetime, filters: Filters, corpus: Corpus
) -> Iterator[Ranked]:
    """Give out all candidates for a query, best first.

    Args:
        store: The user's index.
        encoder: The one that the index was made with.
        text: In the form of `terms.normalize`, not blank.
        now: The asker's time, in the asker's time zone.
        filters: Which messages may be returned.
        corpus: What is known of these.
    """
    (encoding,) = encoder.encode([text], input_type="query")
    asked = read_intent(text, speakers=(), now=now, began=corpus.began)
    candidates = store.candidates(
        query=encoding,
        encoder=encoder.name,
        words=query_terms(asked.subject) or query_terms(text),
        days=asked.spans(now),
        filters=filters,
        corpus=corpus.messages,
    )
    if candidates.speakers:
        asked = read_intent(text, speakers=candidates.speakers, now=now, began=corpus.began)
    return rank(candidates, encoding, asked, encoder.background)


def _list(store: SearchStore, filters: Filters, place: _Cursor | None, limit: int) -> Iterator[Ranked]:
    after = None
    if place is not None:
        _, sent, seq = place.key
        after = (_instant(sent), -seq)
    for message in store.newest(filters, after=after, limit=limit):
        yield Ranked(message, 1.0, 1.0, {}, ())


def _hits(store: SearchStore, page: Sequence[Ranked], neighbours: int) -> tuple[Hit, ...]:
    """Return a page with whole messages; one that was removed since it was ranked is left out."""
    seqs = [one.message.seq for one in page]
    messages = {one.message.seq: one.message for one in page if isinstance(one.message, Message)}
    if len(messages) < len(page):
        messages |= store.messages([seq for seq in seqs if seq not in messages])
    around = store.neighbours(seqs, reach=neighbours) if seqs and neighbours else {}
    return tuple(
        Hit(messages[seq], one.score, one.similarity, one.words, one.contributions, tuple(around.get(seq, ())))
        for seq, one in zip(seqs, page, strict=True)
        if seq in messages
    )


def _key(ranked: Ranked) -> tuple[float, int, int]:
    """What orders what is found, smallest first: score, then the newer message."""
    sent = (ranked.message.created_at - _EPOCH) // _MICROSECOND
    return (-ranked.score, -sent, -ranked.message.seq)


def _instant(sent: int) -> datetime:
    """When the message was said that has `sent` in its key."""
    return _EPOCH - sent * _MICROSECOND


def _pack(page: Sequence[Ranked], max_tokens: int) -> list[Ranked]:
    packed: list[Ranked] = []
    left = max_tokens
    for one in page:
        tokens = estimate_tokens(one.message.content)
        if tokens <= left:
            packed.append(one)
            left -= tokens
    return packed


def estimate_tokens(text: str) -> int:
    """Estimate what a text costs a language model: its UTF-8 bytes by four, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def _fingerprint(text: str, min_score: float, filters: Filters) -> str:
    asked = [text, min_score, str(filters.since), str(filters.until), filters.session_id, filters.role]
    return hashlib.blake2b(json.dumps(asked).encode(), digest_size=8).hexdigest()


def _write_cursor(cursor: _Cursor) -> str:
    body = json.dumps([cursor.as_of, cursor.now.isoformat(), *cursor.key, cursor.question])
    return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")


def _read_cursor(text: str, question: str) -> _Cursor:
    try:
        body = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        as_of, now, score, sent, seq, stated = body
        key = (float(score), _integer(sent), _integer(seq))
        _instant(key[1])
        cursor = _Cursor(_integer(as_of), _aware(now), key, str(stated))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidInputError("cursor is not one of ours", field="cursor") from error
    if cursor.question != question:
        raise InvalidInputError("cursor belongs to another question", field="cursor")
    return cursor


def _integer(given: object) -> int:
    """A whole number as PostgreSQL stores one."""
    if not isinstance(given, int) or not -(2**63) <= given < 2**63:
        raise ValueError("no whole number of 64 bits")
    return given


def _aware(given: str) -> datetime:
    """A time with its offset."""
    time = datetime.fromisoformat(given)
    if time.tzinfo is None or not 1 < time.year < MAXYEAR:
        raise ValueError("no time that anybody asks at")
    return time
