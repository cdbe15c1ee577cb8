import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from satchel.api.auth import KeySet, TokenVerifier
from satchel.api.listing import catalogue
from satchel.api.mcp.adapter import McpAdapter
from satchel.api.mcp.admission import Admission
from satchel.api.mcp.endpoint import McpEndpoint
from satchel.api.mcp.server import build_server
from satchel.local.identity import Identity
from tests.support.lambda_front import Context, http_event

ISSUER = "http://127.0.0.1:3000"
RESOURCE = "http://127.0.0.1:3000/mcp"


@dataclass
class RecordedFunctions:
    """Stands in for the functions: notes each request, answers what a test has put in."""

    answers: dict[str, Any] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    timeouts_s: list[float] = field(default_factory=list)

    def invoke(self, function, request, *, timeout_s):
        self.requests.append((function, dict(request)))
        self.timeouts_s.append(timeout_s)
        answer = self.answers.get(function, {"error": {"code": "not_found", "field": None, "message": "nothing"}})
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer


@dataclass
class Bench:
    """The adapter with everything around it that a test may turn."""

    adapter: McpAdapter
    functions: RecordedFunctions
    identity: Identity

    def token(self, user="alice", **options):
        return self.identity.mint(user, **{"audience": RESOURCE, **options})

    def post(self, message, *, headers=None, query="", path="/mcp", context=None, token=None):
        """POST a message (a value or raw bytes); the answer of the handler."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        given = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {token or self.token()}",
            **(headers or {}),
        }
        event = http_event(
            "POST", path, query=query, headers={k: v for k, v in given.items() if v is not None}, body=body
        )
        return self.adapter.handle(event, context or Context())

    def call(self, method, params=None, **options):
        """A request of a handshake revision; status and decoded body."""
        answer = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}, **options)
        return answer["statusCode"], json.loads(answer["body"])


@pytest.fixture
def bench(tmp_path: Path):
    functions = RecordedFunctions()
    identity = Identity(tmp_path, ISSUER)
    listed = catalogue()
    server = build_server(listed, functions, version="1", request_state_keys=lambda: ("k" * 32,))
    adapter = McpAdapter(
        endpoint=McpEndpoint(server, listed),
        functions=functions,
        catalogue=listed,
        verifier=TokenVerifier(issuer=ISSUER, audiences=[RESOURCE], keys=KeySet(identity.jwks)),
        admission=Admission(hosts=frozenset({"api.example.com"}), origins=frozenset({"https://console.example.com"})),
        issuer=ISSUER,
    )
    yield Bench(adapter, functions, identity)
    adapter.close()
