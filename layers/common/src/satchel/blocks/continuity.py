"""The learned continuity score: small boosted trees over the causal features, evaluated in pure Python.

The trees are walked all at once, after QuickScorer (Lucchese et al., SIGIR 2015): every leaf is a bit of one long
integer; a test `feature <= threshold` that fails clears the leaves of its left side; the lowest bit left among a
tree's bits is its leaf. Leaf values are integers, so the sum is the same on every machine.
"""

import json
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from operator import getitem
from typing import Any, NamedTuple

from satchel.blocks.features import FLAGS, NAMES, NARROW, WIDE
from satchel.blocks.sessions import GapMode
from satchel.blocks.vocabulary import Lexicon

_LEAVES = 16
_LEAF_MASK = (1 << _LEAVES) - 1
_SCORE_DIGITS = 6
_EDGE = 10.0**-_SCORE_DIGITS
_UNIT = 1_000_000
# The score of a margin at the calibration's centre: the midpoint of the document's thresholds.
_CENTRE_LOGIT = math.log(0.325 / 0.675)


class Calibration(NamedTuple):
    """From margins to scores, for one gap mode: `logit(score) = logit(.325) - slope * (margin - centre)`.

    `centre` is the margin, in logits, at which opening a block and not opening one are equally good on held-out
    sessions; `slope` makes the score a probability for a reader who expects both equally often.
    """

    centre: float
    slope: float


class Model:
    """The score of one model file.

    Args:
        document: The parsed file; `benchmarks/blocks/train.py` writes it and says in it where it comes from.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.lexicon = Lexicon(document["weight"], document["opens"], document["closes"], document["topic"])
        self._calibrations: dict[str, Calibration] = {
            mode: Calibration(**values) for mode, values in document["calibration"].items()
        }
        leaf_values: list[dict[int, int]] = []
        failures: dict[str, dict[int, int]] = {}
        reachable = 0
        # An even number of trees, since they are added up two by two.
        for place, tree in enumerate([*document["trees"], *[0] * (len(document["trees"]) % 2)]):
            values = _read_tree(tree, place * _LEAVES, 0, failures)
            leaf_values.append({1 << leaf: value for leaf, value in enumerate(values)})
            reachable |= ((1 << len(values)) - 1) << place * _LEAVES
        self._reachable = reachable
        self._ones = sum(1 << place * _LEAVES for place in range(len(leaf_values)))
        self._bytes = len(leaf_values) * _LEAVES // 8
        self._pairs = list(map(_Pair, leaf_values[::2], leaf_values[1::2]))
        steps = {name: _steps(failures[name], reachable) for name in NAMES if name in failures}
        self._tables = [
            (index, _table(*steps[name])) for index, name in enumerate(NAMES) if name in steps and name not in WIDE
        ]
        self._steps = [(index, *steps[name]) for index, name in enumerate(NAMES) if name in steps and name in WIDE]
        # A flag fails its only test, `<= 0`, where it is set.
        self._flags = {1 << bit: reachable & ~failures[name][0] for bit, name in enumerate(FLAGS) if name in failures}
        self._used_flags = sum(self._flags)

    def margin(self, numbers: Sequence[int], flags: int) -> int:
        """The evidence for a new block, in millionths of a logit.

        Args:
            numbers: As `NAMES`.
            flags: As `FLAGS`, one bit each.
        """
        left = self._reachable
        flags &= self._used_flags
        while flags:
            bit = flags & -flags
            left &= self._flags[bit]
            flags ^= bit
        for index, table in self._tables:
            left &= table[numbers[index]]
        for index, thresholds, kept in self._steps:
            left &= kept[bisect_left(thresholds, numbers[index])]
        # One bit at least is left in each tree, so taking one from each never borrows from a neighbour.
        lowest = left & ~(left - self._ones)
        leaves = memoryview(lowest.to_bytes(self._bytes, "little")).cast("I")
        return sum(map(getitem, self._pairs, leaves))

    def score(self, margin: int, gap_mode: GapMode) -> float:
        """The continuity score of a margin, in (0, 1), to six digits; it falls as the margin grows."""
        calibration = self._calibrations[gap_mode]
        logit = _CENTRE_LOGIT - calibration.slope * (margin / _UNIT - calibration.centre)
        score = round(1 / (1 + math.exp(-max(-40.0, min(40.0, logit)))), _SCORE_DIGITS)
        return min(max(score, _EDGE), 1 - _EDGE)


class _Pair(dict[int, int]):
    """The summed values of two trees by their two leaf bits; each pair of leaves is added up when it is first met."""

    def __init__(self, low: Mapping[int, int], high: Mapping[int, int]) -> None:
        super().__init__()
        self._low, self._high = low, high

    def __missing__(self, leaves: int) -> int:
        value = self[leaves] = self._low[leaves & _LEAF_MASK] + self._high[leaves >> _LEAVES]
        return value


def _read_tree(node: Any, offset: int, first_leaf: int, failures: dict[str, dict[int, int]]) -> list[int]:
    """The leaf values of a tree from left to right; adds to `failures` what each failed test clears.

    A node is a leaf value, or `[feature, threshold, left, right]`.
    """
    if isinstance(node, int):
        return [node]
    feature, threshold, left, right = node
    left_values = _read_tree(left, offset, first_leaf, failures)
    of_feature = failures.setdefault(feature, {})
    cleared = ((1 << len(left_values)) - 1) << (offset + first_leaf)
    of_feature[threshold] = of_feature.get(threshold, 0) | cleared
    return left_values + _read_tree(right, offset, first_leaf + len(left_values), failures)


def _steps(failures: Mapping[int, int], reachable: int) -> tuple[list[int], list[int]]:
    """The thresholds of a feature in order, and what is kept where the first 0, 1, 2 … of them are exceeded."""
    thresholds = sorted(failures)
    kept = [reachable]
    for threshold in thresholds:
        kept.append(kept[-1] & ~failures[threshold])
    return thresholds, kept


def _table(thresholds: Sequence[int], kept: Sequence[int]) -> list[int]:
    """What is kept for every value of a narrow feature, negative ones at the negative index."""
    values = [*range(NARROW + 1), *range(-NARROW - 1, 0)]
    return [kept[bisect_left(thresholds, value)] for value in values]


@cache
def shipped_model() -> Model:
    """The model that comes with the package."""
    return Model(json.loads(files("satchel.blocks").joinpath("continuity.json").read_text(encoding="utf-8")))
