from decimal import Decimal

import pytest

from satchel.agent.answer import Answer
from satchel.agent.budget import Usage
from satchel.errors import UnavailableError
from satchel.gateway.telegram import TelegramDelivery

ANSWER = Answer("s", ["m", "m.1"], "hi", [], Usage(), Decimal(0))


def delivery(sent, *, last=False, free=True):
    return TelegramDelivery(sent.append, claim=lambda: free, give_back=list, last=last)


def test_an_answer_is_sent_by_whoever_claims_it():
    sent = []
    delivery(sent, free=False).deliver(ANSWER)
    assert sent == []
    delivery(sent).deliver(ANSWER)
    assert [part.text for part in sent] == ["hi"]


@pytest.mark.parametrize("last", [False, True])
def test_a_chat_is_told_that_there_is_no_answer_once_nobody_tries_again(last):
    sent = []
    with pytest.raises(UnavailableError), delivery(sent, last=last).of_failure():
        raise UnavailableError("away")
    assert [part.text.split(":")[0] for part in sent] == ["I could not answer this"] * last
