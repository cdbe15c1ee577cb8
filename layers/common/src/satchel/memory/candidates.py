"""What the store hands to the ranking: the messages that may answer a query, and what surrounds them. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from satchel.memory.messages import Role
from satchel.memory.terms import QueryTerm

_ROLES = frozenset(get_args(Role))


class Utterance(NamedTuple):
    """What ranking reads of a message; see `messages.Message`."""

    seq: int
    session_id: str
    role: Role
    speaker: str
    content: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Filters:
    """Which messages a search may return; None lets everything through.

    Attributes:
        since: Said at or after this instant.
        until: Said before it.
        as_of: Among the messages that had arrived by this place (`seq`).
    """

    since: datetime | None = None
    until: datetime | None = None
    session_id: str | None = None
    role: Role | None = None
    as_of: int | None = None

    @property
    def narrow(self) -> bool:
        """Whether anything but `as_of` is set."""
        return any(value is not None for value in (self.since, self.until, self.session_id, self.role))

    def admit(self, message: Utterance) -> bool:
        """Whether a message passes."""
        return (
            (self.since is None or message.created_at >= self.since)
            and (self.until is None or message.created_at < self.until)
            and (self.session_id is None or message.session_id == self.session_id)
            and (self.role is None or message.role == self.role)
            and (self.as_of is None or message.seq <= self.as_of)
        )


class Corpus(NamedTuple):
    """The messages that a search is about.

    Attributes:
        messages: How many the filters let through.
        newest: The `seq` of the newest of them; 0 without any.
        began: When the first of all the user's messages was said; None without any.
    """

    messages: int
    newest: int
    began: datetime | None


class Candidate(NamedTuple):
    """A message with what is known of it in the light of one query.

    Attributes:
        similarity: Cosine of its best passage and the query; None where it has no vector.
        tokens: int8, shape (word pieces of its best passages, d); None where it has none.
        frequencies: How often each word of the query (by index) occurs in it; words that do not are absent.
        length: How many terms it has; 0 where it has none of the query's words.
    """

    message: Utterance
    similarity: float | None
    tokens: NDArray[np.int8] | None
    frequencies: Mapping[int, int]
    length: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Everything that ranking may look at.

    Attributes:
        by_seq: Candidates and the messages beside them, by order of arrival.
        ranked: The `seq` of those that may be returned.
        before: The `seq` of the message before each in its session, as far as both are in `by_seq`.
        words: The query's words; `Candidate.frequencies` and `documents` refer to their indices.
        documents: In how many messages of the corpus each word occurs; absent means none.
        corpus: Messages that the filters let through.
    """

    by_seq: Mapping[int, Candidate]
    ranked: frozenset[int]
    before: Mapping[int, int]
    words: tuple[QueryTerm, ...]
    documents: Mapping[int, int]
    corpus: int

    @property
    def speakers(self) -> frozenset[str]:
        """Names of those who speak in the candidates, where names are given."""
        return frozenset({one.message.speaker for one in self.by_seq.values()} - _ROLES)
