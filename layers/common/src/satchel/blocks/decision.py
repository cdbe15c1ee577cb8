"""Whether a message goes on with the open block or opens a new one: the document's rule, as one pure function.

    no open block                                   NEW_BLOCK  first
    hard mode, pause strictly over timeGapMinutes   NEW_BLOCK  gap
    score at or under shiftLowSim                   NEW_BLOCK  low
    score at or over shiftHighSim                   APPEND     high
    between: the zone                               a model decides, else the midpoint

Raising a threshold or lowering the gap never removes a boundary, since each rule compares one number.
"""

from typing import Literal, NamedTuple

from satchel.blocks.sessions import Options

Action = Literal["APPEND", "NEW_BLOCK"]
Rule = Literal["first", "gap", "low", "high", "zone", "llm", "midpoint", "inside", "kept"]


class Decision(NamedTuple):
    """What was decided for one message.

    Attributes:
        action: What happens; None while the zone is undecided.
        rule: Which rule decided.
        score: The continuity score in (0, 1); None where no score was needed.
    """

    action: Action | None
    rule: Rule
    score: float | None


def decide(gap_s: float | None, score: float, options: Options, *, has_open_block: bool = True) -> Decision:
    """Decide one message.

    Args:
        gap_s: Seconds since the message before it; None where not known.
        score: How much it continues what came before, in (0, 1).
        options: The thresholds.
        has_open_block: Whether there is a block it could be appended to.
    """
    if not has_open_block:
        return Decision("NEW_BLOCK", "first", None)
    if options.gap_mode == "hard" and gap_s is not None and gap_s > options.time_gap_minutes * 60:
        return Decision("NEW_BLOCK", "gap", score)
    if score <= options.shift_low_sim:
        return Decision("NEW_BLOCK", "low", score)
    if score >= options.shift_high_sim:
        return Decision("APPEND", "high", score)
    return Decision(None, "zone", score)


def fall_back(decision: Decision, options: Options) -> Decision:
    """Decide an undecided message of the zone by the midpoint of the thresholds."""
    if decision.action is not None:
        return decision
    assert decision.score is not None, "only scored messages are in the zone"
    return decision._replace(action="NEW_BLOCK" if decision.score <= options.midpoint else "APPEND", rule="midpoint")


def certainty(decision: Decision, options: Options) -> float:
    """How sure a decision is, in [0, 1].

    A score is as sure as it is far from the midpoint, relative to the end it lies towards; the gap rule counts
    .9, a fall-back at most .5 (nobody looked), a model's answer .8.
    """
    if decision.rule in ("first", "inside", "kept"):
        return 1.0
    if decision.rule == "gap":
        return 0.9
    if decision.rule == "llm":
        return 0.8
    assert decision.score is not None
    middle = options.midpoint
    room = middle if decision.score <= middle else 1 - middle
    margin = abs(decision.score - middle) / room if room else 1.0
    return min(0.5, margin) if decision.rule == "midpoint" else 0.5 + 0.5 * margin
