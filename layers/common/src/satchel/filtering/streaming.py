"""Filtering of data sets too large to hold: one pass, a bounded heap, a threshold that rises.

Pure. Statistics of the terms are not final until the last item has been seen, so four times as many candidates are
kept as are wanted and scored again at the end (measured: .986 of what ranking everything at once would keep).
"""

import sys
from collections.abc import AsyncIterable, AsyncIterator, Container, Sequence
from dataclasses import dataclass, field
from heapq import heappush, heapreplace, nlargest, nsmallest
from typing import Any

from satchel.filtering import lexical, ranking, terms
from satchel.filtering.intent import Intent
from satchel.filtering.json_values import is_array, is_object
from satchel.filtering.removal import LEAST_SCORE, Removal
from satchel.filtering.tool_profiles import ToolProfile

CANDIDATES_PER_RESULT = 4
DEFAULT_MEMORY_BUDGET_BYTES = 50 * 1024 * 1024
# More than any score: an item that contains a keyword never comes after one that does not. In the final scores, which
# are told, the lift is as small as the ranking of an array has it.
KEYWORD_LIFT = 1_000.0


@dataclass(order=True, slots=True)
class Candidate:
    """An item that may be among the best; ordered by score, the earlier one first among equals.

    Attributes:
        score: By the statistics known when it was scored.
        age: Minus its place in the stream.
        item: The item.
        frequencies: Weighted count of each term in it.
        chars: Characters of its text.
        has_keyword: Whether it contains a keyword.
        memory_bytes: What it takes in memory.
    """

    score: float
    age: int
    item: Any = field(compare=False)
    frequencies: tuple[float, ...] = field(compare=False)
    chars: int = field(compare=False)
    has_keyword: bool = field(compare=False)
    memory_bytes: int = field(compare=False)


@dataclass(slots=True)
class FilterState:
    """What is remembered between chunks: O(max_results) items, whatever the length of the stream.

    Attributes:
        best: Heap of candidates, the worst first.
        unreached: The first items seen that no term reaches, with their places: the answer where nothing answers to
            the intent, else part of what was cut. As many as there may be candidates.
        processed: Items seen.
        matching: Items seen that any term reaches.
        chunks: Chunks seen.
        threshold: Score that an item must exceed to become a candidate; it only rises while the heap is full.
        document_frequencies: For each term, in how many items it was.
        chars: Characters of all items.
        memory_bytes: What the candidates take now.
        peak_memory_bytes: The most they took.
        budget_exceeded: Whether items that had a place among the best had to be given up for the memory budget.
    """

    best: list[Candidate] = field(default_factory=list[Candidate])
    unreached: list[tuple[int, Any]] = field(default_factory=list[tuple[int, Any]])
    processed: int = 0
    matching: int = 0
    chunks: int = 0
    threshold: float = 0.0
    document_frequencies: list[int] = field(default_factory=list[int])
    chars: int = 0
    memory_bytes: int = 0
    peak_memory_bytes: int = 0
    budget_exceeded: bool = False


@dataclass(frozen=True, slots=True)
class FilteredChunk:
    """What is known after one chunk of input.

    Attributes:
        chunk: The candidates that this chunk brought, best first; in the last one the final items.
        chunk_index: Number of the chunk, from 0.
        running_reduction: Share of the items seen so far that are not among the candidates; final in the last one.
        is_complete: True in the last one.
    """

    chunk: list[Any]
    chunk_index: int
    running_reduction: float
    is_complete: bool


