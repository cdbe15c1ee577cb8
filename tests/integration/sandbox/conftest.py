import shutil

import pytest

from satchel.sandbox.bubblewrap import BubblewrapEngine
from tests.support.sandbox import in_wasm, sandbox_directory, wasm

__all__ = ["engine", "in_wasm", "sandbox_directory", "wasm"]

# Bubblewrap is opt-in: it is tested where the machine has it.
ENGINES = ["wasm", *(["bubblewrap"] if shutil.which("bwrap") else [])]


@pytest.fixture(scope="session", params=ENGINES)
def engine(request):
    if request.param == "bubblewrap":
        return BubblewrapEngine()
    return request.getfixturevalue("wasm")
