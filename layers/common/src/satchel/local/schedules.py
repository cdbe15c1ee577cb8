"""Fires a template's schedules: soon after the start, since a laptop is off at night, then at their rate.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
"""

import asyncio
import json
import re
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from satchel.local.cloudformation import ACCOUNT_ID, REGION, TemplateError
from satchel.local.invocation import Invocation
from satchel.local.invoke_api import Invoker
from satchel.local.template import EventSource

_EXPRESSIONS = {"Schedule": "Schedule", "ScheduleV2": "ScheduleExpression"}
_RATE = re.compile(r"rate\(([1-9]\d*) (minute|hour|day)s?\)")


def period_of(source: EventSource) -> timedelta | None:
    """The time between two events of a source; None where it is no schedule.

    Raises:
        TemplateError: It is a schedule and no rate: times of day are not followed here.
    """
    if source.kind not in _EXPRESSIONS:
        return None
    expression = str(source.properties.get(_EXPRESSIONS[source.kind], ""))
    rate = _RATE.fullmatch(expression)
    if rate is None:
        raise TemplateError(f"{source.function}.{source.name}: {expression or 'no expression'} is no rate.")
    return timedelta(**{f"{rate[2]}s": int(rate[1])})


async def fire_forever(
    source: EventSource,
    period: timedelta,
    invoker: Invoker,
    clock: Callable[[], datetime],
    *,
    first_after_s: float,
) -> None:
    """Send a source's events to its function until cancelled.

    Args:
        source: Of the invoker's application.
        period: From `period_of`.
        invoker: Keeps the events, and tries again what fails.
        clock: The time, aware UTC, that events carry.
        first_after_s: When the first is sent.
    """
    pause_s = first_after_s
    while True:
        await asyncio.sleep(pause_s)
        invoker.invoke_later(invoker.application.functions[source.function], _event(source, clock()))
        pause_s = period.total_seconds()


def _event(source: EventSource, now: datetime) -> Invocation:
    request_id = str(uuid.uuid4())
    event: dict[str, Any] = {
        "version": "0",
        "id": request_id,
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT_ID,
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:events:{REGION}:{ACCOUNT_ID}:rule/{source.function}{source.name}"],
        "detail": {},
    }
    return Invocation(request_id, json.dumps(event).encode())
