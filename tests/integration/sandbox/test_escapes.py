"""Escape attempts, with canaries planted around the engine. The same harness runs lists kept elsewhere."""

import pytest

from benchmarks.sandbox.attempts import LIMITS, judge, planted
from tests.integration.sandbox.escapes import ATTEMPTS


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt["name"])
def test_an_escape_attempt_gets_nowhere(attempt, engine):
    with planted() as canaries:
        assert judge(attempt, lambda code: engine.run(code, {}, LIMITS), canaries) == []
