"""The order of an array's items by relevance to an intent.

Pure and deterministic: ties keep the array's own order. Without a language model an item that contains a keyword never
comes after one that contains none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from satchel.filtering import conversation, date_ranges, facets, feedback, lexical, terms
from satchel.filtering.intent import Intent
from satchel.filtering.tool_profiles import ToolProfile

# What an item keeps of its score for each condition it does not meet, and for containing a negative.
UNMET = 0.3
# Items that contain a keyword stand above all others, those that only touch it inside a longer word included.
KEYWORD_LIFT = 0.01


@dataclass(frozen=True, slots=True)
class Ranked:
    """An array in order.

    Attributes:
        order: Item indices, best first.
        scores: Score of each item, in the array's order; bigger is better, 0 is "nothing points to it".
        conditions: What was taken from the data, for the explanation.
        is_chat: Whether the array was read as a conversation.
    """

    order: list[int]
    scores: list[float]
    conditions: list[facets.Condition] = field(default_factory=list[facets.Condition])
    is_chat: bool = False


def rank(items: Sequence[Any], intent: Intent, profile: ToolProfile, *, today: date | None = None) -> Ranked:
    """Ranks `items` by relevance to `intent`.

    Args:
        items: The array.
        intent: What is wanted.
        profile: Weights of fields and keywords, and which fields a filter speaks of.
        today: Day that relative dates of the sentence count from.
    """
    wanted = terms.of_intent(intent.keywords, intent.intent, profile.keyword_weights, profile.generic_words)
    phrases = terms.phrases(intent.keywords)
    ascii_only = all(term.prefix.isascii() for term in wanted) and all(phrase.isascii() for phrase in phrases)
    laid = lexical.corpus(items, profile.field_weight, ascii_only=ascii_only)
    found = lexical.scan(laid, wanted, phrases)
    scores = feedback.rerank(laid, lexical.bm25(laid, wanted, found), wanted)
    chat = conversation.recognise(items)
    if chat is None:  # who answers whom says more than a shared word, in what people say
        scores = feedback.fill(laid, scores, wanted, intent.max_results)
    conditions = _conditions(items, intent, profile, today)
    if conditions and not wanted:
        scores = [float(sum(condition.met[i] for condition in conditions)) for i in range(len(items))]
    for condition in conditions:
        scores = [score if met else score * UNMET for score, met in zip(scores, condition.met, strict=True)]
    if chat is not None:
        between = conversation.links(items, chat)
        together = conversation.exchange((i for i, score in enumerate(scores) if score > 0), between)
        flowed = conversation.spread(scores, between)
        scores = [score if i in together else 0.0 for i, score in enumerate(flowed)]
    if intent.negatives:
        unwanted = lexical.scan(laid, terms.of_intent(intent.negatives, "", {}, frozenset())).touched
        scores = [score * UNMET if index in unwanted else score for index, score in enumerate(scores)]
    if found.touched:
        others = list(scores)
        for i in found.touched:
            others[i] = 0.0
        lift = KEYWORD_LIFT + max(others)
        scores = list(scores)
        for i in found.touched:
            scores[i] += lift
    order = sorted(range(len(items)), key=scores.__getitem__, reverse=True)  # stable: ties keep the array's order
    return Ranked(order, scores, conditions, chat is not None)


def _conditions(
    items: Sequence[Any], intent: Intent, profile: ToolProfile, today: date | None
) -> list[facets.Condition]:
    table = facets.Table(items)
    spans = date_ranges.find(intent.intent, today)
    filters = dict(intent.filters)
    filters.pop("required", None)
    asked_range = filters.pop("date_range", None)
    if not spans and asked_range is not None:
        spans = date_ranges.from_filter(asked_range)
    found: dict[str, list[bool]] = {}
    for condition in (
        *facets.asked_filters(table, filters, profile.filter_columns),
        *facets.named_values(table, intent.intent),
    ):  # any of the values named for one column will do
        known = found.get(condition.column, condition.met)
        found[condition.column] = [one or other for one, other in zip(known, condition.met, strict=True)]
    named = (facets.Condition(column, met) for column, met in found.items())
    every = (*named, *facets.in_ranges(table, spans, intent.intent))
    return [condition for condition in every if any(condition.met) and not all(condition.met)]
