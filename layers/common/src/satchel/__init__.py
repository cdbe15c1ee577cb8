"""Satchel: the context server for LLM agents."""
