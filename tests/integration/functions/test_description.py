import json

from openapi_spec_validator import validate

from tests.integration.functions.test_context_resources import rest


def get(invoke, path, **event):
    return invoke("preferences", rest(path, "GET", user_id=None, **event))


def test_the_description_is_valid_openapi_and_names_every_tool_and_route(invoke):
    answer = get(invoke, "/openapi.json")
    assert answer["statusCode"] == 200
    description = json.loads(answer["body"])
    validate(description)
    assert {"/v1/tools/save_message", "/v1/preferences", "/v1/workspace-state", "/v1/resources", "/mcp"} <= set(
        description["paths"]
    )
    assert description["paths"]["/v1/tools/save_message"]["post"]["x-scope"] == "context:write"


def test_links_name_the_url_the_caller_used(invoke):
    event = rest("/prod/openapi.json", "GET", user_id=None, headers={"host": "abc.execute-api.eu-west-1.amazonaws.com"})
    event["requestContext"]["stage"] = "prod"
    answer = invoke("preferences", event)
    assert json.loads(answer["body"])["servers"] == [{"url": "https://abc.execute-api.eu-west-1.amazonaws.com/prod"}]


def test_the_page_for_people_names_the_routes_and_needs_no_token(invoke):
    answer = get(invoke, "/docs")
    assert answer["statusCode"] == 200
    assert answer["headers"]["content-type"].startswith("text/html")
    assert "/v1/tools/save_message" in answer["body"]
    assert "<script" not in answer["body"]


def test_the_bare_address_leads_to_the_page_for_people(invoke):
    answer = get(invoke, "/")
    assert answer["statusCode"] == 307
    assert answer["headers"]["location"].endswith("/docs")
