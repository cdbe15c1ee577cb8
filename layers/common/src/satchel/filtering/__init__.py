"""Cutting a tool result to what matters, with nothing dropped silently and nothing leaked."""
