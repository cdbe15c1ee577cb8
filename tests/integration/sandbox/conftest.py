import os
import shutil
from pathlib import Path

import pytest

from satchel.sandbox.bubblewrap import BubblewrapEngine
from satchel.sandbox.warm import warm
from satchel.sandbox.wasm import WasmEngine, is_warm

# Bubblewrap is opt-in: it is tested where the machine has it.
ENGINES = ["wasm", *(["bubblewrap"] if shutil.which("bwrap") else [])]


@pytest.fixture(scope="session")
def sandbox_directory():
    """The prepared runtime; preparing it takes a minute, once per machine."""
    directory = Path(os.environ.get("SATCHEL_SANDBOX_DIR", "~/.cache/satchel/sandbox")).expanduser()
    if not is_warm(directory):
        warm(directory)
    return directory


@pytest.fixture(scope="session")
def wasm(sandbox_directory):
    engine = WasmEngine(sandbox_directory)
    yield engine
    engine.close()


@pytest.fixture(scope="session", params=ENGINES)
def engine(request):
    if request.param == "bubblewrap":
        return BubblewrapEngine()
    return request.getfixturevalue("wasm")
