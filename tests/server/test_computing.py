"""Passwords that wait to be verified: in turns by address, and no more of one than there is room for."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest
from tests.server.test_credentials import plan
from tests.serving import in_a_thread

from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import Capacity, client_address
from ninefold.runtime.http.work import MOST_COMPUTATIONS as THREADS
from ninefold.runtime.http.work import Computations
from ninefold.runtime.request.service import ready
from ninefold.runtime.store.protocol import Unavailable
from ninefold.runtime.store.sqlite import Opened, open_sqlite


def test_addresses_take_turns() -> None:
    held, order = threading.Event(), list[str]()

    def compute(name: str) -> None:
        held.wait(60)
        order.append(name)

    async def ask() -> None:
        computations = Computations(Capacity())
        first = [computations.begun(lambda: compute("one"), "192.0.2.1") for _ in range(THREADS + 8)]
        then = [computations.begun(lambda: compute("other"), "192.0.2.2") for _ in range(2)]
        held.set()
        await asyncio.gather(*first, *then)
        computations.close()

    asyncio.run(ask())
    # Those that had begun come to their end, and then it is one of each in turn.
    assert sorted(order[THREADS : THREADS + 4]) == ["one", "one", "other", "other"]


def test_what_nobody_waits_for_any_more_is_not_computed() -> None:
    held, order = threading.Event(), list[int]()

    def compute(number: int) -> int:
        held.wait(60)
        order.append(number)
        return number

    async def ask() -> None:
        capacity = Capacity(most_computations_of_one=THREADS + 2)
        computations = Computations(capacity)
        waiting = [computations.begun(lambda n=n: compute(n), "192.0.2.1") for n in range(THREADS + 2)]  # type: ignore[misc]
        with pytest.raises(Unavailable):
            computations.begun(lambda: compute(-1), "192.0.2.1")
        other = computations.begun(lambda: compute(-2), "192.0.2.2")
        waiting[THREADS].cancel()
        await asyncio.sleep(0)
        again = computations.begun(lambda: compute(-3), "192.0.2.1")
        held.set()
        assert await waiting[THREADS + 1] == THREADS + 1
        assert (await other, await again) == (-2, -3)
        await asyncio.gather(*waiting[:THREADS])
        computations.close()
        assert (capacity.computations, dict(capacity.computations_of)) == (0, {})

    asyncio.run(ask())
    assert THREADS not in order and len(order) == THREADS + 3


@pytest.mark.serves
@pytest.mark.usefixtures("hashes_that_cost")
def test_who_floods_is_told_so_and_others_sign_in(tmp_path: Path) -> None:
    opened = open_sqlite(str(tmp_path / "a.db"), plan().schema)
    assert isinstance(opened, Opened)
    # Behind a proxy that is trusted the address is the client's.
    application = Application(
        ready(plan(), opened.database.key("cursors")),
        opened.database,
        address=client_address([ip_network("127.0.0.0/8")]),
        capacity=Capacity(most_computations_of_one=4),
    )
    with closing(opened.database), in_a_thread(application) as (host, port):
        url = f"http://{host}:{port}"
        with httpx.Client(base_url=url, timeout=60) as http, ThreadPoolExecutor(8) as pool:
            http.post("/clubs", json={"name": "chess"})
            http.post("/clubs/chess/members", json={"name": "Ann", "password": "a secret"})

            def sign_in(http: httpx.Client, address: str, password: str) -> tuple[int, str | None]:
                body = {"name": "Ann", "password": password}
                answer = http.post("/clubs/chess/visits", json=body, headers={"X-Forwarded-For": address})
                return answer.status_code, answer.json().get("code")

            over = threading.Event()

            def flood(number: int) -> set[tuple[int, str | None]]:
                found = set()
                with httpx.Client(base_url=url, timeout=60) as http:
                    # Not as fast as can be: those who ask beside it are in the same process.
                    while not over.wait(0.1):
                        found.add(sign_in(http, "192.0.2.1", f"{number}"))
                return found

            floods = [pool.submit(flood, number) for number in range(8)]
            others = [sign_in(http, f"192.0.2.{number}", "a secret") for number in range(2, 6)]
            over.set()
            assert {(401, "refused"), (503, "busy")} <= set().union(*(each.result() for each in floods))
            # One name may be called so often; that is counted beside.
            assert others[0] == (201, None) and {*others} <= {(201, None), (429, "too_often")}
