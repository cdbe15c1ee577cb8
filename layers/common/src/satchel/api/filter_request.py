"""The filter's wire models as the domain's values. Apart from the models, which the catalogue loads."""

from satchel.api.wire.filtering import ConfigIn, FilterArguments, IntentIn
from satchel.errors import InvalidInputError
from satchel.filtering.answering import FilterCall
from satchel.filtering.intent import Intent
from satchel.filtering.json_values import is_deeper
from satchel.filtering.object_filter import DEFAULT_MAX_DEPTH, DEFAULT_MAX_FIELDS, FieldLimits
from satchel.filtering.payload import FilterOptions

# What is nested deeper cannot be written again.
MAX_NESTING = 220


def filter_call(arguments: FilterArguments) -> FilterCall:
    """The request as the filter takes it.

    Raises:
        InvalidInputError: The response is missing, stands beside an upload, or is nested too deeply.
    """
    given = arguments.model_fields_set & {"response", "uploadId"}
    if len(given) != 1:
        raise InvalidInputError(
            "response and uploadId exclude each other" if given else "response is missing", field="response"
        )
    if is_deeper(arguments.response, MAX_NESTING):
        raise InvalidInputError(f"response is nested beyond {MAX_NESTING} levels", field="response")
    config = arguments.config
    return FilterCall(
        tool_name=arguments.tool.name,
        arguments=arguments.arguments,
        response=arguments.response,
        question=arguments.question,
        intent=_intent(arguments.intent) if arguments.intent else None,
        options=options(config),
        max_keywords=config.max_keywords,
        negatives=config.include_negative_keywords,
        explain="full" if arguments.explain == "full" else "brief",
        audit=config.audit_sensitive_access,
    )


def options(config: ConfigIn) -> FilterOptions:
    """How to filter."""
    return FilterOptions(
        limits=FieldLimits(
            preserve=frozenset(config.preserve_fields),
            max_depth=config.max_depth or DEFAULT_MAX_DEPTH,
            max_fields=config.max_fields or DEFAULT_MAX_FIELDS,
            forced=bool(config.model_fields_set & {"preserve_fields", "max_depth", "max_fields"}),
        ),
        confidence_threshold=config.confidence_threshold,
        text_threshold_chars=config.text_threshold_chars,
        table=config.table,
    )


def _intent(given: IntentIn) -> Intent:
    return Intent(
        intent=given.intent,
        keywords=tuple(keyword for keyword in given.keywords if keyword.strip()),
        filters=given.filters,
        max_results=given.max_results,
        confidence=given.confidence,
    )
