"""What is done with much is done beside the other requests, whatever it is: one after another, and not for those
who have given up waiting."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import yaml
from tests.events.service import running

from ninefold.runtime.http import work
from ninefold.runtime.http.work import LITTLE_SECONDS, Beside, is_much
from ninefold.runtime.messages.schemas import Schemas
from ninefold.runtime.operations.flow import AT_ONCE
from ninefold.runtime.sources import Sources

CONTRACT = """purpose: Keeps texts.
resources:
  note:
    primary key: id
    fields:
      id:   {type: string, on create: uuid()}
      text: {type: string}
      list: {type: array, items: {type: string}}
    required: []
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /texts: {does: create note, body: [text, list], idempotency key: optional, responses: {201: {id: note.id}}}
  GET /texts/{note.id}: {does: read note, responses: {200: {made: uuid(), text: note.text}}}
  GET /texts:
    does: list note
    sort: [id]
    pages: {by: none}
    responses: {200: {made: uuid(), texts: page.items}}
authentication:
  schemes: none
  rows: all
  permissions: {all others: anyone}
events: none
errors: none
limits: {rates: none, timeout: none, body size: 1 MiB, idempotency keys kept: PT1H}
versioning: none
"""


class Threads:
    """Random bytes, and by which threads they were asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, count: int) -> bytes:
        self.names.append(threading.current_thread().name)
        return os.urandom(count)

    def beside(self) -> bool:
        """Whether one of those who asked since the last time was beside the event loop."""
        names, self.names = self.names, []
        return any(name.startswith("ninefold-beside") for name in names)


DEAR = """
resources:
  types: {numbers: {type: object, properties: {numbers: {type: array, items: {type: integer}}}}}
  note: {fields: {list: {type: array, items: {type: object, anyOf: [%s]}}}}
endpoints:
  POST /texts: {does: create note, body: [text, list], responses: {201: {made: uuid(), id: note.id}}}
  POST /numbers:
    does: compute
    body: {$ref: "#/types/numbers"}
    responses:
      200: {made: uuid(), next: "request.body.numbers.exists(n, request.body.numbers.exists(m, m == n + 1))"}
  GET /multiples:
    does: list note
    query: {of: {type: array, items: {type: number, multipleOf: 0.01}, explode: false}}
    sort: [id]
    pages: {by: none}
    responses: {200: {made: uuid(), texts: page.items}}
"""


def dear() -> str:
    """The contract with what takes long for the little that a request gives."""
    contract = yaml.safe_load(CONTRACT)
    more = yaml.safe_load(DEAR % ", ".join(f"{{required: [a{number}]}}" for number in range(400)))
    contract["resources"]["types"] = more["resources"]["types"]
    contract["resources"]["note"]["fields"] |= more["resources"]["note"]["fields"]
    contract["endpoints"] |= more["endpoints"]
    return yaml.safe_dump(contract, sort_keys=False)


ASKED: dict[str, Callable[[httpx.Client, int], httpx.Response]] = {
    "by a schema": lambda http, many: http.post("/texts", json={"list": [{"a399": 1}] * many}),
    "by a macro in another": lambda http, many: http.post("/numbers", json={"numbers": [1] * many}),
    "by a parameter": lambda http, many: http.get("/multiples", params={"of": ",".join(["1e300"] * 2 * many)}),
}


@pytest.mark.serves
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_what_takes_long_for_its_length_is_done_beside_the_others(
    tmp_path: Path, ask: Callable[[httpx.Client, int], httpx.Response]
) -> None:
    threads = Threads()
    with running(tmp_path / "a.db", dear(), Sources(random_bytes=threads), name="a.yaml") as service:
        for many in (190, 2, 190, 2):
            assert ask(service.http, many).is_success
            assert {name.startswith("ninefold-beside") for name in threads.names} == {many > 2}
            threads.names.clear()