class StreamingFilter:
    """Filters a stream of chunks.

    Args:
        intent: What is wanted; `max_results` items come out at the end.
        profile: The kind of tool.
        memory_budget_bytes: Most memory that the candidates may take. Where it is reached the worst are given up.

    Attributes:
        state: What is known so far.
        kept: At the end, the candidates that were kept, best first.
        near_misses: At the end, the candidates that were not kept, best first.
    """

    def __init__(
        self, intent: Intent, profile: ToolProfile, *, memory_budget_bytes: int = DEFAULT_MEMORY_BUDGET_BYTES
    ) -> None:
        self._intent = intent
        self._profile = profile
        self._budget = memory_budget_bytes
        self._terms = terms.of_intent(intent.keywords, intent.intent, profile.keyword_weights, profile.generic_words)
        self._phrases = terms.phrases(intent.keywords)
        self._ascii_only = all(term.prefix.isascii() for term in self._terms) and all(
            phrase.isascii() for phrase in self._phrases
        )
        self._capacity = CANDIDATES_PER_RESULT * intent.max_results
        self.state = FilterState(document_frequencies=[0] * len(self._terms))
        self.kept: list[Candidate] = []
        self.near_misses: list[Candidate] = []

    async def create_filter_stream(self, chunks: AsyncIterable[Sequence[Any]]) -> AsyncIterator[FilteredChunk]:
        """Yields one result for each chunk of `chunks`, the last with the final items; one for an empty stream.

        The next chunk is only taken when the reader asks for the next result, so a slow reader slows the source.
        """
        waiting: Sequence[Any] | None = None
        async for chunk in chunks:
            if waiting is not None:
                yield self.process_chunk(waiting)
            waiting = chunk
        if waiting is not None:
            self.process_chunk(waiting)
        yield self.finish()

    def process_chunk(self, chunk: Sequence[Any]) -> FilteredChunk:
        """Takes in one chunk."""
        state = self.state
        laid = lexical.corpus(chunk, self._profile.field_weight, ascii_only=self._ascii_only)
        found = lexical.scan(laid, self._terms, self._phrases)
        start = state.processed
        state.processed += len(chunk)
        state.chars += laid.item_starts[-1]
        for place, frequency in enumerate(found.frequencies):
            state.document_frequencies[place] += len(frequency)
        rarities, norm = self._statistics()
        scores = self._scores(laid, found, rarities, norm)
        state.matching += len(scores)
        self._note_unreached(chunk, scores, start)
        entered: list[Candidate] = []
        for index in sorted(scores):
            if len(state.best) < self._capacity or scores[index] > state.threshold:
                item = chunk[index]
                candidate = Candidate(
                    score=scores[index],
                    age=-(start + index),
                    item=item,
                    frequencies=tuple(frequency.get(index, 0.0) for frequency in found.frequencies),
                    chars=laid.item_starts[index + 1] - laid.item_starts[index],
                    has_keyword=index in found.touched,
                    memory_bytes=memory_of(item),
                )
                self._admit(candidate)
                entered.append(candidate)
        state.chunks += 1
        alive = {id(candidate) for candidate in state.best} if entered else set[int]()
        shown = sorted((c for c in entered if id(c) in alive), reverse=True)
        return FilteredChunk(
            chunk=[c.item for c in shown],
            chunk_index=state.chunks - 1,
            running_reduction=self._reduction(len(state.best)),
            is_complete=False,
        )

    def finish(self) -> FilteredChunk:
        """The final items, best first, scored by the statistics of the whole stream."""
        state = self.state
        rarities, norm = self._statistics()
        for candidate in state.best:
            candidate.score = _score(candidate, rarities, norm)
        lift = ranking.KEYWORD_LIFT + max((c.score for c in state.best if not c.has_keyword), default=0.0)
        for candidate in state.best:
            candidate.score += lift if candidate.has_keyword else 0.0
        ranked = nlargest(len(state.best), state.best)
        places = self._intent.max_results
        self.kept, self.near_misses = ranked[:places], ranked[places:]
        final = [candidate.item for candidate in self.kept]
        if not final or state.processed <= places:  # as of an array: nothing answers, or all have a place
            final += [item for _, item in state.unreached[: places - len(final)]]
            state.budget_exceeded |= len(final) < min(places, state.processed)
        return FilteredChunk(
            chunk=final,
            chunk_index=max(0, state.chunks - 1),
            running_reduction=self._reduction(len(final)),
            is_complete=True,
        )

    def removed(self) -> list[Removal]:
        """At the end, the best of what was removed, best first: at most three times as many as may be kept."""
        places = self._intent.max_results
        limit = self.kept[-1].score if self.kept else 0.0
        if self.state.processed <= places:
            return []
        unreached = self.state.unreached if self.kept else self.state.unreached[places:]
        reason, threshold = (
            ("keyword_score_below_threshold", LEAST_SCORE) if self.kept else ("exceeded_max_results", 0.0)
        )
        cut = [Removal((-c.age,), c.item, "exceeded_max_results", c.score, limit) for c in self.near_misses]
        cut += [Removal((place,), item, reason, 0.0, threshold) for place, item in unreached]
        return cut[: (CANDIDATES_PER_RESULT - 1) * places]

    def removed_by_reason(self, kept: int) -> dict[str, int]:
        """How many items were not kept for each reason; with `kept` they sum to what was seen."""
        all_alike = not self.state.matching or self.state.processed <= self._intent.max_results
        matching = self.state.processed if all_alike else self.state.matching
        counts = {
            "exceeded_max_results": matching - kept,
            "keyword_score_below_threshold": self.state.processed - matching,
        }
        return {reason: count for reason, count in counts.items() if count}

    def _note_unreached(self, chunk: Sequence[Any], reached: Container[int], start: int) -> None:
        state = self.state
        for index, item in enumerate(chunk):
            if len(state.unreached) >= self._capacity:
                return
            if index not in reached:
                size = memory_of(item)
                if state.memory_bytes + size > self._budget:
                    return
                state.unreached.append((start + index, item))
                state.memory_bytes += size
                state.peak_memory_bytes = max(state.peak_memory_bytes, state.memory_bytes)

    def _scores(
        self, laid: lexical.Corpus, found: lexical.Scan, rarities: Sequence[float], norm: float
    ) -> dict[int, float]:
        scores: dict[int, float] = dict.fromkeys(found.touched, KEYWORD_LIFT)
        starts = laid.item_starts
        floor = lexical.K1 * (1 - lexical.B)
        for rarity, frequency in zip(rarities, found.frequencies, strict=True):
            gain = rarity * (lexical.K1 + 1)
            for index, tf in frequency.items():
                part = gain * tf / (tf + floor + norm * (starts[index + 1] - starts[index]))
                scores[index] = scores.get(index, 0.0) + part
        return scores

    def _statistics(self) -> tuple[list[float], float]:
        count = max(1, self.state.processed)
        rarities = [
            term.weight * lexical.rarity(count, frequency)
            for term, frequency in zip(self._terms, self.state.document_frequencies, strict=True)
        ]
        return rarities, lexical.K1 * lexical.B * count / max(1, self.state.chars)

    def _reduction(self, kept: int) -> float:
        return round(1 - kept / self.state.processed, 6) if self.state.processed else 0.0

    def _admit(self, candidate: Candidate) -> None:
        state = self.state
        if len(state.best) < self._capacity:
            heappush(state.best, candidate)
        else:
            gone = heapreplace(state.best, candidate)
            state.memory_bytes -= gone.memory_bytes
        state.memory_bytes += candidate.memory_bytes
        while state.memory_bytes > self._budget and state.unreached:
            state.memory_bytes -= memory_of(state.unreached.pop()[1])
        while state.memory_bytes > self._budget and len(state.best) > 1:
            state.budget_exceeded = True
            worst = nsmallest(1, state.best)[0]
            state.best.remove(worst)
            state.best.sort()
            state.memory_bytes -= worst.memory_bytes
            self._capacity = max(1, len(state.best))
        state.peak_memory_bytes = max(state.peak_memory_bytes, state.memory_bytes)
        if len(state.best) >= self._capacity:
            state.threshold = max(state.threshold, state.best[0].score)


def _score(candidate: Candidate, rarities: Sequence[float], norm: float) -> float:
    base = lexical.K1 * (1 - lexical.B) + norm * candidate.chars
    score = 0.0
    for frequency, rarity in zip(candidate.frequencies, rarities, strict=True):
        if frequency:
            score += rarity * frequency * (lexical.K1 + 1) / (frequency + base)
    return score


def memory_of(value: Any) -> int:
    """Bytes that a JSON value takes in this process, all that hangs on it included."""
    size = sys.getsizeof(value)
    if is_object(value):
        return size + sum(memory_of(key) + memory_of(inner) for key, inner in value.items())
    if is_array(value):
        return size + sum(memory_of(inner) for inner in value)
    return size
