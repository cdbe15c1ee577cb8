from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from satchel.local.routing import RouteTable
from satchel.local.template import Route


def table(*keys: str) -> RouteTable:
    return RouteTable([Route(*(("", "") if key == "$default" else key.split(" ", 1)), function=key) for key in keys])


def chosen(routes: RouteTable, method: str, path: str) -> str | None:
    match = routes.match(method, path)
    return match.route.key if match else None


def test_the_most_specific_route_wins_in_whatever_order_they_are_declared():
    keys = ["$default", "ANY /{proxy+}", "GET /pets/{id}", "GET /pets/dog", "ANY /pets/{id}", "GET /pets/{rest+}"]
    for ordered in (keys, keys[::-1]):
        routes = table(*ordered)
        assert chosen(routes, "GET", "/pets/dog") == "GET /pets/dog"
        assert chosen(routes, "GET", "/pets/cat") == "GET /pets/{id}"
        assert chosen(routes, "POST", "/pets/cat") == "ANY /pets/{id}"
        assert chosen(routes, "GET", "/pets/cat/1") == "GET /pets/{rest+}"
        assert chosen(routes, "GET", "/else") == "ANY /{proxy+}"


def test_default_takes_what_nothing_else_does_and_without_it_there_is_none():
    assert chosen(table("$default"), "PUT", "/x/y") == "$default"
    assert chosen(table("GET /x"), "PUT", "/x") is None


def test_a_greedy_parameter_needs_at_least_one_character():
    assert chosen(table("GET /files/{rest+}"), "GET", "/files/") is None


@given(st.text(st.characters(blacklist_characters="/", blacklist_categories=("Cs",)), min_size=1))
def test_a_path_parameter_is_what_was_escaped(text):
    match = table("GET /items/{id}").match("GET", "/items/" + quote(text, safe=""))
    assert match is not None
    assert match.path_parameters == {"id": text}
