"""The sandbox that is a function of its own."""

import json

import pytest

from satchel.errors import UnavailableError
from satchel.sandbox.model import Limits
from satchel.sandbox.remote import RemoteEngine, run_job


class Preparing:
    name = "preparing"

    def run(self, code, inputs, limits):
        raise UnavailableError("the sandbox is being prepared", retry_after_s=60)

    def close(self):
        pass


def test_why_a_program_cannot_run_now_reaches_whoever_asked():
    engine = RemoteEngine(lambda job: json.loads(json.dumps(run_job(job, Preparing()))))
    with pytest.raises(UnavailableError, match="being prepared") as told:
        engine.run("1", {}, Limits())
    assert told.value.retry_after_s == 60
