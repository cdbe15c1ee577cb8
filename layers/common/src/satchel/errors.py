"""The errors a caller may meet, as one tree.

    SatchelError
    ├── InvalidInputError        what was sent is wrong; `field` names where
    │   └── TooLargeError        it is over a stated limit
    ├── UnauthorizedError        who is asking is not known
    ├── ForbiddenError           the caller is known, the scope is missing
    ├── NotFoundError            no such thing, or not the caller's: both read alike
    ├── ConflictError            the same id already means something else
    ├── PreconditionFailedError  the version the caller saw is not the current one
    ├── RetryableError           it may work later; `retry_after_s` says when
    │   ├── RateLimitedError     too much, too fast
    │   └── UnavailableError     a part we rely on does not answer
    ├── DeadlineError            the time given is used up
    └── InvalidAnswerError       our own answer breaks its contract, and is not sent

Messages are safe to show to the caller: they never carry content, secrets or another user's ids.
What an error means on the wire (HTTP status, JSON-RPC code) is in `satchel.api.error_table` alone.
"""


class SatchelError(Exception):
    """Base of every error that is shown to a caller.

    Args:
        message: One sentence, safe to show.
        field: Path of the input it is about, such as `messages[3].role`; None where no field is at fault.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class InvalidInputError(SatchelError):
    """The input is wrong; nothing was written."""


class TooLargeError(InvalidInputError):
    """The input, or the answer it asks for, is over a stated limit."""


class UnauthorizedError(SatchelError):
    """The caller did not say, or could not prove, who is asking."""


class ForbiddenError(SatchelError):
    """The caller's token lacks a scope that this needs.

    Args:
        message: One sentence, safe to show.
        scope: The scope that would allow it.
        field: As in the base class.
    """

    def __init__(self, message: str, *, scope: str | None = None, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.scope = scope


class NotFoundError(SatchelError):
    """There is no such thing for this caller."""


class ConflictError(SatchelError):
    """The id is taken by something with other content; nothing was written."""


class PreconditionFailedError(SatchelError):
    """The stored version is not the one the caller named; nothing was written."""


class RetryableError(SatchelError):
    """It may work later.

    Args:
        message: One sentence, safe to show.
        retry_after_s: When to try again, in whole seconds.
        field: As in the base class.
    """

    def __init__(self, message: str, *, retry_after_s: int = 1, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.retry_after_s = retry_after_s


class RateLimitedError(RetryableError):
    """The caller asks for more than its share."""


class UnavailableError(RetryableError):
    """Something this needs does not answer now."""


class DeadlineError(SatchelError):
    """The time allowed for this ran out; the work may or may not have happened."""


class InvalidAnswerError(SatchelError):
    """Our own answer did not fit its contract, which is a fault of ours; nothing of it is sent."""
