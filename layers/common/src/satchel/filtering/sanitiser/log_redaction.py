"""Redaction for the log writer: one text in, one text out."""

from functools import lru_cache

from satchel.filtering.sanitiser.configuration import SanitiserConfig
from satchel.filtering.sanitiser.sanitiser import Sanitiser


@lru_cache(maxsize=1)
def _sanitiser() -> Sanitiser:
    return Sanitiser(SanitiserConfig())


def redact_for_logs(text: str) -> str:
    """A log line without credentials and personal data; credentials and personal data are always looked for.

    The engine is built on first use, about 20 ms, and kept.
    """
    return _sanitiser().sanitise_text(text).text
