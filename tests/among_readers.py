"""A service whose requests are all taken by processes that read (`serve --readers`): this process only writes."""

from __future__ import annotations

import asyncio
import io
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from tests.waiting import comes

from ninefold.cli.reader import Offer
from ninefold.cli.readers import Readers
from ninefold.plan.pickled import dumps
from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.access_log import Lines, lines
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.run import Stop, serve
from ninefold.runtime.http.switch import Switch
from ninefold.runtime.operator.metrics import Metrics
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.request.service import ready
from ninefold.runtime.store import page
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Refused, Store


class Among:
    """Readers that go from one service to the next without being begun anew."""

    def __init__(self, number: int) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.listening.setblocking(False)
        self.log = io.StringIO()
        self._number = number
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._page = page.new(shared=True)
        self._switch = Switch()
        self._application: Application
        self._database: Store | None = None
        self._offer: Offer
        self.readers: Readers | None = None

    def _done(self, what: Callable[[], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what(), self._loop).result()

    def serve(self, plan: ServicePlan, path: Path | str, operator: Mapping[str, str], trace: bool) -> None:
        self._done(lambda: self._serve(plan, path, operator, trace))

    async def _serve(self, plan: ServicePlan, path: Path | str, operator: Mapping[str, str], trace: bool) -> None:
        if self.readers is None:
            await self._exchanged(plan, path, operator, trace)
            assert self._database is not None
            self.metrics = Metrics(self._database)
            self.readers = Readers(
                self._number,
                [self.listening],
                self._page,
                lambda: dumps(self._offer),
                lambda: self._application,
                self._switch,
                self.metrics,
                Lines(self.log, lines("text")),
            )
            self.readers.begin()
            return
        await self._application.ended()
        async with self.readers.paused() as others, self._switch.exchanging() as own:
            assert others and own
            await self._exchanged(plan, path, operator, trace)

    async def _exchanged(self, plan: ServicePlan, path: Path | str, operator: Mapping[str, str], trace: bool) -> None:
        self._leave()
        opened = open_database(str(path), plan, stated_rows(plan, Caller(operator)))
        assert not isinstance(opened, Refused), opened
        self._database = opened.database
        service = ready(plan, opened.database.key("cursors"), operator)
        if service.timers is not None:
            service.timers.told = self._page.is_due
            self._page.is_due(service.timers.due)
        self._switch.application = self._application = Application(service, opened.database)
        self._application.begin()
        cursors = opened.database.key("cursors")
        names, pem = (), (None, None, None)
        processes = self._number
        self._offer = Offer(plan, operator, names, str(path), cursors, False, (), "text", "line", trace, pem, processes)

    def _leave(self) -> None:
        if self._database is not None:
            self._application.close()
            self._database.close()
            self._database = None

    def processes(self) -> set[int]:
        assert self.readers is not None
        return {each.process.pid for each in self.readers._all}

    def answers(self, client: httpx.Client, path: str) -> bool:
        """Whether a request is answered well; a process that ends takes its connections with it."""
        try:
            return client.get(path).is_success
        except httpx.TransportError:
            return False

    def tell_once(self, path: str) -> None:
        """Have those that read serve another file, and those that are begun after them the one that is served."""

        async def tell(readers: Readers) -> None:
            good, readers.offer = readers.offer, lambda: dumps(replace(self._offer, path=path))
            async with readers.paused() as others:
                assert others
            readers.offer = good

        assert self.readers is not None
        asyncio.run_coroutine_threadsafe(tell(self.readers), self._loop).result()

    def end_while_another_is_begun(self) -> None:
        """Where what is served is exchanged, so that it is not told what it is to serve."""

        async def end(readers: Readers) -> None:
            before = self.processes()
            async with readers.paused():
                for each in readers._all:
                    each.process.kill()
                await comes(lambda: self.processes() - before)
                readers.end()

        assert self.readers is not None
        asyncio.run_coroutine_threadsafe(end(self.readers), self._loop).result()

    def close(self) -> None:
        async def ended() -> None:
            assert self.readers is not None
            await self.readers.ended()
            await self._application.ended()
            self._leave()

        self._done(ended)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.listening.close()

    @contextmanager
    def serving(
        self, plan: ServicePlan, path: Path | str, operator: Mapping[str, str], trace: bool = False
    ) -> Iterator[httpx.Client]:
        """Each request goes over a connection of its own, which any of the processes may take."""
        self.serve(plan, path, operator, trace)
        host, port = self.listening.getsockname()
        limits = httpx.Limits(max_keepalive_connections=0)
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=60, limits=limits) as client:
            yield client

    @contextmanager
    def beside(self) -> Iterator[httpx.Client]:
        """A client of the process that writes."""
        listening, stop = socket.create_server(("127.0.0.1", 0)), Stop()
        serving = asyncio.run_coroutine_threadsafe(serve(self._switch, [listening], stop=stop), self._loop)
        host, port = listening.getsockname()
        try:
            with httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as client:
                yield client
        finally:
            stop.request()
            serving.result()


@contextmanager
def among(number: int) -> Iterator[Among]:
    found = Among(number)
    try:
        yield found
    finally:
        found.close()
