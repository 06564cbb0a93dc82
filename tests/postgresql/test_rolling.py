"""Nodes of a contract are replaced one by one by nodes of the next, under load: real processes, and the command as it
is typed."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.events.receiver import receiving
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, Load, Node, hall, judge, nodes, person
from tests.postgresql.test_pooled import pooled
from tests.slices import LONG
from tests.waiting import until

KILLS = 3

pytestmark = [pytest.mark.serves, pytest.mark.long]

EDITS = [
    ("    most: {type: integer}\n", "    most: {type: integer}\n    name: {type: string}\n"),
    (
        "    name:   {type: string, unique: true}\n",
        """\
    name:   {type: string, unique: true}
    mark:   {type: string, on create: uuid()}
    made:   {type: string, format: date-time, on create: now}
    weight: {type: number, on create: 1.5}
    kind:   {type: string, on create: '"it''s"'}
""",
    ),
    ("  required: [hall, name]\n", "  required: [hall, name, mark, made, weight, kind]\n"),
    (
        "person:\n  primary key: name\n",
        "shelf:\n  primary key: id\n  fields:\n    id:   {type: integer, on create: serial()}\n"
        "    hall: {references: hall, on delete: cascade}\n  required: [hall]\nperson:\n  primary key: name\n",
    ),
    ("states: [held, kept, lapsed]", "states: [held, kept, lapsed, burnt]"),
    ("    keep:  {from", "    burn:  {from: [held, lapsed], to: burnt}\n    keep:  {from"),
    ("person: none\nhall: none\n", "person: none\nhall: none\nshelf: none\n"),
    (
        "GET /limited:          {does",
        "POST /seats/{id}/burn: {does: burn seat, body: none, responses: {200: seat}}\n"
        "POST /shelves: {does: create shelf, body: [hall], responses: {201: {id: shelf.id}}}\nGET /limited: {does",
    ),
]


def changed(where: Path) -> Path:
    text = CONTRACT.read_text(encoding="utf-8")
    for old, new in EDITS:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    where.mkdir()
    (where / CONTRACT.name).write_text(text, encoding="utf-8")
    return where / CONTRACT.name


def typed(contract: Path, url: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "ninefold", "upgrade", str(contract), "--database", url, *options]


def upgrade(contract: Path, url: str, *options: str) -> tuple[int, str]:
    done = subprocess.run(typed(contract, url, *options), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@contextmanager
def directly(_: str, url: str) -> Iterator[str]:
    yield url


@pytest.mark.parametrize(("by", "options"), [(directly, ()), (pooled, ("--pooled",))][: 1 + LONG])
def test_nodes_are_replaced_one_by_one_under_load(by: Any, options: Sequence[str], tmp_path: Path) -> None:
    """What was answered is there, by whichever node, and has what the new contract says that each row has."""
    new, url = changed(tmp_path / "new"), server.database()
    with (
        receiving() as receiver,
        by("pooler", url) as behind,
        nodes(behind, 2, *options) as old,
        ExitStack() as stack,
    ):
        who, where = person(old[0].client), hall(old[0].client, 100_000)
        subscribed = old[0].client.post("/webhooks", json={"url": receiver.url, "kinds": ["seat.made"]}, headers=who)
        assert subscribed.status_code == 201
        load = Load([*old], who, where)

        def one_more() -> Node:
            [node] = stack.enter_context(nodes(behind, 1, *options, contract=new))
            load.among.append(node)
            load.until_more(20)
            return node

        def one_less(node: Node) -> None:
            load.among.remove(node)
            node.kill()

        with load.going(4):
            load.until_more(20)
            assert " --expand\n" in upgraded(new, url, 2)
            for _ in range(KILLS):
                killed(new, url)
                load.until_more(5)
            said = upgraded(new, url, 0, "--expand")
            assert "field `seat.mark`" in said and "waits       what this contract allows of `seat.status`" in said
            assert "2 nodes of it serve" in upgraded(new, url, 2, "--contract")
            node = one_more()
            burn = f"/seats/{load.answered[0][0]}/burn"
            assert node.client.post(burn, headers=who).status_code == 503, "no node of the contract before knows it"
            assert "1 node of it serves" in upgraded(new, url, 2, "--undo")
            one_less(old[0])
            node = one_more()
            one_less(old[1])
            # What was killed may hold its lock until PostgreSQL has noticed.
            until(lambda: upgrade(new, url, "--contract")[0] == 0)
            assert node.client.post(burn, headers=who).json()["status"] == "burnt"
            load.until_more(20)
            one_more()
        judge(url, load, receiver)
        rows = server.run(url, "SELECT count(*), count(DISTINCT mark), min(weight), max(kind), min(made) FROM seat")
        assert tuple(rows[0])[:4] == (len(load.answered), len(load.answered), 1.5, "it's") and rows[0][4].endswith("Z")
        assert node.client.post("/shelves", json={"hall": where}, headers=who).status_code == 201


def upgraded(contract: Path, url: str, status: int, *options: str) -> str:
    found, said = upgrade(contract, url, *options)
    assert found == status, said
    return said.strip()


def killed(contract: Path, url: str) -> None:
    process = subprocess.Popen(typed(contract, url, "--expand"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(random.uniform(0.3, 1.5))
    process.kill()
    process.wait()
