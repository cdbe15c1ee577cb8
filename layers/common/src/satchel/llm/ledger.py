"""What models have answered, kept so that the same question has the same answer for ever.

Current models take neither a temperature nor a seed: this ledger is what makes an answer repeat. It keeps failures
too, or a request that fell back once would answer differently the next time.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol


class Record(NamedTuple):
    """What came of one question.

    Attributes:
        prompt: Name and version of the prompt, for those who look into the ledger.
        model: The model's name.
        answer: The answer; None where there is none.
        failure: Why there is none; None where there is.
    """

    prompt: str
    model: str
    answer: Mapping[str, Any] | None
    failure: str | None


class Ledger(Protocol):
    """The records of one user."""

    def find(self, keys: Iterable[str]) -> dict[str, Record]:
        """The records there are, by key.

        Raises:
            UnavailableError: The store does not answer.
        """
        ...

    def keep(self, records: Mapping[str, Record], *, replace: bool) -> dict[str, Record]:
        """Store `records` and return what is stored under their keys afterwards.

        Args:
            records: By key.
            replace: Whether a record that is there gives way. Else the first one stays, whoever wrote it.

        Raises:
            UnavailableError: The store does not answer; nothing was stored.
        """
        ...
