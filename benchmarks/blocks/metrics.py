"""How well predicted boundaries fit labelled ones: boundary F1, Pk (Beeferman 1999), WindowDiff (Pevzner 2002)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Fit(NamedTuple):
    """F1 over all boundaries of a corpus; Pk and WindowDiff as means over its sessions."""

    f1: float
    pk: float
    wd: float


def fit_of(pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Fit:
    """The fit of (labelled, predicted) flags per session; flag i says that message i opens a block."""
    hits = predicted = labelled = sessions = 0
    pk = wd = 0.0
    for gold, guess in pairs:
        sessions += 1
        hits += sum(a and b for a, b in zip(gold[1:], guess[1:], strict=True))
        labelled += sum(gold[1:])
        predicted += sum(guess[1:])
        one_pk, one_wd = _windowed(gold, guess)
        pk += one_pk
        wd += one_wd
    f1 = 2 * hits / (labelled + predicted) if labelled + predicted else 1.0
    return Fit(f1, pk / sessions, wd / sessions)


def _windowed(gold: Sequence[int], guess: Sequence[int]) -> tuple[float, float]:
    """Pk and WindowDiff with windows of half the mean labelled segment."""
    length = len(gold)
    window = max(1, round(length / (sum(gold[1:]) + 1) / 2))
    places = length - window
    if places <= 0:
        return 0.0, 0.0
    a, b = _block_numbers(gold), _block_numbers(guess)
    steps = [(a[i + window] - a[i], b[i + window] - b[i]) for i in range(places)]
    pk = sum((x == 0) != (y == 0) for x, y in steps) / places
    return pk, sum(x != y for x, y in steps) / places


def _block_numbers(flags: Sequence[int]) -> list[int]:
    numbers = []
    block = 0
    for index, flag in enumerate(flags):
        block += bool(index and flag)
        numbers.append(block)
    return numbers
