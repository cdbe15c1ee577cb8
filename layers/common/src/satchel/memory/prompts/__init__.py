"""The prompts, one file per version: a changed prompt is a new file, since answers are stored under its name."""

from importlib.resources import files


def read_prompt(name: str) -> str:
    """The text of the prompt `name`, such as `summarise_conversation.v1`."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
