"""How far back a message is judged by, and how features count that way."""

WINDOW = 30
"""Features look at the message and at most so many before it, so a session sent in parts with as much context scores
like the whole."""

FAR = WINDOW + 1
"""How long ago is what lies outside the window."""

NEVER = -1_000
"""The place of what has not been seen, outside the window of every message."""
