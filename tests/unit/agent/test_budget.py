from decimal import Decimal

from satchel.agent.budget import DEAREST, Budget, Spending, Usage, cost_usd

USAGE = Usage.of({"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 3000})


def test_cost_is_exact_and_cached_input_has_its_own_price():
    assert cost_usd(USAGE, "claude-sonnet-5") == Decimal("0.0036")
    assert cost_usd(USAGE, "claude-sonnet-5-5") == Decimal("0.0033")
    assert cost_usd(Usage(cache_write=1_000_000), "eu.anthropic.claude-sonnet-4-6-v1:0") == Decimal("3.75")


def test_the_longest_name_that_fits_tells_the_price():
    million = Usage(output=1_000_000)
    assert cost_usd(million, "claude-opus-4-1-20250805") == 75
    assert cost_usd(million, "claude-opus-4-5-20251101") == 25
    assert cost_usd(million, "claude-opus-5-5") == 20


def test_a_long_prompt_makes_the_whole_request_dearer_where_the_list_says_so():
    assert cost_usd(Usage(input=100_000, output=1_000_000), "claude-haiku-5-5") == Decimal("0.51")
    assert cost_usd(Usage(input=1, cache_read=100_000, output=1_000_000), "claude-haiku-5-5") == Decimal("2.5050005")


def test_an_unlisted_model_is_priced_as_the_dearest():
    assert cost_usd(Usage(output=1_000_000), "claude-next-9") == DEAREST.output == 75


def test_the_share_of_the_input_that_the_cache_read():
    assert USAGE.cache_read_share == 0.75
    assert Usage().cache_read_share == 0.0


def test_each_part_of_the_budget_ends_a_turn():
    for budget, words in (
        (Budget(calls=1), "1 model calls"),
        (Budget(tokens=4000), "4000 tokens"),
        (Budget(usd=Decimal("0.0035")), "0.0035 USD"),
    ):
        spending = Spending(budget, "claude-sonnet-5")
        assert spending.exhausted is None
        spending.add(USAGE)
        assert spending.exhausted == words
