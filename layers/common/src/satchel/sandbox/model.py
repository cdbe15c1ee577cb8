"""What a sandboxed run is given and gives back, and the port every engine implements."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

MIB = 1024 * 1024

Status = Literal["ok", "error", "time_limit", "memory_limit", "output_limit", "file_limit", "crashed"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; every engine enforces each of them from outside the program.

    Attributes:
        time_s: Wall-clock seconds from the program's start to its end.
        memory_bytes: The most memory the program may hold.
        output_bytes: The most that is kept of each of stdout and stderr.
        value_bytes: The longest JSON text of the value of the last expression.
        artefacts: How many pictures are kept, in name order.
        artefact_bytes: The sum of their sizes.
        file_bytes: The sum of what the program may keep in each of its two in-memory folders.
        files: How many files and folders each of them may hold (bubblewrap bounds only their bytes).
    """

    time_s: float = 10.0
    memory_bytes: int = 512 * MIB
    output_bytes: int = 64 * 1024
    value_bytes: int = 256 * 1024
    artefacts: int = 4
    artefact_bytes: int = 2 * MIB
    file_bytes: int = 16 * MIB
    files: int = 256


@dataclass(frozen=True, slots=True)
class Artefact:
    """A PNG picture the program drew.

    Attributes:
        name: Its file name, without a folder.
        data: The bytes; they begin with the PNG signature and nothing else about them is vouched for.
    """

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """How a run ended.

    Attributes:
        status: `ok`; `error` where the program raised (its traceback is in `stderr`); a limit's name;
            `crashed` where the program or its worker ended in a way that none of these covers.
        stdout: What it printed, cut at the limit, as text (bytes that are no UTF-8 become U+FFFD).
        stderr: The same for its errors.
        value: The value of the program's last expression as JSON data; None where there is none.
        artefacts: Pictures, ordered by name.
        truncated: Which of `stdout`, `stderr`, `value`, `artefacts` were cut or left out, in that order.
        layers: The walls that stood around this run, outermost last.
        duration_ms: Wall-clock time of the run.
    """

    status: Status
    stdout: str
    stderr: str
    value: Any
    artefacts: tuple[Artefact, ...]
    truncated: tuple[str, ...]
    layers: tuple[str, ...]
    duration_ms: int


class SandboxEngine(Protocol):
    """A wall to run untrusted Python behind."""

    @property
    def name(self) -> str:
        """A short name for results and benchmarks."""
        ...

    def run(self, code: str, inputs: Mapping[str, Any], limits: Limits) -> SandboxResult:
        """Run one program in a state no other run has touched, and leave nothing behind.

        Args:
            code: The program's text.
            inputs: JSON data the program finds under the name `inputs`.
            limits: What it may use.

        Returns:
            How it ended. What the program does is never an exception here.

        Raises:
            UnavailableError: The engine itself cannot run now.
        """
        ...

    def close(self) -> None:
        """End whatever the engine keeps alive between runs."""
        ...
