"""Text from memory and tools goes to the model as data with its source, never as instructions."""

import re

_FENCE = re.compile(r"<(?=\s*/?\s*data\b)", re.IGNORECASE)


def fence(source: str, text: str) -> str:
    """`text` inside a fence that names where it came from and that nothing in it can close or imitate.

    Args:
        source: Such as `context://user-profile` or `tool:search_conversation`; written by us, not by a user.
        text: What was read.
    """
    return f'<data source="{source}">\n{_FENCE.sub("&lt;", text)}\n</data>'
