"""Fixtures of the sandbox, for the tests that run programs."""

import os
from pathlib import Path

import pytest

from satchel import sandbox_wiring
from satchel.sandbox.warm import warm
from satchel.sandbox.wasm import WasmEngine, is_warm


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


@pytest.fixture
def in_wasm(wasm, monkeypatch):
    """Handlers run programs in this process's own engine."""
    monkeypatch.setenv("SATCHEL_SANDBOX", "wasm")
    monkeypatch.setattr(sandbox_wiring, "engine", lambda: wasm)