@pytest.mark.serves
def test_a_step_with_much_is_taken_beside_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A quick machine has read all of it in less, and does not look at it.
    monkeypatch.setattr(work, "LITTLE_SECONDS", 0.0)
    threads = Threads()
    with running(tmp_path / "a.db", CONTRACT, Sources(random_bytes=threads), name="a.yaml") as service:
        small = service.http.post("/texts", json={"text": "a"}).json()["id"]
        assert not threads.beside()
        for body in ({"text": "a" * 2 * AT_ONCE}, {"list": ["a"] * AT_ONCE}):
            large = service.http.post("/texts", json=body).json()["id"]
            assert threads.beside()
        large = service.http.post("/texts", json={"text": "a" * 50 * AT_ONCE}).json()["id"]
        threads.beside()
        assert service.http.get(f"/texts/{small}").json()["text"] == "a"
        assert not threads.beside()
        for path in (f"/texts/{large}", "/texts"):
            service.http.get(path)
            assert threads.beside()


def test_a_key_is_held_by_one_however_many_come_at_once(tmp_path: Path) -> None:
    with running(tmp_path / "a.db", CONTRACT, name="a.yaml") as service:
        body, statuses = {"text": "a" * 4 * AT_ONCE}, list[int]()

        def post() -> None:
            answer = service.http.post("/texts", json=body, headers={"Idempotency-Key": '"one"'})
            statuses.append(answer.status_code)

        posting = [threading.Thread(target=post) for _ in range(8)]
        for each in posting:
            each.start()
        for each in posting:
            each.join()
        assert 201 in statuses
        assert set(statuses) <= {201, 409}
        assert service.rows("SELECT count(*) FROM note") == [(1,)]


def test_who_has_given_up_waiting_is_not_worked_for() -> None:
    begun, may_go_on, done = threading.Event(), threading.Event(), list[str]()

    def first() -> str:
        begun.set()
        may_go_on.wait()
        done.append("first")
        return "first"

    async def both() -> None:
        beside, loop = Beside(), asyncio.get_running_loop()
        assert await beside.taken(lambda: "the thread is there", None)
        deadline = loop.time() + 1
        waiting = asyncio.create_task(beside.taken(first, deadline))
        await loop.run_in_executor(None, begun.wait)
        with pytest.raises(TimeoutError):
            await beside.taken(lambda: done.append("second"), loop.time() + 0.05)
        await asyncio.sleep(deadline - loop.time())
        may_go_on.set()
        # What has begun is done to its end, whatever time it takes.
        assert await waiting == "first"
        assert await beside.taken(lambda: "third", None) == "third"
        beside.close()

    asyncio.run(both())
    assert done == ["first"]


@pytest.mark.parametrize(
    "found, much",
    [
        (b"a" * AT_ONCE, False),
        (b"a" * (AT_ONCE + 1), True),
        ([("a" * AT_ONCE, 1)], False),
        ([("a" * AT_ONCE, 1), (None, "b")], True),
        ([(b"a" * AT_ONCE, "b")], True),
        ([(1,)] * AT_ONCE, False),
        (None, False),
        ([], False),
    ],
)
def test_what_is_much(found: object, much: bool) -> None:
    assert is_much(found, 1) == much
    assert is_much(found, LITTLE_SECONDS / 2) == (much and isinstance(found, bytes))


@pytest.mark.parametrize(
    "format, longest, text",
    [("idn-hostname", 253, lambda size: ("é" * 50 + "a" * size)[:size]), ("regex", 10_000, lambda size: "a" * size)],
)
def test_a_format_that_takes_long_has_a_bound(format: str, longest: int, text: Callable[[int], str]) -> None:
    is_valid = Schemas({"type": "array", "items": {"type": "string", "format": format}}).is_valid
    short = "é.example" if format == "idn-hostname" else "(a|b)*"
    assert is_valid([short] * 100)
    assert not is_valid([short, "a b(" if format == "regex" else "a b"])
    assert not is_valid([text(longest + 1)])
    if format == "regex":
        assert is_valid([text(longest)])
