"""Which schedules of a template are fired here."""

from datetime import timedelta

import pytest

from satchel.local.cloudformation import TemplateError
from satchel.local.schedules import period_of
from satchel.local.template import EventSource


def source(kind, **properties):
    return EventSource("NightlyFunction", "Nightly", kind, properties)


@pytest.mark.parametrize(
    ("declared", "period"),
    [
        (source("Schedule", Schedule="rate(1 day)"), timedelta(days=1)),
        (source("ScheduleV2", ScheduleExpression="rate(5 minutes)"), timedelta(minutes=5)),
        (source("ScheduleV2", ScheduleExpression="rate(12 hours)"), timedelta(hours=12)),
        (source("SQS", Queue="somewhere"), None),
    ],
)
def test_a_rate_is_a_period_and_a_queue_has_none(declared, period):
    assert period_of(declared) == period


@pytest.mark.parametrize("expression", ["cron(0 3 * * ? *)", "rate(0 days)", "rate(1 week)", ""])
def test_another_expression_is_refused_with_the_name_of_its_event(expression):
    with pytest.raises(TemplateError, match=r"NightlyFunction\.Nightly: .* is no rate"):
        period_of(source("Schedule", Schedule=expression))
