"""The intent of a call that an agent makes of a proxied tool.

Pure.
"""

from dataclasses import replace
from datetime import date

from satchel.filtering.answering import FilterCall
from satchel.filtering.intent import Intent, analyze_intent
from satchel.filtering.tool_profiles import ToolProfile

# A call that says nothing of what is wanted: cutting it to ten would be a guess.
UNSURE_CONFIDENCE = 0.2
UNSURE_RESULTS = 50


def proxied_call(call: FilterCall, profile: ToolProfile, today: date) -> Intent:
    """The intent by rules; a call that says nothing of what is wanted keeps up to 50 items."""
    intent = analyze_intent(call.tool_name, call.arguments, call.question, profile=profile, today=today)
    if intent.confidence < UNSURE_CONFIDENCE:
        return replace(intent, max_results=max(intent.max_results, UNSURE_RESULTS))
    return intent
