"""Which worker runs an invocation: at least two a function in turn, more when all are busy, none when nobody calls."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from satchel.local.invocation import Invocation, Outcome
from satchel.local.worker import InitError, Launch, Worker


class Slots:
    """The addresses of the Runtime API, one for each worker that may live at a time.

    Their number bounds memory and database connections. When all are taken the worker that has been idle longest,
    whatever its function, makes room.
    """

    def __init__(self, addresses: Sequence[str]) -> None:
        self._free = deque(addresses)
        self._workers: dict[str, Worker] = {}
        self._waiters: deque[asyncio.Future[str]] = deque()

    def worker_at(self, address: str) -> Worker | None:
        """The worker that owns an address."""
        return self._workers.get(address)

    async def take(self, evict: Callable[[], None]) -> str:
        """An address for a new worker; `evict` asks for an idle one to end when none is free."""
        if self._free:
            return self._free.popleft()
        waiter: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        evict()
        return await waiter

    @property
    def free(self) -> bool:
        """Whether a worker can start without another one ending."""
        return bool(self._free)

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for an address."""
        return any(not waiter.done() for waiter in self._waiters)

    def assign(self, address: str, worker: Worker) -> None:
        """Gives an address to its worker."""
        self._workers[address] = worker

    def release(self, address: str) -> None:
        """Takes an address back from a worker that has ended."""
        self._workers.pop(address, None)
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(address)
                return
        self._free.append(address)


class FunctionPool:
    """The workers of one function.

    Args:
        launch: How to start one.
        slots: Where addresses come from.
        minimum: Workers kept once the function is in use, called in turn, so that state hidden in a process shows.
        maximum: Workers at most; further invocations wait their turn.
        evict: Ends an idle worker of any function, to make room.
    """

    def __init__(self, launch: Launch, slots: Slots, *, minimum: int, maximum: int, evict: Callable[[], None]) -> None:
        self.function = launch.function
        self.init_error: str | None = None
        self._launch = launch
        self._slots = slots
        self._minimum = minimum
        self._maximum = maximum
        self._evict = evict
        self._idle: deque[Worker] = deque()
        self._alive: set[Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._waiters: deque[asyncio.Future[Worker]] = deque()
        self._closed = False

    async def invoke(self, invocation: Invocation) -> Outcome:
        """Runs an invocation on the worker that has rested longest, or on a new one."""
        try:
            worker = await self._acquire()
        except InitError as error:
            return invocation.failed(error.payload)
        try:
            return await worker.invoke(invocation)
        finally:
            self._release(worker)

    def start_first(self) -> None:
        """Starts one worker before anybody calls."""
        self._start_one()

    def launch_with(self, launch: Launch) -> None:
        """Starts new workers another way from now on and retires the present ones."""
        self._launch = launch
        self.function = launch.function
        self.retire()

    def retire(self) -> None:
        """Ends idle workers now and busy ones after their invocation: their code is out of date."""
        self.init_error = None
        for worker in self._alive:
            worker.retiring = True
        while self._idle:
            self._idle.popleft().kill()

    def idle_since(self) -> float | None:
        """When the worker that has rested longest was last used, on the monotonic clock; None if none is idle."""
        return min((worker.used_at for worker in self._idle), default=None)

    def stop_idle(self, *, before: float | None = None) -> None:
        """Ends idle workers last used before a time, or the one that has rested longest."""
        if before is None:
            if self._idle:
                self._idle.popleft().kill()
            return
        for worker in [worker for worker in self._idle if worker.used_at < before]:
            self._idle.remove(worker)
            worker.kill()

    async def close(self) -> None:
        """Ends every worker and waits until they are gone."""
        self._closed = True
        starting = list(self._starting)
        for task in starting:
            task.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        for waiter in self._waiters:
            waiter.cancel()
        for worker in self._alive:
            worker.kill()
        for worker in list(self._alive):
            await worker.ended()

    async def _acquire(self) -> Worker:
        while self._idle:
            worker = self._idle.popleft()
            if worker.usable:
                return worker
        waiter: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._start_for_waiters()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._release(waiter.result())
            raise

    def _start_for_waiters(self) -> None:
        waiting = sum(not waiter.done() for waiter in self._waiters)
        while len(self._starting) < waiting and len(self._alive) < self._maximum:
            self._start_one()

    def _start_one(self) -> None:
        worker_task = asyncio.create_task(self._start())
        self._starting.add(worker_task)
        worker_task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        if not task.cancelled():
            task.result()
            self._start_for_waiters()

    async def _start(self) -> None:
        address = await self._slots.take(self._evict)
        worker = Worker(self._launch, address)
        self._slots.assign(address, worker)
        self._alive.add(worker)

        def gone(ended: Worker) -> None:
            self._alive.discard(ended)
            with suppress(ValueError):
                self._idle.remove(ended)
            self._slots.release(address)
            if not self._closed:
                self._start_for_waiters()

        try:
            await worker.start(on_exit=gone)
        except InitError as error:
            self.init_error = str(error)
            if waiter := self._next_waiter():
                waiter.set_exception(error)
            return
        self.init_error = None
        self._offer(worker)

    def _release(self, worker: Worker) -> None:
        if worker.retiring:
            worker.kill()
        else:
            self._offer(worker)
        self._top_up()

    def _offer(self, worker: Worker) -> None:
        if worker.usable:
            if waiter := self._next_waiter():
                waiter.set_result(worker)
            elif self._slots.wanted:
                worker.kill()
            else:
                self._idle.append(worker)

    def _top_up(self) -> None:
        """Keeps the minimum once the function has worked, so that the next call finds another process."""
        present = sum(worker.usable for worker in self._alive)
        if present < self._minimum and self._slots.free and self.init_error is None and not self._closed:
            self._start_one()

    def _next_waiter(self) -> asyncio.Future[Worker] | None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                return waiter
        return None


class Fleet:
    """All functions' pools on one set of slots.

    Args:
        launches: How to start each function, by logical id.
        addresses: One Runtime API address for each worker that may live at a time.
        minimum: As for a pool.
        maximum: As for a pool.
        idle_s: Idle workers end after this time.
    """

    def __init__(
        self,
        launches: Sequence[Launch],
        addresses: Sequence[str],
        *,
        minimum: int = 2,
        maximum: int = 4,
        idle_s: float = 300,
    ) -> None:
        self.slots = Slots(addresses)
        self._idle_s = idle_s
        self.pools = {
            launch.function.logical_id: FunctionPool(
                launch, self.slots, minimum=minimum, maximum=maximum, evict=self._evict_one
            )
            for launch in launches
        }

    def start_first(self, logical_ids: Sequence[str]) -> None:
        """Starts one worker of each of these functions, without waiting for it."""
        for logical_id in logical_ids:
            self.pools[logical_id].start_first()

    async def stop_idle_forever(self) -> None:
        """Ends workers nobody has used for a while, until cancelled."""
        while True:
            await asyncio.sleep(self._idle_s / 4)
            before = time.monotonic() - self._idle_s
            for pool in self.pools.values():
                pool.stop_idle(before=before)

    async def close(self) -> None:
        """Ends all workers."""
        for pool in self.pools.values():
            await pool.close()

    def _evict_one(self) -> None:
        resting = [(since, pool) for pool in self.pools.values() if (since := pool.idle_since()) is not None]
        if resting:
            min(resting, key=lambda pair: pair[0])[1].stop_idle()
