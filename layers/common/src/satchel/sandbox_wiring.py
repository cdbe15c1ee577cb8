"""The engine of a process that runs programs itself. No driver, no client: the sandbox's image has none."""

import os
from functools import cache
from pathlib import Path

from satchel.sandbox.bubblewrap import BubblewrapEngine
from satchel.sandbox.model import SandboxEngine
from satchel.sandbox.wasm import WasmEngine, owned, prepare_in_background
from satchel.settings import Settings


@cache
def engine() -> SandboxEngine:
    """The engine that `SATCHEL_SANDBOX` names: `bubblewrap`, or WebAssembly for anything else."""
    settings = Settings.from_environment(os.environ)
    if settings.sandbox == "bubblewrap":
        return BubblewrapEngine()
    return WasmEngine(owned(Path(settings.sandbox_dir).expanduser().resolve()), prepare=prepare_in_background)
