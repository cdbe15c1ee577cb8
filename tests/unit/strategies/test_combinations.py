import pytest

from satchel.errors import InvalidInputError, TooLargeError
from satchel.strategies.request import combinations

METADATA = {"params": {"fast": 10, "slow": 30}}


def test_no_parameters_are_one_run():
    assert combinations({}, METADATA) == [{}]


def test_lists_make_every_combination_the_last_varying_fastest():
    assert combinations({"fast": [1, 2], "slow": [3, 4]}, METADATA) == [
        {"fast": 1, "slow": 3},
        {"fast": 1, "slow": 4},
        {"fast": 2, "slow": 3},
        {"fast": 2, "slow": 4},
    ]


def test_a_parameter_the_strategy_has_not_is_named():
    with pytest.raises(InvalidInputError, match="it has fast, slow") as caught:
        combinations({"quick": 1}, METADATA)
    assert caught.value.field == "params.quick"


def test_an_empty_list_is_refused():
    with pytest.raises(InvalidInputError):
        combinations({"fast": []}, METADATA)


def test_fifty_are_the_most():
    assert len(combinations({"fast": list(range(5)), "slow": list(range(10))}, METADATA)) == 50
    with pytest.raises(TooLargeError, match="51 combinations"):
        combinations({"fast": list(range(51))}, METADATA)
