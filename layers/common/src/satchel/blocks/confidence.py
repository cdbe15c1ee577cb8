"""How much to trust a block, in [0, 1]: seven parts its decisions, three parts its tags.

Decisions: the certainty of the one that opened it, and the mean certainty of those that kept it together, whichever
is less. Tags: half for a stated problem, half for a solution or an insight. What rules wrote counts at most .8;
what they wrote because a model failed, at most .5.
"""

from collections.abc import Sequence

from satchel.blocks.decision import Decision, certainty
from satchel.blocks.sessions import Options, Tags

_DECISIONS = 0.7
_RULES_AT_MOST = 0.8
_FALLBACK_AT_MOST = 0.5
_DIGITS = 3


def confidence_of(
    decisions: Sequence[Decision], tags: Tags, options: Options, *, by_rules: bool, fell_back: bool
) -> float:
    """The confidence of a block.

    Args:
        decisions: Of its messages in order, the opening one first.
        tags: What it was found to be about.
        options: The thresholds the decisions were made with.
        by_rules: The tags were written by rules.
        fell_back: They were so because a model failed.
    """
    opening, *others = (certainty(decision, options) for decision in decisions)
    kept = sum(others) / len(others) if others else 1.0
    evidence = 0.5 * bool(tags.PROBLEM) + 0.5 * bool(tags.SOLUTION or tags.INSIGHT)
    value = _DECISIONS * min(opening, kept) + (1 - _DECISIONS) * evidence
    most = _FALLBACK_AT_MOST if fell_back else _RULES_AT_MOST if by_rules else 1.0
    return round(min(value, most), _DIGITS)
