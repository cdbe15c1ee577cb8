"""The fixture application, served by the local stack in a thread of its own."""

import asyncio
import io
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import jwt
import pytest
from botocore.config import Config
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from satchel.local import template_reader
from satchel.local.authorizer import JwtVerifier
from satchel.local.log_stream import LogStream
from satchel.local.server import listen
from satchel.local.stack import Stack, StackOptions

PROJECT = Path(__file__).parents[2] / "fixtures/local_stack"
ISSUER = "http://issuer.example"
AUDIENCE = "http://localhost/mcp"


@dataclass
class Running:
    """A stack in a thread, and how a test talks to it."""

    stack: Stack
    logs: io.StringIO
    mint: Callable[..., str]
    project: Path

    @property
    def url(self) -> str:
        return self.stack.url

    def client(self) -> Any:
        return boto3.client(
            "lambda",
            endpoint_url=self.stack.invoke_url,
            region_name="us-east-1",
            aws_access_key_id=self.stack.access_key,
            aws_secret_access_key="local",
            config=Config(retries={"total_max_attempts": 1}),
        )

    def invoke(self, name: str, event: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
        answer = self.client().invoke(FunctionName=name, Payload=json.dumps(event).encode(), **more)
        payload = answer["Payload"].read()
        return (json.loads(payload) if payload else None), answer

    def log_records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.logs.getvalue().splitlines()]


def signing_key() -> tuple[rsa.RSAPrivateKey, dict[str, Any]]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return key, {"keys": [{**public, "kid": "k1", "alg": "RS256", "use": "sig"}]}


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[..., Running]]:
    """Starts stacks; all are stopped at the end."""
    key, jwks = signing_key()
    closers: list[Callable[[], None]] = []

    def mint(*, audience: str = AUDIENCE, scope: str = "things:read", expires_s: int = 60, **claims: Any) -> str:
        body = {
            "sub": "alice",
            "iss": ISSUER,
            "aud": audience,
            "scope": scope,
            "exp": datetime.now(UTC) + timedelta(seconds=expires_s),
            **claims,
        }
        return jwt.encode(body, key, algorithm="RS256", headers={"kid": "k1"})

    def start(**options: Any) -> Running:
        folder = Path(tempfile.mkdtemp(prefix="satchel-stack-"))
        project = folder / "project"
        shutil.copytree(PROJECT, project)
        logs = io.StringIO()
        ready, holder = threading.Event(), list[Any]()

        async def live() -> None:
            stack = Stack(
                template_reader.read(project / "template.yaml", stack_name="probes", parameters={"Issuer": ISSUER}),
                owner=folder,
                front=listen(),
                verifier=JwtVerifier(lambda: jwks),
                logs=LogStream(logs, lambda: datetime.now(UTC)),
                clock=lambda: datetime.now(UTC),
                options=StackOptions(machine=os.environ, retry_delays_s=(0.05, 0.05), **options),
            )
            await stack.start()
            stop = asyncio.Event()
            holder.extend([stack, asyncio.get_running_loop(), stop])
            ready.set()
            await stop.wait()
            await stack.stop()

        thread = threading.Thread(target=lambda: asyncio.run(live()))
        thread.start()
        assert ready.wait(20)
        stack, loop, stop = holder

        def close() -> None:
            loop.call_soon_threadsafe(stop.set)
            thread.join(20)
            shutil.rmtree(folder, ignore_errors=True)

        closers.append(close)
        return Running(stack, logs, mint, project)

    yield start
    for close in closers:
        close()


@pytest.fixture(scope="session")
def running(serve: Callable[..., Running]) -> Running:
    """One stack that tests share where they do not disturb each other."""
    return serve(reload=False, time_limit_s=2)
