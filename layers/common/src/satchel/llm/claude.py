"""Claude as a `StructuredModel`, through the official SDK, at Anthropic or on Amazon Bedrock."""

import re
from collections.abc import Callable
from typing import Any

from satchel.llm.answer_text import read_object
from satchel.llm.structured import ModelFailedError, Question

# Models up to 4.6 take a temperature; later ones refuse the field, and the ledger is what makes answers repeat.
_TAKES_TEMPERATURE = re.compile(r"claude-(?:3\b|(?:haiku|sonnet|opus)-4(?:-[0-6])?(?:-\d{8})?(?:$|[-:@]))")


class ClaudeModel:
    """Claude behind the Messages API.

    Args:
        name: The model's name.
        make_client: Gives the SDK's client when the first question is asked; importing the SDK takes a second.
    """

    def __init__(self, name: str, make_client: Callable[[], Any]) -> None:
        self._name = name
        self._make_client = make_client
        self._client: Any = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    def ask(self, question: Question, *, timeout_s: float) -> dict[str, Any]:
        """See `StructuredModel.ask`. The SDK's own retries are off: the caller counts attempts and time."""
        import anthropic  # noqa: PLC0415 - a second of CPU, only where a question is asked

        if self._client is None:
            self._client = self._make_client()
        try:
            message = self._client.with_options(timeout=timeout_s, max_retries=0).messages.create(
                model=self._name,
                max_tokens=question.max_tokens,
                system=question.system,
                messages=[{"role": "user", "content": question.text}],
                output_config={"format": {"type": "json_schema", "schema": dict(question.schema)}},
                extra_body={"temperature": 0} if _TAKES_TEMPERATURE.search(self._name) else None,
            )
        except anthropic.APITimeoutError as error:
            raise ModelFailedError("timeout") from error
        except anthropic.APIStatusError as error:
            again = error.status_code in (408, 409, 429) or error.status_code >= 500  # noqa: PLR2004 - HTTP statuses
            raise ModelFailedError("unavailable" if again else "rejected", may_retry=again) from error
        except (anthropic.APIError, ValueError) as error:
            # The SDK lets a body that is not JSON through as a ValueError.
            raise ModelFailedError("unavailable") from error
        return _object_of(message)


def _object_of(message: Any) -> dict[str, Any]:
    stop_reason = getattr(message, "stop_reason", None)
    content = getattr(message, "content", None)
    if stop_reason == "refusal":
        raise ModelFailedError("refused")
    if stop_reason in ("max_tokens", "model_context_window_exceeded"):
        raise ModelFailedError("cut_off")
    return read_object("".join(block.text for block in content or () if block.type == "text"))


def anthropic_client(api_key: Callable[[], str]) -> Any:
    """The SDK's client for Anthropic; it reads `ANTHROPIC_BASE_URL` itself.

    Args:
        api_key: Gives the key; "" leaves it to the SDK's own `ANTHROPIC_API_KEY`.
    """
    import anthropic  # noqa: PLC0415 - see above

    key = api_key()
    return anthropic.Anthropic(api_key=key) if key else anthropic.Anthropic()


def bedrock_client() -> Any:
    """The SDK's client for Amazon Bedrock, with the function's own role."""
    from anthropic.lib.bedrock import AnthropicBedrock  # noqa: PLC0415 - see above

    return AnthropicBedrock()
