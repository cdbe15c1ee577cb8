"""From stored messages to a conversation that the Messages API accepts, whatever happened to it.

The API refuses a `tool_use` that the very next message does not answer, a `tool_result` without its call, empty text,
and a conversation that does not begin with the user; as history is sent again with every turn, one bad pair would end
the conversation for good. Nothing stored is changed: the repair is made anew, and the same, each time.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from satchel.agent.exchange import THINKING, Block, Stored, result_block
from satchel.agent.fencing import fence

Message = dict[str, Any]
Exchange = list[Message]

NOT_EXECUTED = (
    "Not executed, or interrupted before its result was recorded. Find out which before you call it again, "
    "unless it only reads."
)


def conversation(stored: Sequence[Stored], *, thinking_of: Container[str] = ()) -> list[Message]:
    """Messages for the API: paired, without empty ones, roles in turn, beginning with the user.

    Signed thinking holds only after exactly what came before it when it was thought: system prompt, tools and messages
    (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking). Elsewhere the API refuses it.

    Args:
        stored: The session's messages, oldest first.
        thinking_of: Ids of messages whose thinking is sent, untouched: those of the run that goes on.
    """
    results = {
        str(block["tool_use_id"]): block
        for message in stored
        for block in message.blocks
        if block["type"] == "tool_result"
    }
    messages: list[Message] = []
    for message in stored:
        blocks = _spoken(message)
        if message.message_id not in thinking_of:
            blocks = [block for block in blocks if block["type"] not in THINKING]
        if not blocks or (message.role == "assistant" and not messages):
            continue
        _append(messages, "assistant" if message.role == "assistant" else "user", blocks)
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if calls:
            _append(messages, "user", [_result_of(call, results) for call in calls])
    return messages


def exchanges(messages: Sequence[Message]) -> list[Exchange]:
    """Complete exchanges: each from something the user said to before the next thing they said."""
    found: list[Exchange] = []
    for message in messages:
        if not found or (message["role"] == "user" and not _has(message, "tool_result")):
            found.append([])
        found[-1].append(message)
    return found


def trim(messages: Sequence[Message], max_tokens: int) -> list[Message]:
    """The newest complete exchanges that fit; oldest are left out first, and none is ever cut.

    Args:
        messages: A conversation as `conversation` makes it.
        max_tokens: What fits, by `estimate_tokens`.
    """
    kept: list[Message] = []
    spent = 0
    for exchange in reversed(exchanges(messages)):
        spent += estimate_tokens(exchange)
        if spent > max_tokens:
            break
        kept = exchange + kept
    return kept


def estimate_tokens(value: Any) -> int:
    """Tokens of a JSON value, on the high side: three bytes of UTF-8 each, and four around every text."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "replace")) // 3 + 4
    if isinstance(value, Mapping):
        return sum(map(estimate_tokens, value.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, Iterable):
        return sum(map(estimate_tokens, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return 1


def _spoken(message: Stored) -> list[Block]:
    """What a message says itself; results of tools are put after their calls instead."""
    blocks = [
        block
        for block in message.blocks
        if block["type"] != "tool_result" and (block["type"] != "text" or str(block["text"]).strip())
    ]
    if message.role in ("user", "assistant"):
        return blocks
    # Somebody else's tool or system messages: words of theirs, not of the user.
    if message.turn is not None or not message.content.strip():
        return []
    return [{"type": "text", "text": fence(f"message:{message.role}", message.content)}]


def _result_of(call: Block, results: Mapping[str, Block]) -> Block:
    found = results.get(str(call["id"]))
    return found if found is not None else result_block(str(call["id"]), NOT_EXECUTED, is_error=True)


def _append(messages: list[Message], role: str, blocks: list[Block]) -> None:
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] = [*messages[-1]["content"], *blocks]
    else:
        messages.append({"role": role, "content": list(blocks)})


def _has(message: Message, kind: str) -> bool:
    return any(block["type"] == kind for block in message["content"])
