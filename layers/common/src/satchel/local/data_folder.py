"""The one folder that holds a local stack's data, and the lock that keeps it to one server at a time."""

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO


class DataFolderInUseError(Exception):
    """A running server holds the folder; the message names both."""


@dataclass(frozen=True)
class RunningStack:
    """How to reach the stack that serves a data folder."""

    pid: int
    url: str
    invoke_url: str
    access_key: str


class DataFolder:
    """A folder, locked from `lock` until `release` or the end of the process, however it comes."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._lock: TextIO | None = None

    def lock(self) -> None:
        """Makes the folder, for its owner only, and takes it.

        Raises:
            DataFolderInUseError: Another process has it.
        """
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (self.path / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            holder = file.read().strip() or "another process"
            file.close()
            raise DataFolderInUseError(f"The data folder {self.path} is in use by {holder}.") from error
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()}")
        file.flush()
        self._lock = file

    def release(self) -> None:
        """Gives the folder back."""
        (self.path / "stack.json").unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def publish(self, stack: RunningStack) -> None:
        """Leaves a note, readable by the owner alone, on how to reach the running stack."""
        file = self.path / "stack.json"
        file.unlink(missing_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as note:
            json.dump(asdict(stack), note)

    def running(self) -> RunningStack | None:
        """The stack that serves this folder now, if one does; a note left by a killed one does not count."""
        note = self.path / "stack.json"
        if not note.exists() or not self._is_locked():
            return None
        return RunningStack(**json.loads(note.read_text("utf-8")))

    def _is_locked(self) -> bool:
        with (self.path / "lock").open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
        return False
