"""The assistant that answers where no language model is configured: a script, which says that it is one."""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from satchel.local.fake_claude.script import Body, Reply, says

_HELLO = (
    "I am Satchel's scripted stand-in, not a language model: no ANTHROPIC_API_KEY is set. I can look up what you said "
    "before."
)
_SEARCH = "search_conversation"
_SHOWN_HITS = 3
_ASKS = re.compile(
    r"[?\uff1f\u061f]|^(what|when|where|who|why|how|which|did|do|does|is|are|find|search)\b", re.IGNORECASE
)
_FENCE = re.compile(r"\A<data [^>]*>\n(.*)\n</data>\Z", re.DOTALL)


def scripted_assistant(body: Body) -> Reply:
    """Searches the user's history for what a question asks, and says what it found."""
    last = body["messages"][-1]
    blocks: list[dict[str, Any]] = last["content"] if isinstance(last["content"], list) else []
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if results:
        return says(_report(results, _asked(body)))
    said = _asked(body)
    tools: list[dict[str, Any]] = body.get("tools") or []
    offered = {tool["name"] for tool in tools}
    if _SEARCH in offered and _ASKS.search(said):
        # As unique as the real service's, and the same for the same request.
        mark = sha256(json.dumps(body["messages"], ensure_ascii=False).encode()).hexdigest()[:24]
        call = {"type": "tool_use", "id": f"toolu_{mark}", "name": _SEARCH, "input": {"query": said, "limit": 6}}
        return Reply([call], stop_reason="tool_use")
    return says(f"{_HELLO} I have kept this. Ask me about it later, in this conversation or in another one.")


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
        return f"{_HELLO} I found nothing about that."
    quoted = "\n".join(f"- {line[:300]}" for line in lines[:_SHOWN_HITS])
    return f"{_HELLO} You said:\n{quoted}"


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
