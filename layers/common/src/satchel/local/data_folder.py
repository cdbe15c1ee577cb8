"""The one folder that holds a local stack's data, and the lock that keeps it to one server at a time."""

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO


class DataFolderError(Exception):
    """The folder cannot hold the data; the message names it and says why."""


class DataFolderInUseError(DataFolderError):
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
            DataFolderError: It cannot be made, or not be written to.
        """
        # Root's database runs as another user, who has to pass through; every file in it is closed on its own.
        mode = 0o711 if os.geteuid() == 0 else 0o700
        try:
            self.path.mkdir(mode=mode, parents=True, exist_ok=True)
            file = (self.path / "lock").open("a+", encoding="utf-8")
        except OSError as error:
            raise DataFolderError(f"The data folder {self.path} cannot be used: {error.strerror}.") from error
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
        """Gives the folder back; the note on where it was served stays, for tokens made meanwhile."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def publish(self, stack: RunningStack) -> None:
        """Leaves a note, readable by the owner alone, on how to reach the running stack."""
        draft = self.path / "stack.json.draft"
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as note:
            json.dump(asdict(stack), note)
        draft.replace(self.path / "stack.json")  # whoever reads it finds a whole note, also after a kill

    def running(self) -> RunningStack | None:
        """The stack that serves this folder now, if one does."""
        note = self.last_served()
        return note if note is not None and self._is_locked() else None

    def last_served(self) -> RunningStack | None:
        """The stack that serves this folder, or did last; None if none ever has, or the note is of another release."""
        note = self.path / "stack.json"
        try:
            return RunningStack(**json.loads(note.read_text("utf-8"))) if note.exists() else None
        except (ValueError, TypeError):
            return None

    def _is_locked(self) -> bool:
        with (self.path / "lock").open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
        return False
