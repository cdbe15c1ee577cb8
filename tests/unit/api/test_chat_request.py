from datetime import UTC, datetime, timedelta

import pytest

from satchel.api.chat_request import seconds_left
from satchel.api.gateway_request import gateway_request

RECEIVED = datetime(2026, 11, 30, 8, tzinfo=UTC)
EVENT = {
    "rawPath": "/v1/chat",
    "requestContext": {"http": {"method": "POST"}, "timeEpoch": int(RECEIVED.timestamp() * 1000)},
}


@pytest.mark.parametrize(
    ("waited_s", "lives_s", "left_s"),
    [(0, 29, 29), (5, 29, 24.5), (5, 10, 10), (3600, 29, 29), (-3, 29, 29)],
    ids=["warm", "cold", "short-lived", "replayed", "clock-behind"],
)
def test_the_time_in_which_a_function_started_counts(waited_s, lives_s, left_s):
    request = gateway_request(EVENT)
    assert seconds_left(request, lives_s, RECEIVED + timedelta(seconds=waited_s)) == pytest.approx(left_s)
