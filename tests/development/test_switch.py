"""An application that is exchanged under requests that are on their way."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from ninefold.runtime.http import switch as module
from ninefold.runtime.http.cycle import Asgi, Message, Receive, Send
from ninefold.runtime.http.switch import Switch

SCOPE = {"type": "http"}


def answering(status: int, until: asyncio.Event | None = None) -> Asgi:
    async def application(scope: Message, receive: Receive, send: Send) -> None:
        if until is not None:
            await until.wait()
        await send({"type": "http.response.start", "status": status})

    return application


async def asked(switch: Switch) -> int:
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await switch(dict(SCOPE), receive, send)
    return int(sent[0]["status"])


async def turns() -> None:
    """As many turns of the loop as it takes to come to where one waits."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_nothing_is_served_yet() -> None:
    assert asyncio.run(asked(Switch())) == 503


def test_what_is_in_flight_ends_and_what_comes_waits() -> None:
    async def exchange() -> list[int]:
        switch, until = Switch(), asyncio.Event()
        switch.application = answering(200, until)
        in_flight = asyncio.create_task(asked(switch))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, until.set)
        async with switch.exchanging():
            assert in_flight.done()
            waiting = asyncio.create_task(asked(switch))
            await turns()
            assert not waiting.done()
            switch.application = answering(201)
        return [await in_flight, await waiting]

    assert asyncio.run(exchange()) == [200, 201]


def test_who_waited_for_an_exchange_waits_for_the_next_as_well() -> None:
    async def exchange() -> int:
        switch = Switch()
        async with switch.exchanging():
            waiting = asyncio.create_task(asked(switch))
            await turns()
        async with switch.exchanging():
            await turns()
            assert not waiting.done()
            switch.application = answering(201)
        return await waiting

    assert asyncio.run(exchange()) == 201


def test_a_request_that_never_ends_does_not_hold_up_a_save() -> None:
    async def exchange() -> int:
        switch = Switch()
        switch.application = answering(200, asyncio.Event())
        stuck = asyncio.create_task(asked(switch))
        await asyncio.sleep(0)
        async with switch.exchanging():
            switch.application = answering(201)
        stuck.cancel()
        return await asked(switch)

    before, module.PATIENCE = module.PATIENCE, 0.05
    try:
        assert asyncio.run(exchange()) == 201
    finally:
        module.PATIENCE = before
