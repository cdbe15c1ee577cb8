"""The desk through the whole stack, as an MCP client sees it: a strategy, a backtest, a paper order, the workspace."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import psutil
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from satchel.cli.main import main
from satchel.local.identity import Identity
from tests.support.sandbox import sandbox_directory

__all__ = ["sandbox_directory"]

ROOT = Path(__file__).parents[2]


class Caller:
    """One user over MCP, with the official client; each call stands for itself."""

    def __init__(self, base, data, pid, user="alice"):
        self.base, self.data, self.user, self._pid = base, data, user, pid
        token = Identity(data, base).mint(user, audience=f"{base}/mcp")
        self._headers = {"authorization": f"Bearer {token}"}
        self._url = f"{base}/mcp?toolsets=default,trading"

    def other(self, user):
        return Caller(self.base, self.data, self._pid, user)

    def kill(self, function):
        """kill -9 for every process of a function; how many there were."""
        killed = []
        for child in psutil.Process(self._pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if child.environ().get("AWS_LAMBDA_FUNCTION_NAME") == f"satchel-{function}":
                    child.kill()
                    killed.append(child)
        return len(killed)

    def _do(self, use):
        async def connected():
            async with (
                httpx2.AsyncClient(headers=self._headers, timeout=60) as http,
                Client(streamable_http_client(self._url, http_client=http), mode="2026-07-28") as client,
            ):
                return await use(client)

        return asyncio.run(connected())

    def tool(self, name, /, **arguments):
        return self._do(lambda client: client.call_tool(name, arguments)).structured_content

    def text(self, uri):
        return self._do(lambda client: client.read_resource(uri)).contents[0].text

    def refusal(self, uri):
        """The code of the error that a resource answers with."""

        async def read(client):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            return refused.value.error.data["code"]

        return self._do(read)

    def read(self, uri):
        return json.loads(self.text(uri))


@pytest.fixture(scope="module")
def alice(sandbox_directory, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    # Functions get their home from the machine; this one's sandbox is the one the tests have prepared.
    (home / ".cache/satchel").mkdir(parents=True)
    (home / ".cache/satchel/sandbox").symlink_to(sandbox_directory)
    data = home / "data"
    command = [sys.executable, "-m", "satchel.cli.main", "serve", "--port", "0", "--data", str(data)]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT, env=os.environ | {"HOME": str(home)}
        )
        try:
            base = process.stdout.readline().split()[1].removesuffix("/mcp")
            while process.stdout.readline().strip() != "Ready":
                assert process.poll() is None
            yield Caller(base, data, process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
            process.stdout.close()


def test_from_a_strategy_to_a_position_in_the_workspace(alice):
    code = json.loads((ROOT / "events/write_strategy.json").read_text("utf-8"))["arguments"]["code"]
    bad = alice.tool("write_strategy", name="sma", code=code.replace(".mean()", ".mean().shift(-1)"))
    assert bad["error"]["message"] == "line 8: look-ahead: shift by a negative number reads later bars"
    assert alice.tool("write_strategy", name="sma", code=code)["version"] == 1

    backtest = alice.tool("run_backtest", strategy="sma", since="2010-01-01")
    assert (backtest["lookahead"], backtest["data"]["provider"]) == ("not_found", "bokeh_sampledata")
    trades = alice.read(f"{backtest['results_uri']}?section=trades&limit=3")
    assert trades["items"] == backtest["trades"][:3]
    assert alice.read("context://strategy/sma")["backtests"][0]["backtest_id"] == backtest["backtest_id"]

    # A later conversation begins: the strategy is known there.
    alice.tool("save_message", role="user", content="네, where were we? 🙂", session_id="later")
    summary = alice.text("context://conversation-summary")
    assert "\n\nStrategies worked on:\n- just now: sma (version 1), tested on AAPL 1d: return " in summary

    order = {"symbol": "AAPL", "side": "buy", "quantity": "10"}
    preview = alice.tool("execute_trade", **order)
    assert (preview["executed"], preview["mode"]) == (False, "paper")
    placed = alice.tool("execute_trade", **order, confirm_token=preview["confirm_token"])
    assert placed["executed"]
    assert alice.read("context://workspace-state")["openPositions"] == []
    alice.tool("market_step")
    (position,) = alice.read("context://workspace-state")["openPositions"]
    assert (position["ticker"], position["side"], position["size"]) == ("AAPL", "long", 10)


def test_look_ahead_that_only_a_run_shows_is_suspected_and_said_wherever_the_backtest_is_shown(alice):
    peek = """
from backtesting import Strategy
class Peek(Strategy):
    def init(self):
        self.all = list(self.data.Close)
    def next(self):
        here = len(self.data)
        if here < len(self.all) and self.all[here] > self.all[here - 1]: self.buy()
        else: self.position.close()
