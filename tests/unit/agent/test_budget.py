from decimal import Decimal

from satchel.agent.budget import DEAREST, Budget, Spending, Usage, cost_usd

USAGE = Usage.of({"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 3000})


def test_cost_is_exact_and_cache_reads_are_a_tenth():
    assert cost_usd(USAGE, "claude-sonnet-5") == Decimal("0.0054")
    assert cost_usd(Usage(cache_write=1_000_000), "eu.anthropic.claude-sonnet-5-v1:0") == Decimal("3.75")


def test_an_unlisted_model_is_priced_as_the_dearest():
    assert cost_usd(Usage(output=1_000_000), "claude-mythos-5") == DEAREST.output


def test_the_share_of_the_input_that_the_cache_read():
    assert USAGE.cache_read_share == 0.75
    assert Usage().cache_read_share == 0.0


def test_each_part_of_the_budget_ends_a_turn():
    for budget, words in (
        (Budget(calls=1), "1 model calls"),
        (Budget(tokens=4000), "4000 tokens"),
        (Budget(usd=Decimal("0.005")), "0.005 USD"),
    ):
        spending = Spending(budget, "claude-sonnet-5")
        assert spending.exhausted is None
        spending.add(USAGE)
        assert spending.exhausted == words
