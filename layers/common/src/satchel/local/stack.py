"""A whole serverless application on this machine: what `template.yaml` declares, served until it is stopped."""

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from starlette.types import ASGIApp

from satchel.local import hot_reload, invoke_api, runtime_api, schedules
from satchel.local.authorizer import JwtVerifier
from satchel.local.http_front import HttpFront
from satchel.local.invocation import Invocation, Outcome
from satchel.local.invoke_api import RETRY_DELAYS_S, Invoker
from satchel.local.lambda_environment import LocalEnvironment
from satchel.local.log_stream import LogStream
from satchel.local.queues import Queues
from satchel.local.server import Server, address, listen
from satchel.local.socket_connections import Connections
from satchel.local.socket_front import SocketFront
from satchel.local.template import Application
from satchel.local.worker import Launch
from satchel.local.workers import Fleet


@dataclass(frozen=True)
class StackOptions:
    """How a stack differs from its defaults.

    Attributes:
        overrides: Environment variables that replace those of the template, in every function.
        removed: Environment variables of the template that have no meaning here.
        machine: The environment of the machine; functions see a few variables of it.
        max_workers: Processes at most, of all functions. Each may hold one of PostgreSQL's 100 connections.
        workers_per_function: Kept at least once a function is in use, and started at most.
        idle_s: Idle workers end after this time.
        time_limit_s: The longest an HTTP request may take.
        retry_delays_s: Pauses before an asynchronous invocation is tried again.
        schedules_after_s: When schedules fire first; then they do at their rate.
        reload: Whether a change of code replaces the workers.
        called_first: Logical ids of functions that get a worker before anybody calls.
        health_path: A path that answers 503 while a function cannot start; its route answers otherwise.
    """

    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
    removed: frozenset[str] = frozenset()
    machine: Mapping[str, str] = field(default_factory=dict[str, str])
    max_workers: int = 48
    workers_per_function: tuple[int, int] = (2, 4)
    idle_s: float = 300
    time_limit_s: float = 30
    retry_delays_s: Sequence[float] = RETRY_DELAYS_S
    schedules_after_s: float = 60
    reload: bool = True
    called_first: Sequence[str] = ()
    health_path: str | None = None


class Stack:
    """The servers and workers of one application.

    Args:
        application: What to serve.
        owner: The data folder; marks the processes as its own.
        front: The listening socket of the HTTP API.
        verifier: Checks tokens for routes with an authorizer.
        logs: Where functions and the platform write.
        clock: The time, aware UTC.
        options: See there.
        own: Applications served beside the template's routes, by exact path.
    """

    def __init__(
        self,
        application: Application,
        *,
        owner: Path,
        front: socket.socket,
        verifier: JwtVerifier,
        logs: LogStream,
        clock: Callable[[], datetime],
        options: StackOptions,
        own: Mapping[str, ASGIApp] | None = None,
    ) -> None:
        self.access_key = f"LOCAL{secrets.token_hex(16)}"
        self._application = application
        self._front = front
        self._clock = clock
        self._logs = logs
        self._options = options
        self._lambda_socket = listen()
        self._slots = [listen() for _ in range(options.max_workers)]
        self._environment = LocalEnvironment(
            self.invoke_url, self.access_key, owner, options.overrides, options.removed, options.machine
        )
        minimum, maximum = options.workers_per_function
        self.fleet = Fleet(
            [Launch(function, self._environment.of(function), logs) for function in application.functions.values()],
            [address(slot) for slot in self._slots],
            minimum=minimum,
            maximum=maximum,
            idle_s=options.idle_s,
        )
        self._invoker = Invoker(application, self.fleet, logs, retry_delays_s=options.retry_delays_s)
        self._tasks: list[asyncio.Task[None]] = []
        self._queues = Queues(
            application.queues,
            application.queue_readers,
            application.functions,
            folder=owner / "queues",
            invoke=self._invoker.invoke,
            logs=logs,
            clock=clock,
        )
        connections = Connections()
        self._http = HttpFront(
            self._invoker,
            verifier,
            clock,
            own=own,
            sockets=SocketFront(self._invoker, connections, clock),
            time_limit_s=options.time_limit_s,
            health_path=options.health_path,
            init_errors=self.init_errors,
        )
        runtime = runtime_api.build(self.fleet.slots)
        self._inside = Server(
            {
                self._lambda_socket: invoke_api.build(
                    self._invoker, connections=connections, queues=self._queues, access_key=self.access_key
                ),
                **dict.fromkeys(self._slots, runtime),
            }
        )
        self._outside = Server({front: self._http})

    @property
    def url(self) -> str:
        """Where the HTTP API is."""
        return f"http://{address(self._front)}"

    @property
    def invoke_url(self) -> str:
        """Where the Lambda API is, for `AWS_ENDPOINT_URL_LAMBDA`."""
        return f"http://{address(self._lambda_socket)}"

    def init_errors(self) -> dict[str, str]:
        """Functions whose last start failed, by name, with the error."""
        return {pool.function.name: pool.init_error for pool in self.fleet.pools.values() if pool.init_error}

    async def invoke(self, logical_id: str, invocation: Invocation) -> Outcome:
        """Runs one invocation of a function."""
        return await self._invoker.invoke(self._application.functions[logical_id], invocation)

    async def start(self, *, after: Awaitable[None] | None = None) -> None:
        """Begins to serve.

        Args:
            after: What the functions need before they are called, a database for example. The HTTP API opens when it
                is done; the workers of functions that are called first start meanwhile. Its errors are raised.
        """
        await self._inside.start()
        self.fleet.start_first(self._options.called_first)
        if after is not None:
            await after
        await self._outside.start()
        self._queues.start()
        self._tasks.append(asyncio.create_task(self.fleet.stop_idle_forever()))
        for source in self._application.event_sources:
            if period := schedules.period_of(source):
                after_s = self._options.schedules_after_s
                firing = schedules.fire_forever(source, period, self._invoker, self._clock, first_after_s=after_s)
                self._tasks.append(asyncio.create_task(firing))
        if self._options.reload:
            watch = hot_reload.watch(self._application.functions, self.fleet, self._logs)
            self._tasks.append(asyncio.create_task(watch))

    async def stop(self) -> None:
        """Ends every worker and stops serving."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._queues.close()
        await self._invoker.close()
        await self._http.close()
        await self.fleet.close()
        await self._outside.stop()
        await self._inside.stop()
