"""Turns under way: claimed by one, run by one, handed on when time is short, answered once."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from satchel.agent.answer import Answer, Turn, find_answer, page_uri, read_page
from satchel.agent.exchange import Stored
from satchel.agent.ports import OutOfTimeError, UserServer
from satchel.agent.store import AgentStore, TurnRow
from satchel.errors import ConflictError, DeadlineError, NotFoundError, SatchelError, UnavailableError

# Whoever runs a turn says so again and again; silent for this long, another may take over.
LEASE_S = 30.0
_RENEW_EVERY_S = 8.0


@dataclass(frozen=True)
class Runner:
    """Runs turns of one user.

    Attributes:
        server: The user's server.
        store: The user's turns.
        run: Answers a turn.
        claimant: Who we are, for claims: the id of this invocation.
        clock: Now, aware UTC.
        code_of: The code of an error, as callers know it.
        model: The model that is priced.
        hand_on: Queues a turn for the worker; None where nobody can go on with it.
        meanwhile: Is called again and again while a turn takes its time, with the seconds for which it is still ours.
    """

    server: UserServer
    store: AgentStore
    run: Callable[[Turn], Awaitable[Answer]]
    claimant: str
    clock: Callable[[], datetime]
    code_of: Callable[[SatchelError], str]
    model: str
    hand_on: Callable[[TurnRow], None] | None = None
    meanwhile: Callable[[float], None] = lambda _seconds: None

    async def say(self, said: Stored, row: Callable[[], TurnRow], session_id: str, *, wait: bool) -> Answer | TurnRow:
        """Answer what a user says; the turn where the answer takes longer than there is time, or `wait` is off.

        The same message again is the same turn: it gets the same answer, or goes on where it stopped.

        Args:
            said: The message.
            row: Opens the turn of the message.
            session_id: Its conversation.
            wait: Whether to answer now.

        Raises:
            ConflictError: Another message has that id.
            DeadlineError: Time is up and nobody can go on; the same message again does.
        """
        await self.server.save(session_id, said)
        turn = row()
        if turn.status == "done":
            return await self.finished(turn)
        if not wait:
            self._hand_on(turn)
            return turn
        return await self.go_on(turn)

    async def go_on(self, turn: TurnRow) -> Answer | TurnRow:
        """Answer a turn if nobody else does; the turn itself where somebody does, or time is up."""
        if not self._hold(turn):
            return turn
        holding = asyncio.create_task(self._go_on_holding(turn))
        try:
            answer = await self.run(Turn(turn.session_id, turn.message_id))
        except OutOfTimeError:
            self.store.release(turn.turn_id, claimant=self.claimant)
            self._hand_on(turn)
            return turn
        except ConflictError:
            # Whoever took the turn over, after our lease, was faster.
            return turn
        except SatchelError as error:
            self._finish(turn, self.code_of(error))
            raise
        except Exception:
            self._finish(turn, "internal")
            raise
        finally:
            holding.cancel()
            await asyncio.wait([holding])
        self._finish(turn, None)
        return answer

    async def finished(self, turn: TurnRow) -> Answer:
        """The answer of a finished turn, from its session.

        Raises:
            NotFoundError: It is not among the latest messages of the session any more.
        """
        stored = read_page(await self.server.read(page_uri(turn.session_id)))
        answer = find_answer(stored, Turn(turn.session_id, turn.message_id), model=self.model)
        if answer is None:
            raise NotFoundError("the answer is not in its session any more")
        return answer

    def _hold(self, turn: TurnRow) -> bool:
        now = self.clock()
        lease_until = now + timedelta(seconds=LEASE_S)
        return self.store.claim(turn.turn_id, claimant=self.claimant, lease_until=lease_until, now=now)

    async def _go_on_holding(self, turn: TurnRow) -> None:
        held = True
        while held:
            await asyncio.sleep(_RENEW_EVERY_S)
            with suppress(UnavailableError):
                held = self._hold(turn)
                if held:
                    self.meanwhile(LEASE_S)

    def _finish(self, turn: TurnRow, error_code: str | None) -> None:
        self.store.finish(turn.turn_id, claimant=self.claimant, error_code=error_code, now=self.clock())

    def _hand_on(self, turn: TurnRow) -> None:
        if self.hand_on is None:
            raise DeadlineError("the answer takes longer than a request may; send the same message_id again to go on")
        self.hand_on(turn)
