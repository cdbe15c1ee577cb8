from decimal import Decimal

import pytest

from satchel.agent.answer import Answer
from satchel.agent.budget import Usage
from satchel.errors import UnavailableError
from satchel.gateway.connections import GoneError
from satchel.gateway.delivery import Delivery

ANSWER = Answer("s", ["m", "m.1"], "hi", [], Usage(), Decimal(0))


class Clients:
    """Connections, each open from a time on, or never."""

    def __init__(self, **open_from_s):
        self.open_from_s = open_from_s
        self.now_s = 0.0
        self.got = []
        self.claimed = False

    def send(self, place, kind, **fields):
        if self.open_from_s.get(place, 99) > self.now_s:
            raise GoneError
        self.got.append((place, kind, fields))

    def wait(self, seconds):
        self.now_s += seconds

    def claim(self):
        free, self.claimed = not self.claimed, True
        return free

    def give_back(self):
        self.claimed = False

    def delivery(self, place, *, known=None):
        return Delivery(
            place,
            others=lambda: list(self.open_from_s if known is None else known),
            send=self.send,
            tell=lambda answer: {"text": answer.text},
            fail=lambda error: {"error": error.message},
            claim=self.claim,
            give_back=self.give_back,
            wait=self.wait,
        )


def test_the_connection_that_asked_gets_the_answer():
    clients = Clients(a=0, b=0)
    clients.delivery("b").deliver(ANSWER)
    assert clients.got == [("b", "done", {"text": "hi"})]
    assert clients.claimed


def test_an_answer_is_delivered_once():
    clients = Clients(a=0, b=0)
    for place in "ab":
        clients.delivery(place).deliver(ANSWER)
    assert [place for place, _, _ in clients.got] == ["a"]


def test_another_connection_of_the_user_gets_what_the_first_is_not_there_for():
    clients = Clients(b=0)
    clients.delivery("a").deliver(ANSWER)
    assert [place for place, _, _ in clients.got] == ["b"]


def test_a_connection_whose_handshake_is_not_over_is_waited_for():
    clients = Clients(b=1.0)
    clients.delivery("a").deliver(ANSWER)
    assert [place for place, _, _ in clients.got] == ["b"]
    assert clients.claimed


def test_with_nobody_there_the_answer_is_left_and_nobody_is_waited_for():
    clients = Clients()
    clients.delivery("a").deliver(ANSWER)
    assert (clients.got, clients.claimed, clients.now_s) == ([], False, 0)


def test_a_failure_is_told_and_goes_on():
    clients = Clients(a=0)
    with pytest.raises(UnavailableError), clients.delivery("a").of_failure():
        raise UnavailableError("busy")
    assert clients.got == [("a", "error", {"error": "busy"})]


def test_text_goes_to_the_one_that_asked_until_it_has_left():
    clients = Clients(a=0)
    delivery = clients.delivery("a")
    delivery.listener.text("x" * 100)
    clients.open_from_s.clear()
    delivery.listener.tool("look", "started")
    delivery.listener.text("y" * 100)
    assert [kind for _, kind, _ in clients.got] == ["text"]
