"""What starts before anybody calls, and what the health path says about what does not."""

import asyncio
import io
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx

from satchel.local import template_reader
from satchel.local.authorizer import JwtVerifier
from satchel.local.log_stream import LogStream
from satchel.local.server import listen
from satchel.local.stack import Stack, StackOptions
from tests.integration.local.conftest import PROJECT


def wait_until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def test_functions_that_are_called_first_get_one_worker_before_anybody_calls(serve):
    running = serve(called_first=["ProbeFunction"], reload=False)
    wait_until(lambda: any(record["type"] == "init" for record in running.log_records()))
    answer = httpx.get(running.url + "/echo", timeout=20)
    inits = [record for record in running.log_records() if record["type"] == "init"]
    assert answer.status_code == 200
    assert {record["function"] for record in inits} == {"probes-probe"}


def test_the_api_opens_when_what_the_functions_need_is_there_and_workers_start_meanwhile(tmp_path):
    events: list[str] = []
    logs = io.StringIO()

    async def live() -> None:
        stack = Stack(
            template_reader.read(
                PROJECT / "template.yaml", stack_name="probes", parameters={"Issuer": "http://issuer"}
            ),
            owner=tmp_path,
            front=listen(),
            verifier=JwtVerifier(lambda: {"keys": []}),
            logs=LogStream(logs, lambda: datetime.now(UTC)),
            clock=lambda: datetime.now(UTC),
            options=StackOptions(machine=os.environ, reload=False, called_first=["ProbeFunction"]),
        )

        async def ask() -> None:
            async with httpx.AsyncClient(timeout=20) as client:
                answer = await client.get(stack.url + "/echo")
            events.append(f"answered {answer.status_code}")

        async def needs() -> None:
            await asyncio.to_thread(wait_until, lambda: '"init"' in logs.getvalue())
            events.append("there")

        asked = asyncio.create_task(ask())
        try:
            await stack.start(after=needs())
            await asked
        finally:
            await stack.stop()

    asyncio.run(live())
    assert events == ["there", "answered 200"]


def test_a_function_that_does_not_start_makes_the_health_path_answer_503_until_it_is_repaired(serve):
    running = serve(called_first=["BrokenFunction"], health_path="/echo")
    wait_until(running.stack.init_errors)
    answer = httpx.get(running.url + "/echo", timeout=20)
    assert answer.status_code == 503
    assert "probes-BrokenFunction" in answer.json()["message"]
    assert httpx.get(running.url + "/items/1", timeout=20).status_code == 200
    broken = running.project / "functions/broken/app.py"
    broken.write_text("def handler(event, context):\n    return 'repaired'\n")
    wait_until(lambda: httpx.get(running.url + "/echo", timeout=20).status_code == 200)
    assert running.invoke("BrokenFunction", {})[0] == "repaired"
