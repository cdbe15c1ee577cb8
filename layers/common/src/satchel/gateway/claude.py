"""Claude in conversation, through the official SDK, streaming, at Anthropic or on Amazon Bedrock."""

import asyncio
from collections.abc import Callable
from typing import Any

from satchel.agent.budget import Usage
from satchel.agent.ports import ModelReply, ModelRequest, OutOfTimeError
from satchel.errors import UnavailableError

_RETRIES = 2
_BUSY = "the language model does not answer; try again"
# What the service says of the key, the account, or the model's name: whoever runs this has to see to it.
_SETUP = (401, 402, 403, 404)
_PASSING = (408, 409, 429)


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
        import httpx2  # noqa: PLC0415 - as above

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
            raise _failure(error.status_code) from error
        except (anthropic.APIError, httpx2.HTTPError) as error:
            raise UnavailableError(_BUSY) from error
        except AssertionError as error:
            # The SDK's word for a stream without a message in it.
            raise UnavailableError(_BUSY) from error
        if message.stop_reason is None:
            # The stream ended before the message did.
            raise UnavailableError(_BUSY)
        return ModelReply(
            [block.to_dict(mode="json") for block in message.content],
            str(message.stop_reason),
            Usage.of(message.usage.to_dict(mode="json")),
        )


def _failure(status: int) -> Exception:
    """What an error of the service means; one in the middle of a stream comes after a status of 200."""
    if status in _SETUP:
        return UnavailableError("the language model does not accept this installation's settings", retry_after_s=3600)
    if status in _PASSING or not 300 <= status < 500:  # noqa: PLR2004 - HTTP statuses
        return UnavailableError(_BUSY)
    return ModelRefusedRequestError(str(status))


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
