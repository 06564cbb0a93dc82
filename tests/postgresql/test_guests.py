"""What an operator does beside nodes that serve: look at rows, add some, ask what happened, send again."""

from __future__ import annotations

import json

import pytest
from tests.events.receiver import Answer, receiving
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, delivered, hall, nodes, person
from tests.waiting import until

from ninefold.cli import main

pytestmark = pytest.mark.serves


def test_beside_nodes_that_serve(capsys: pytest.CaptureFixture[str]) -> None:
    url = server.database()

    def told(*arguments: str) -> str:
        assert main([arguments[0], str(CONTRACT), *arguments[1:], "--database", url]) == 0
        return capsys.readouterr().out

    assert main(["rows", str(CONTRACT), "hall", "--database", url]) == 2, "nothing is there yet"
    told("add", "hall", "most=7")
    with receiving(lambda number: Answer(410 if number == 0 else 204)) as receiver, nodes(url, 1) as [node]:
        who, where = person(node.client), hall(node.client, 10)
        subscribed = node.client.post("/webhooks", json={"url": receiver.url, "kinds": ["seat.made"]}, headers=who)
        made = node.client.post("/seats", json={"hall": where, "name": "a"}, headers=who).json()
        rows = [json.loads(line) for line in told("rows", "hall", "--format", "json").splitlines()]
        assert [(each["id"], each["most"]) for each in rows] == [(1, 7), (2, 10)]
        told("add", "hall", "most=3")
        assert "seat.made" in told("events", "list")
        receiver.until(1)
        dead = until(lambda: found if "410" in (found := told("events", "dead")) else None)
        assert str(subscribed.json()["id"]) in dead
        told("events", "replay", "--event", "1", "--subscription", str(subscribed.json()["id"]))
        delivered(receiver, {made["id"]})
        assert node.client.post("/seats", json={"hall": 3, "name": "b"}, headers=who).status_code == 201, "it is there"
        delivered(receiver, {made["id"], made["id"] + 1})
        assert told("events", "rotate", "--subscription", str(subscribed.json()["id"])).startswith("whsec_")
