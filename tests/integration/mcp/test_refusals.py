"""What the user's MCP server refuses, as the model and the caller are told it: the real adapter, the SDK's client."""

import asyncio
import json
from contextlib import contextmanager

import pytest

from satchel.agent.exchange import Stored
from satchel.agent.routing import Tool
from satchel.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    RateLimitedError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
)
from satchel.gateway.link import Link
from satchel.gateway.user_server import McpUserServer
from tests.support.lambda_front import serving

BUY = Tool("user", "execute_trade", "Buy.", {"type": "object"})
LOOK = Tool("user", "list_strategies", "Look.", {"type": "object"})


@contextmanager
def server_of(handler, token=""):
    """The user's server behind `handler`, and what runs a coroutine with it."""
    with serving(handler) as base:

        def use(ask):
            async def run():
                link = Link(f"{base}/mcp")
                link.authorise(token)
                try:
                    return await ask(McpUserServer(link, platform=()))
                finally:
                    await link.close()

            return asyncio.run(run())

        yield use


def answering(status, body):
    """A server that refuses everything."""
    return lambda _event, _context: {
        "statusCode": status,
        "headers": {"content-type": "application/json"},
        "body": json.dumps(body),
    }


def test_the_scope_that_a_tool_lacks_is_named_and_nothing_is_called(bench):
    with server_of(bench.adapter.handle, bench.token(scopes=("context:read", "context:write"))) as use:
        outcome = use(lambda server: server.call(BUY, {"symbol": "AAPL"}, timeout_s=5))
    assert outcome.is_error
    assert outcome.text == "The user's token does not allow this tool: this needs the scope trade:paper."
    assert bench.functions.requests == []


def test_a_message_and_a_resource_that_a_token_may_not_have_are_forbidden(bench):
    with server_of(bench.adapter.handle, bench.token(scopes=("trade:read",))) as use:
        with pytest.raises(ForbiddenError, match="needs the scope context:write"):
            use(lambda server: server.save("s", Stored("m", "user", "hello")))
        with pytest.raises(ForbiddenError, match="needs the scope context:read"):
            use(lambda server: server.read("context://user-profile"))


def test_an_answer_that_may_not_be_filtered_is_withheld_with_the_reason(bench):
    with server_of(bench.adapter.handle, bench.token(scopes=("context:read",))) as use:
        outcome = use(lambda server: server.reduce(LOOK, {}, "{}", question="what?"))
    assert outcome.is_error
    assert outcome.text.endswith("is withheld: this needs the scope context:write.")


def test_an_answer_that_the_filter_refuses_is_withheld_with_the_reason(bench):
    told = {"code": "too_large", "field": "response", "message": "response is over 100 items", "request_id": "r"}
    bench.functions.answers["filter_response"] = {"error": told}
    with server_of(bench.adapter.handle, bench.token()) as use:
        outcome = use(lambda server: server.reduce(LOOK, {}, "{}", question="what?"))
    assert outcome.is_error
    assert outcome.text.endswith("is withheld: response is over 100 items.")


def test_what_a_resource_refuses_is_the_error_it_tells(bench):
    told = {"code": "not_found", "field": "uri", "message": "there is no such session", "request_id": "r"}
    bench.functions.answers["user_profile"] = {"error": told}
    with server_of(bench.adapter.handle, bench.token()) as use, pytest.raises(NotFoundError, match="no such session"):
        use(lambda server: server.read("context://user-profile"))


def test_a_tool_that_has_gone_is_named(bench):
    gone = Tool("user", "bank__transfer", "Pay.", {"type": "object"})
    with server_of(bench.adapter.handle, bench.token()) as use:
        outcome = use(lambda server: server.call(gone, {}, timeout_s=5))
    assert (outcome.is_error, outcome.text) == (True, "Unknown tool: bank__transfer")


def test_a_token_that_is_not_accepted_is_unauthorized(bench):
    with server_of(bench.adapter.handle, "nonsense") as use, pytest.raises(UnauthorizedError, match="token"):
        use(lambda server: server.read("context://user-profile"))


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (413, {"message": "Request Too Long"}, TooLargeError, "over the 6 MB"),
        (429, {"message": "Too Many Requests"}, RateLimitedError, "asked too often"),
        (403, {"message": "Forbidden"}, ForbiddenError, "does not allow"),
        (401, ["Unauthorized"], UnauthorizedError, "does not accept the user's token"),
        (503, {"message": "Service Unavailable"}, UnavailableError, "does not answer; try again"),
        (400, {"error": {"code": "invalid_input", "field": "f", "message": "no"}}, InvalidInputError, "^no$"),
    ],
)
def test_what_a_gateway_in_front_refuses_is_told_by_its_status(status, body, kind, words):
    with server_of(answering(status, body)) as use, pytest.raises(kind, match=words):
        use(lambda server: server.read("context://user-profile"))


def test_what_is_over_the_limit_is_told_to_the_model_without_asking_it_to_try_again():
    with server_of(answering(413, {"message": "Request Too Long"})) as use:
        outcome = use(lambda server: server.call(LOOK, {"text": "x"}, timeout_s=5))
    assert outcome.is_error
    assert "6 MB" in outcome.text
    assert "try again" not in outcome.text
