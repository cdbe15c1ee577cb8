"""Secrets of one data folder: made once, whoever asks first, and the same ever after."""

import os
import secrets
from pathlib import Path

_SECRET_BYTES = 48


def secret_in(file: Path) -> str:
    """The secret that a file holds, readable by its owner alone; a new random one where there is no file yet."""
    if not file.exists():
        write_once(file, secrets.token_urlsafe(_SECRET_BYTES).encode())
    return file.read_text("utf-8")


def write_once(file: Path, content: bytes) -> None:
    """Write a file for its owner alone, unless another process was faster.

    It is written aside and linked, so that whoever looks sees a whole file or none, also after a kill.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
    try:
        file.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
