"""Nobody looks for garbage among the parts of a large document, whatever it is made of and whoever has it: that is one
piece of work, in which no thread has a turn."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.waiting import PATIENCE, comes

import ninefold
from ninefold.runtime.http import garbage
from ninefold.runtime.http.garbage import MANY
from ninefold.runtime.http.work import Beside

CONTRACT = """purpose: Keeps anything.
resources:
  thing:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      free:  {type: object}
      lists: {type: array, items: {type: array}}
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /things: {does: create thing, body: [free, lists], responses: {201: {id: thing.id}}}
states: none
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: none
limits: {rates: none, timeout: none, body size: 1 MiB}
versioning: none
"""

DOCUMENTS = {
    "arrays in arrays": ('{"free": {"a": [', "[" * 100 + "]" * 100, 2_500, "]}}"),
    "objects that are refused": ('{"free": {"a": [', '{"":{}}', 120_000, ']}, "b": 1}'),
}
"""What stands before an item, the item, how often it comes, and what stands behind."""


@contextmanager
def looked_through() -> Iterator[list[int]]:
    """How many objects had come, each time that somebody looked for garbage."""
    counts: list[int] = []

    def look(phase: str, _info: object) -> None:
        if phase == "start":
            counts.append(gc.get_count()[0])

    gc.callbacks.append(look)
    try:
        yield counts
    finally:
        gc.callbacks.remove(look)


def _many() -> list[list[int]]:
    return [[] for _ in range(3 * MANY)]


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_nobody_looks_through_a_document_of_a_request(
    document: tuple[str, str, int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "LONGEST_SECONDS", PATIENCE)
    before, item, times, behind = document
    asyncio.run(_sent(before + ",".join([item] * times) + behind, tmp_path))


async def _sent(document: str, tmp_path: Path) -> None:
    (tmp_path / "things.yaml").write_text(CONTRACT, encoding="utf-8")
    application = ninefold.application(tmp_path / "things.yaml", database=str(tmp_path / "things.db"))
    headers = {"content-type": "application/json"}
    async with (
        application.lifespan(),
        httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://x") as client,
    ):
        with looked_through() as counts:
            made = await client.post("/things", content=document, headers=headers)
        assert made.status_code in (201, 422)
        assert max(counts, default=0) < 2 * MANY
        await comes(gc.isenabled)


def test_it_is_looked_for_again_once_the_document_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "LONGEST_SECONDS", PATIENCE)
    asyncio.run(_it_is_looked_for_again_once_the_document_is_gone())


async def _it_is_looked_for_again_once_the_document_is_gone() -> None:
    beside = Beside()
    document = await beside.taken(_many, None)
    with looked_through() as counts:
        kept = [[each] for each in range(20_000)]
    assert not gc.isenabled()
    assert not counts
    del document, kept
    await comes(gc.isenabled)
    beside.close()


def test_what_stays_is_looked_through_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "LONGEST_SECONDS", 0.1)
    asyncio.run(_stays())


async def _stays() -> None:
    beside = Beside()
    document = await beside.taken(_many, None)
    await comes(gc.isenabled)
    assert len(document) == 3 * MANY
    beside.close()


def test_what_ends_looks_for_it_again_at_once() -> None:
    asyncio.run(_what_ends_looks_for_it_again_at_once())


async def _what_ends_looks_for_it_again_at_once() -> None:
    beside = Beside()
    document = await beside.taken(_many, None)
    beside.close()
    assert gc.isenabled()
    assert len(document) == 3 * MANY
