"""A dozen calls per kind of tool, and what is read from each."""

from datetime import date
from typing import Any

import pytest

from satchel.filtering.intent import analyze_intent
from satchel.filtering.tool_profiles import default_profiles
from tests.support.filtering import ToolCallRequest, create_mock_tool_call_request

TODAY = date(2026, 3, 10)


def read(request: ToolCallRequest, **options: Any) -> Any:
    profile = default_profiles().of_tool(request.tool_name)
    return analyze_intent(
        request.tool_name, request.arguments, request.question, profile=profile, today=TODAY, **options
    )


SLACK: list[tuple[dict[str, Any], tuple[str, ...], dict[str, Any], int]] = [
    ({"query": "security vulnerabilities"}, ("security", "vulnerabilities"), {}, 10),
    ({"query": "outage", "channel": "#ops"}, ("outage",), {"channels": ["#ops"]}, 10),
    ({"query": "outage", "channels": ["team-*", "ops"]}, ("outage",), {"channels": ["team-*", "ops"]}, 10),
    ({"query": "deploys by @maria in #releases"}, ("deploys",), {"channels": ["releases"], "users": ["maria"]}, 10),
    ({"query": "top 5 messages about budget"}, ("budget",), {}, 5),
    ({"query": "last 3 posts about lunch"}, ("lunch",), {}, 3),
    ({"query": "rollback since 2024-01-05"}, ("rollback",), {"date_range": ["2024-01-05", None]}, 10),
    ({"query": "rollback yesterday"}, ("rollback",), {"date_range": ["2026-03-09", "2026-03-09"]}, 10),
    ({"query": "incident", "from": "alice"}, ("incident",), {"users": ["alice"]}, 10),
    ({"query": "incident", "limit": 30}, ("incident",), {}, 30),
    ({"query": "incident", "limit": 1_000}, ("incident",), {}, 10),
    ({"query": "배포 실패를 찾아줘"}, ("배포", "실패를", "찾아줘"), {}, 10),
    ({"channel": "general"}, (), {"channels": ["general"]}, 10),
]
JIRA: list[tuple[dict[str, Any], tuple[str, ...], dict[str, Any], int]] = [
    ({"query": "Critical issues about HttpClient"}, ("HttpClient",), {"priority": ["critical"]}, 10),
    ({"query": "open issues mentioning zookeeper"}, ("zookeeper",), {"status": ["open"]}, 10),
    ({"query": "update bugs created in December 2020"}, ("update",), {"date_range": ["2020-12-01", "2020-12-31"]}, 10),
    ({"query": "login", "project": "CORE"}, ("login",), {"project": ["CORE"]}, 10),
    ({"jql": 'project = CORE AND status = "In Progress"'}, (), {"project": ["CORE"], "status": ["In Progress"]}, 10),
    ({"jql": "status in (Open, Blocked) and text ~ 'login'"}, ("login",), {"status": ["Open", "Blocked"]}, 10),
    ({"query": "login", "assignee": "bob"}, ("login",), {"assignee": ["bob"]}, 10),
    ({"query": "login", "filters": {"priority": "Major"}}, ("login",), {"priority": ["Major"]}, 10),
    ({"query": "5 most urgent tickets about payments"}, ("urgent", "payments"), {}, 5),
    ({"query": "patch available tickets for S3A"}, ("S3A",), {"status": ["patch available"]}, 10),
    (
        {"query": "in progress stories in the last 2 weeks"},
        (),
        {"status": ["in progress"], "date_range": ["2026-02-24", "2026-03-10"]},
        10,
    ),
    ({"query": "getFileStatus fails"}, ("getFileStatus", "fails"), {}, 10),
    ({"query": "bugs without workaround"}, (), {}, 10),
]
DATABASE: list[tuple[dict[str, Any], tuple[str, ...], dict[str, Any], int]] = [
    ({"question": "orders from Norway"}, ("orders", "Norway"), {}, 10),
    (
        {"sql": "SELECT name, total FROM orders WHERE country = 'Peru'"},
        ("country", "Peru"),
        {"tables": ["orders"], "columns": ["name", "total"]},
        10,
    ),
    ({"sql": "select count(id) from users"}, (), {"tables": ["users"], "aggregations": ["count"]}, 10),
    ({"sql": "select a.x from a join b on a.id = b.id"}, (), {"tables": ["a", "b"], "columns": ["x"]}, 10),
    ({"table": "users", "question": "inactive accounts"}, ("inactive", "accounts"), {"tables": ["users"]}, 10),
    ({"question": "top 3 customers"}, ("customers",), {}, 3),
    ({"question": "sales in 2023"}, ("sales",), {"date_range": ["2023-01-01", "2023-12-31"]}, 10),
    (
        {"question": "sales between 2023-01-01 and 2023-02-01"},
        ("sales",),
        {"date_range": ["2023-01-01", "2023-02-01"]},
        10,
    ),
    ({"question": "email column of suppliers", "columns": ["email"]}, ("suppliers",), {"columns": ["email"]}, 10),
    ({"question": "order 12345"}, ("order", "12345"), {}, 10),
    ({"query": "What is the total amount?"}, ("amount",), {}, 10),
    ({"query": "invoices except drafts"}, ("invoices",), {}, 10),
]


@pytest.mark.parametrize(
    ("tool", "call"),
    [
        *(("slack_search_messages", call) for call in SLACK),
        *(("jira_search_issues", call) for call in JIRA),
        *(("db_query", call) for call in DATABASE),
    ],
)
def test_a_call_is_read_by_its_kind_of_tool(
    tool: str, call: tuple[dict[str, Any], tuple[str, ...], dict[str, Any], int]
) -> None:
    arguments, keywords, filters, max_results = call
    intent = read(create_mock_tool_call_request(tool, arguments=arguments))
    if keywords:
        assert set(keywords) <= set(intent.keywords)
    assert dict(intent.filters) == filters
    assert intent.max_results == max_results
    assert 0 <= intent.confidence <= 1


def test_the_users_question_counts_beside_the_arguments() -> None:
    request = create_mock_tool_call_request(arguments={"query": "deploy"}, question="Why did the billing job fail?")
    assert set(read(request).keywords) == {"billing", "job", "fail", "deploy"}


def test_what_is_excluded_is_a_negative_and_no_keyword() -> None:
    request = create_mock_tool_call_request(arguments={"query": "errors without timeouts -retry"})
    intent = read(request)
    assert intent.keywords == ("errors",)
    assert intent.negatives == ("timeouts", "retry")
    assert read(request, negatives=False).negatives == ()


def test_the_most_specific_keywords_stay_when_there_are_too_many() -> None:
    request = create_mock_tool_call_request(arguments={"query": "cat dog HttpClient vulnerability sun"})
    assert read(request, max_keywords=2).keywords == ("HttpClient", "vulnerability")


def test_a_call_that_says_nothing_is_read_from_the_tools_name() -> None:
    intent = read(create_mock_tool_call_request("list_invoices"))
    assert intent.keywords == ("invoices",)
    assert intent.confidence < 0.2


def test_the_same_call_gives_the_same_intent() -> None:
    request = create_mock_tool_call_request(arguments={"query": "top 4 CVE patches since 2024-01-01"})
    assert read(request) == read(request)
