"""`configure_account`: the rules of the paper account."""

from satchel import desk_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.accounts import ConfigureAccountArguments, ConfigureAccountResult
from satchel.trading.exchange import configured


@tool("configure_account", ConfigureAccountArguments, scope="trade:paper")
def handler(arguments: ConfigureAccountArguments, call: Call) -> ConfigureAccountResult:
    """The rules as they are now."""
    with desk_wiring.trading_store(call.user_id).open(arguments.account) as session:
        account = configured(
            session.account,
            confirm=arguments.confirm,
            fee_rate=arguments.fee_rate,
            slippage=arguments.slippage,
            limits=arguments.limits,
            steps=arguments.steps,
        )
        session.update_account(account)
    return ConfigureAccountResult.of(account)
