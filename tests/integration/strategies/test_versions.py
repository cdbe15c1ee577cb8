import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from satchel.errors import InvalidInputError
from satchel.postgres.database import Database
from satchel.strategies.store import StrategyStore
from satchel.strategies.versions import write_strategy
from tests.conftest import direct

NOW = datetime(2025, 6, 1, tzinfo=UTC)
CODE = (
    "from backtesting import Strategy\nclass S(Strategy):\n    n = {}\n    def init(self): ...\n    def next(self): ..."
)


def write(store, n, name="s"):
    return write_strategy(name, CODE.format(n), store=store, clock=lambda: NOW)


def test_the_same_code_again_is_the_same_version_and_an_old_one_again_is_a_new_one(database):
    store = StrategyStore(database, "alice")
    assert [(v.version, changed) for v, changed in (write(store, n) for n in (1, 1, 2, 1))] == [
        (1, True),
        (1, False),
        (2, True),
        (3, True),
    ]
    assert store.version("s").code == CODE.format(1)
    assert store.version("s", 2).code == CODE.format(2)
    assert store.version("s", 9) is None


def test_writers_at_once_get_versions_of_their_own(app_dsn):
    def write_one(n):
        database = Database(lambda: app_dsn)
        try:
            return write(StrategyStore(database, "alice"), n)[0].version
        finally:
            database.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(write_one, range(8))) == list(range(1, 9))


@pytest.mark.parametrize("name", ["", " x", "a/b", "x" * 65, "../up"])
def test_a_name_is_one(name, database):
    with pytest.raises(InvalidInputError):
        write(StrategyStore(database, "alice"), 1, name=name)


def test_a_name_of_other_letters_is_told_which_letters_there_are(database):
    with pytest.raises(InvalidInputError, match=r"ASCII letters .* begins with a letter or digit"):
        write(StrategyStore(database, "alice"), 1, name="SMA 교차")


def test_strategies_are_listed_by_name_at_their_current_version_to_their_owner(database):
    alice = StrategyStore(database, "alice")
    write(alice, 1, name="b")
    write(alice, 1, name="a")
    write(alice, 2, name="a")
    assert [(row["name"], row["version"], row["metadata"]["params"]) for row in alice.current()] == [
        ("a", 2, {"n": 2}),
        ("b", 1, {"n": 1}),
    ]
    assert StrategyStore(database, "bob").current() == []


def test_a_version_is_read_through_the_handler_and_another_query_is_told(invoke):
    scopes = ["context:read", "context:write"]
    for n in (1, 2):
        written = invoke("write_strategy", direct(scopes=scopes, arguments={"name": "s", "code": CODE.format(n)}))
        assert written["structuredContent"]["version"] == n

    def read(query, **principal):
        uri = f"context://strategy/s{query}"
        answer = invoke("strategy_context", direct(resource=uri, **principal))
        if "error" in answer:
            return answer["error"]["code"], answer["error"]["field"]
        (content,) = answer["contents"]
        assert (content["uri"], content["mimeType"]) == (uri, "application/json")
        context = json.loads(content["text"])
        return context["version"], context["code"]

    assert read("?version=1") == (1, CODE.format(1))
    assert read("?version=2") == read("") == read("?version=") == (2, CODE.format(2))
    assert read("?version=3")[0] == "not_found"
    assert read("?version=1", user_id="bob")[0] == "not_found"
    for wrong in ("0", "-1", "1.0", "two", "٢", "99999999999"):
        assert read(f"?version={wrong}") == ("invalid_input", "version"), wrong
    assert read("?version=1&version=2") == ("invalid_input", "version")
    assert read("?revision=1")[0] == "not_found"
