"""What a turn needs of the world: the user's server, a model, and somebody to tell."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from satchel.agent.budget import Usage
from satchel.agent.exchange import Block, Stored
from satchel.agent.routing import Tool


class OutOfTimeError(Exception):
    """The time given does not suffice; what was done is saved, and the turn can be run again to go on."""


@dataclass(frozen=True)
class ToolOutcome:
    """What a tool call came to, as text for the model."""

    text: str
    is_error: bool = False


class UserServer(Protocol):
    """The user's own MCP server, and whatever other servers are configured, as this user."""

    async def save(self, session_id: str, message: Stored) -> None:
        """Save a message; saving the same one again changes nothing.

        Raises:
            ConflictError: Another message has that id.
        """
        ...

    async def read(self, uri: str) -> str:
        """The text of a resource."""
        ...

    async def tools(self) -> list[Sequence[Tool]]:
        """The tools of each server, the user's first; a server that fails is left out."""
        ...

    async def call(self, tool: Tool, arguments: Mapping[str, Any], *, timeout_s: float) -> ToolOutcome:
        """Call a tool once. Its failures are outcomes, not exceptions."""
        ...

    async def reduce(self, tool: Tool, arguments: Mapping[str, Any], text: str, *, question: str) -> ToolOutcome:
        """What a tool answered, cut to what matters for `question` and redacted; withheld where that fails."""
        ...


@dataclass(frozen=True)
class ModelRequest:
    """One request to the model, in the terms of the Messages API."""

    model: str
    max_tokens: int
    system: Sequence[Block]
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ModelReply:
    """One message of the model."""

    content: Sequence[Block]
    stop_reason: str
    usage: Usage


class ChatModel(Protocol):
    """A language model that holds conversations and calls tools."""

    async def reply(self, request: ModelRequest, *, on_text: Callable[[str], None], timeout_s: float) -> ModelReply:
        """The next message.

        Args:
            request: The conversation so far.
            on_text: Gets each piece of text as it comes.
            timeout_s: Seconds to wait.

        Raises:
            OutOfTimeError: It takes longer.
            UnavailableError: The service does not answer, or is overloaded.
        """
        ...


class Listener(Protocol):
    """Is told what happens during a turn."""

    def text(self, piece: str) -> None:
        """A piece of the answer's text."""
        ...

    def tool(self, name: str, state: str) -> None:
        """A tool call begins (`started`) or ends (`answered`, `failed`)."""
        ...


class Silence:
    """Nobody listens."""

    def text(self, piece: str) -> None:
        """Nothing."""

    def tool(self, name: str, state: str) -> None:
        """Nothing."""
