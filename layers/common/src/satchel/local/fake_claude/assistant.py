"""The assistant that answers where no language model is configured: a script, which says that it is one."""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from satchel.local.fake_claude.script import Body, Reply

_HELLO = (
    "I am Satchel's scripted stand-in, not a language model: no ANTHROPIC_API_KEY is set. I can look up what you said "
    "before."
)
_HELLO_AGAIN = "(stand-in)"
_SEARCH = "search_conversation"
# Enough for some statements where the user asked the same often.
_READ_HITS = 12
_SHOWN_HITS = 3
_ASKS = re.compile(
    r"[?\uff1f\u061f]|^(what|when|where|who|why|how|which|did|do|does|is|are|find|search)\b"
    r"|\b(뭐|뭘|무엇|언제|어디|누구|누가|어떻게|얼마)|(나요|까요|가요|니까|냐|찾아줘|알려줘)[.!]?$",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\A<data [^>]*>\n(.*)\n</data>\Z", re.DOTALL)


def scripted_assistant(body: Body) -> Reply:
    """Searches the user's history for what a question asks, and says what it found."""
    last = body["messages"][-1]
    blocks: list[dict[str, Any]] = last["content"] if isinstance(last["content"], list) else []
    results = [block for block in blocks if block.get("type") == "tool_result"]
    said = _asked(body)
    if results:
        return _answers(body, _report(results, said))
    tools: list[dict[str, Any]] = body.get("tools") or []
    offered = {tool["name"] for tool in tools}
    if _SEARCH in offered and _ASKS.search(said):
        # As unique as the real service's, and the same for the same request.
        mark = sha256(json.dumps(body["messages"], ensure_ascii=False).encode()).hexdigest()[:24]
        wanted = {"query": said, "limit": _READ_HITS, "role": "user"}
        call = {"type": "tool_use", "id": f"toolu_{mark}", "name": _SEARCH, "input": wanted}
        return _free([call], stop_reason="tool_use")
    return _answers(body, "I have kept this. Ask me about it later, in this conversation or in another one.")


def _answers(body: Body, text: str) -> Reply:
    """Says who speaks: at length the first time in a conversation."""
    known = any(message["role"] == "assistant" and _HELLO in _text(message) for message in body["messages"])
    return _free([{"type": "text", "text": f"{_HELLO_AGAIN if known else _HELLO} {text}"}])


def _free(content: list[dict[str, Any]], *, stop_reason: str = "end_turn") -> Reply:
    """No model has read or written anything, so nothing is to be paid for."""
    return Reply(content, stop_reason=stop_reason, input_tokens=0, output_tokens=0)


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in content if block.get("type") == "text")


def _asked(body: Body) -> str:
    """The newest text of the user that is theirs: the last text block of a message without results."""
    for message in reversed(body["messages"]):
        if message["role"] != "user":
            continue
        content = message["content"]
        if isinstance(content, str):
            return content
        texts = [str(block["text"]) for block in content if block.get("type") == "text"]
        if texts:
            return texts[-1]
    return ""


def _report(results: list[dict[str, Any]], asked: str) -> str:
    lines: list[str] = []
    for result in results:
        for message in _messages(str(result.get("content", ""))):
            text = " ".join(str(message["content"]).split())
            if message.get("role") == "user" and text != " ".join(asked.split()) and text not in lines:
                lines.append(text)
    if not lines:
        return "I found nothing about that."
    # A question of yesterday is nearer to today's than its answer is, and answers nothing.
    lines.sort(key=lambda line: bool(_ASKS.search(line)))
    # As Markdown's quotes, which search leaves to whoever said it first.
    quoted = "\n".join(f"> {line[:300]}" for line in lines[:_SHOWN_HITS])
    return f"You said:\n{quoted}"


def _messages(text: str) -> list[Mapping[str, Any]]:
    """The messages of search hits, however the answer was cut."""
    fenced = _FENCE.match(text)
    inner = (fenced[1] if fenced else text).split("\n[shortened", 1)[0]
    try:
        answer = json.loads(inner)
    except ValueError:
        return []
    hits: Any = answer.get("hits", []) if isinstance(answer, dict) else answer  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return [hit["message"] for hit in hits if isinstance(hit, dict) and "content" in hit.get("message", {})]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]
