"""From settings to what runs a user's programs, backtests among them. Apart from `desk_wiring`, which others load."""

import hashlib
from functools import cache
from typing import Any

from satchel import sandbox_wiring
from satchel.api.handler import Call
from satchel.desk_wiring import candle_store, strategy_store
from satchel.filtering.sanitiser.sanitiser import Sanitiser
from satchel.job_wiring import functions, submit_job, work_on_job
from satchel.jobs.jobs import Job
from satchel.sandbox.model import SandboxEngine
from satchel.sandbox.remote import RemoteEngine
from satchel.strategies.backtest import AS_JOB, Backtest, RunLimits, plan_backtest, run_or_submit, run_plan
from satchel.strategies.request import BacktestRequest
from satchel.strategies.results import results_uri
from satchel.wiring import clock, new_id, settings

# How long the sandbox functions are waited for: a little less than they live, in seconds.
_SHORT_S, _LONG_S = 29.0, 280.0
BACKTEST = "backtest"


def sandbox_engine(user_id: str, *, long: bool = False) -> SandboxEngine:
    """Where this user's programs run; the `long` ones have a function of their own, with more time."""
    if settings().sandbox != "remote":
        return sandbox_wiring.engine()
    # A tenant of the sandbox is a user; the id itself is nobody's business there.
    tenant = hashlib.sha256(user_id.encode()).hexdigest()
    function, wait_s = ("sandbox_long", _LONG_S) if long else ("sandbox", _SHORT_S)
    return RemoteEngine(lambda job: functions().invoke(function, job, tenant=tenant, timeout_s=wait_s))


def backtest_of(request: BacktestRequest, call: Call) -> Backtest | str:
    """The backtest that the caller asks for, or the id of the job that it has become."""
    store = strategy_store(call.user_id)
    plan = plan_backtest(request, store=store, candles=candle_store(call.user_id))
    engine = sandbox_engine(call.user_id)

    def run(limits: RunLimits) -> Backtest:
        return run_plan(plan, backtest_id=new_id(), limits=limits, store=store, engine=engine, clock=clock)

    def submit(pinned: BacktestRequest) -> str:
        return submit_job(call.user_id, kind=BACKTEST, digest=pinned.digest(), request=pinned.as_json()).job_id

    return run_or_submit(plan, seconds_left=call.remaining_ms() / 1000, run=run, submit=submit)


def run_backtest_job(user_id: str, job_id: str, *, claimant: str, seconds: float) -> bool:
    """Run a backtest that has become a job; see `satchel.jobs.jobs.run_job`."""
    store = strategy_store(user_id)

    def work(job: Job) -> dict[str, Any]:
        # The backtest has the job's id: one that was stored before its worker died is not run again.
        if store.backtest(job_id) is None:
            plan = plan_backtest(BacktestRequest.from_json(job.request), store=store, candles=candle_store(user_id))
            engine = sandbox_engine(user_id, long=True)
            run_plan(plan, backtest_id=job_id, limits=AS_JOB, store=store, engine=engine, clock=clock)
        return {"backtest_id": job_id, "results_uri": results_uri(job_id)}

    return work_on_job(user_id, job_id, claimant=claimant, seconds=seconds, work=work)


def redact(data: dict[str, Any]) -> dict[str, Any]:
    """`data` with secrets taken out."""
    return _sanitiser().sanitise(data).value


@cache
def _sanitiser() -> Sanitiser:
    return Sanitiser()