"""
    reader = alice.other("peeker")
    assert reader.tool("write_strategy", name="peek", code=peek)["version"] == 1
    backtest = reader.tool("run_backtest", strategy="peek", until="2002-01-01")
    assert (backtest["status"], backtest["lookahead"]) == ("done", "suspected")
    assert "later bars" in backtest["lookahead_reason"]
    assert reader.read(backtest["results_uri"])["report"]["lookahead_places"]
    (shown,) = reader.read("context://strategy/peek")["backtests"]
    assert shown["lookahead"] == "suspected"
    reader.tool("save_message", role="user", content="how did it go?")
    assert "; look-ahead suspected" in reader.text("context://conversation-summary")


def test_an_earlier_version_of_a_strategy_is_read_by_its_number(alice):
    code = json.loads((ROOT / "events/write_strategy.json").read_text("utf-8"))["arguments"]["code"]
    writer = alice.other("writer")
    writer.tool("write_strategy", name="two", code=code)
    writer.tool("write_strategy", name="two", code=code.replace("30", "40"))
    first, second, current = [writer.read(f"context://strategy/two{v}") for v in ("?version=1", "?version=2", "")]
    assert (first["version"], first["code"], first["changes"]) == (1, code, "")
    assert second == current
    assert (current["version"], "40" in current["changes"]) == (2, True)
    assert writer.refusal("context://strategy/two?version=3") == "not_found"
    assert writer.refusal("context://strategy/two?version=one") == "invalid_input"
    assert alice.other("stranger").refusal("context://strategy/two?version=1") == "not_found"


def test_the_command_line_moves_the_market_and_tells_what_it_did(alice, capsys):
    walker = alice.other("walker")

    def step(*arguments):
        status = main(["market", "step", *arguments, "--data", str(alice.data), "--user", "walker"])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    nothing = "Nothing to replay: a symbol's replay begins with its first order or price alert.\n"
    assert step() == (0, nothing, "")
    walker.tool("set_price_alert", symbol="AAPL", direction="above", price="0.01")
    order = {"symbol": "AAPL", "side": "buy", "quantity": "10"}
    walker.tool("execute_trade", **order, confirm_token=walker.tool("execute_trade", **order)["confirm_token"])

    status, told, _ = step()
    (position,) = walker.tool("get_positions")["positions"]
    bar, fill, alert = told.splitlines()
    assert (status, bar) == (0, f"AAPL  {position['priceAsOf']}  {position['currentPrice']}")
    assert fill == f"filled: buy 10 AAPL at {position['entryPrice']}"
    assert alert.startswith("alert: ")

    status, told, _ = step("3", "--json")
    moved = json.loads(told)
    (position,) = walker.tool("get_positions")["positions"]
    assert (status, moved["steps"], moved["fills"]) == (0, 3, [])
    assert moved["bars"] == [
        {"symbol": "AAPL", "ts": position["priceAsOf"], "close": position["currentPrice"]},
    ]  # fmt: skip

    status, told, error = step("501")
    assert (status, told) == (1, "")
    assert "steps" in error
    with pytest.raises(SystemExit) as usage:
        step("far")
    assert usage.value.code == 2


def test_a_program_runs_behind_the_walls_of_its_own_function(alice):
    result = alice.tool("run_python", code="import os\nprint(dict(os.environ))\n6 * 7")
    assert (result["status"], result["value"]) == ("ok", 42)
    assert "SATCHEL" not in result["stdout"]
    assert "webassembly" in result["layers"]


def import_bars(alice, count):
    prices = [100 + (bar * 7919) % 41 for bar in range(count)]
    lines = [f"{1_600_000_000 + 60 * bar},{price},{price},{price},{price}" for bar, price in enumerate(prices)]
    csv = "\n".join(["ts,open,high,low,close", *lines])
    alice.tool("import_candles", symbol="MADE/UP", timeframe="1m", csv=csv, synthetic=True)


def until(alice, job_id, *states):
    """The job once it is in one of these states."""
    end = time.monotonic() + 200
    while (job := alice.read(f"context://job/{job_id}"))["status"] not in states:
        assert time.monotonic() < end, job
        time.sleep(0.2)
    return job


def test_a_long_backtest_becomes_a_job_that_survives_its_worker_and_is_read_like_any_other(alice):
    code = json.loads((ROOT / "events/write_strategy.json").read_text("utf-8"))["arguments"]["code"]
    alice.tool("write_strategy", name="long", code=code)
    import_bars(alice, 50_001)
    asked = alice.tool("run_backtest", strategy="long", symbol="MADE/UP", timeframe="1m")
    assert asked == {"job_id": asked["job_id"], "status": "queued"}
    until(alice, asked["job_id"], "running")
    assert alice.kill("backtest_worker") >= 1

    job = until(alice, asked["job_id"], "done", "failed")
    assert (job["status"], job["error"]) == ("done", None)
    page = alice.read(job["result"]["results_uri"])
    assert page["report"]["data"]["bars"] == 50_001
    assert page["report"]["data"]["synthetic"]
    assert page["report"]["counts"]["trades"] > len(page["items"]) == 100
