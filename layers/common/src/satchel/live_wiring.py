"""From settings to the live account. Apart from `desk_wiring`, so that nothing else comes near the exchange's key."""

import json
import secrets
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path

from satchel.api.handler import Call
from satchel.aws_secret import read_secret
from satchel.errors import NotFoundError
from satchel.exchange.ccxt_spot import CcxtExchange, open_exchange
from satchel.trading.live import LiveDesk, LiveRules
from satchel.trading.live_store import LiveJournal
from satchel.wiring import clock, database, settings


def live_desk(call: Call) -> LiveDesk:
    """The live account of the caller.

    Raises:
        NotFoundError: The owner has configured none.
    """
    rules = live_rules()
    if rules is None or call.user_id != rules.owner:
        raise NotFoundError("there is no account of this name", field="account")
    return LiveDesk(
        user_id=call.user_id,
        rules=rules,
        exchange=_exchange(),
        journal=LiveJournal(database(), call.user_id),
        clock=clock,
        new_token=lambda: secrets.token_urlsafe(24),
        seconds_left=lambda: call.remaining_ms() / 1000,
    )


def live_rules() -> LiveRules | None:
    """What the owner allows; None where they have not said all of it: an exchange, whose it is, and how much."""
    chosen = settings()
    amount, _, currency = chosen.live_max_order.partition(" ")
    try:
        most = Decimal(amount)
    except InvalidOperation:
        return None
    if not (chosen.live_exchange and chosen.live_owner and currency and most.is_finite() and most > 0):
        return None
    return LiveRules(chosen.live_owner, most, currency)


@cache
def _exchange() -> CcxtExchange:
    chosen = settings()
    text = read_secret(chosen.live_secret) if chosen.live_secret else Path(chosen.live_key_file).read_text("utf-8")
    return CcxtExchange(chosen.live_exchange, open_exchange(chosen.live_exchange, json.loads(text)))
