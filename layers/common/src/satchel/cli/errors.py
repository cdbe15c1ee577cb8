"""How a command says that it could not do what was asked."""


class CommandError(Exception):
    """Shown as one sentence on stderr; the exit status is 1."""
