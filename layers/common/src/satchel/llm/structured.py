"""Asking a language model for one JSON object: the port, and what may come of it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Cause = Literal["cut_off", "invalid", "rejected", "refused", "timeout", "unavailable"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        prompt: Name and version of the prompt, such as `blocks.decide_zone.v1`.
        system: The prompt itself.
        text: What it is asked about.
        schema: JSON Schema that the answer fits.
        max_tokens: At most this much answer.
    """

    prompt: str
    system: str
    text: str
    schema: Mapping[str, Any]
    max_tokens: int

    def key(self, model: str) -> str:
        """The hash of all that decides the answer: the model, the prompt and its version, the schema, the input."""
        parts = [model, self.prompt, self.system, self.schema, self.text, self.max_tokens]
        canonical = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


class ModelFailedError(Exception):
    """The model gave no usable answer; `cause` says how, `may_retry` whether asking again could help."""

    def __init__(self, cause: Cause, *, may_retry: bool = True) -> None:
        super().__init__(cause)
        self.cause: Cause = cause
        self.may_retry = may_retry


class StructuredModel(Protocol):
    """A language model that answers in JSON. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's name, part of what an answer is stored under."""
        ...

    def ask(self, question: Question, *, timeout_s: float) -> dict[str, Any]:
        """The answer to `question`, one JSON object. One attempt; the caller retries.

        Args:
            question: What to ask.
            timeout_s: How long to wait, in seconds.

        Raises:
            ModelFailedError: There is no answer, or it is not a JSON object.
        """
        ...
