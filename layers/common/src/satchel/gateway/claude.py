"""Claude in conversation, through the official SDK, streaming, at Anthropic or on Amazon Bedrock."""

import asyncio
from collections.abc import Callable
from typing import Any

from satchel.agent.budget import Usage
from satchel.agent.ports import ModelReply, ModelRequest, OutOfTimeError
from satchel.errors import UnavailableError

_RETRIES = 2
_BUSY = "the language model does not answer; try again"


class ModelRefusedRequestError(Exception):
    """The service found the request itself wrong, which is a fault of ours."""


class ClaudeChat:
    """Claude behind the Messages API; see `satchel.agent.ports.ChatModel`.

    Args:
        make_client: Gives the SDK's asynchronous client when the first question is asked.
    """

    def __init__(self, make_client: Callable[[], Any]) -> None:
        self._make_client = make_client
        self._client: Any = None

    async def reply(self, request: ModelRequest, *, on_text: Callable[[str], None], timeout_s: float) -> ModelReply:
        """The next message of the conversation."""
        import anthropic  # noqa: PLC0415 - a second of CPU, only where the model is asked

        if self._client is None:
            self._client = self._make_client()
        fields: dict[str, Any] = {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "system": list(request.system),
            "messages": list(request.messages),
        }
        if request.tools:
            fields["tools"] = list(request.tools)
        try:
            asking = self._client.with_options(timeout=timeout_s, max_retries=_RETRIES).messages.stream(**fields)
            async with asyncio.timeout(timeout_s), asking as stream:
                async for piece in stream.text_stream:
                    on_text(piece)
                message = await stream.get_final_message()
        except (TimeoutError, anthropic.APITimeoutError) as error:
            raise OutOfTimeError from error
        except anthropic.APIStatusError as error:
            if error.status_code in (408, 409, 429) or error.status_code >= 500:  # noqa: PLR2004 - HTTP statuses
                raise UnavailableError(_BUSY) from error
            raise ModelRefusedRequestError(str(error.status_code)) from error
        except anthropic.APIError as error:
            raise UnavailableError(_BUSY) from error
        return ModelReply(
            [block.to_dict(mode="json") for block in message.content],
            str(message.stop_reason),
            Usage.of(message.usage.to_dict(mode="json")),
        )


def anthropic_chat_client(api_key: Callable[[], str]) -> Any:
    """The SDK's asynchronous client for Anthropic; it reads `ANTHROPIC_BASE_URL` itself.

    Args:
        api_key: Gives the key; "" leaves it to the SDK's own `ANTHROPIC_API_KEY`.
    """
    import anthropic  # noqa: PLC0415 - see above

    key = api_key()
    return anthropic.AsyncAnthropic(api_key=key) if key else anthropic.AsyncAnthropic()


def bedrock_chat_client() -> Any:
    """The SDK's asynchronous client for Amazon Bedrock, with the function's own role."""
    from anthropic.lib.bedrock import AsyncAnthropicBedrock  # noqa: PLC0415 - see above

    return AsyncAnthropicBedrock()
