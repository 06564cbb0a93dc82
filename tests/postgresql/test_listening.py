"""Streams over several nodes, each a process of its own: who listens at one is told what is written at any, once and in
its order, goes on at another where that one is killed, and is told what it may see now, wherever that was changed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from tests.events.stream import Event, listening, over
from tests.events.test_standing import CONTRACT as STANDING
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, Load, Node, hall, nodes, numbers, person
from tests.postgresql.test_nodes import CUT
from tests.waiting import until
from websockets.exceptions import WebSocketException

pytestmark = [pytest.mark.serves, pytest.mark.slow]
__all__ = ["over"]


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    """That of the seats, whose stream is had in both ways."""
    found = tmp_path / "contract.md"
    one, both = "stream: server-sent events", "stream: [server-sent events, websocket]"
    text = CONTRACT.read_text(encoding="utf-8")
    assert one in text
    found.write_text(text.replace(one, both), encoding="utf-8")
    return found


@pytest.mark.usefixtures("over")
def test_who_listened_at_a_node_that_is_killed_goes_on_at_another(contract: Path) -> None:
    """Rows are made at both, and lapse by themselves: of all that is told once, and in the order of the log."""
    url, seen = server.database(), list[Event]()

    def follow(node: Node, most: float) -> None:
        try:
            with listening(node.client, load.who, seen[-1].id if seen else 0) as stream:
                while len(seen) < most:
                    seen.extend(stream.take(1))
        except (httpx.TransportError, StopIteration, WebSocketException, OSError):
            pass  # it was killed

    with nodes(url, 2, contract=contract) as both, ThreadPoolExecutor(1) as thread:
        first, other = both
        load = Load(both, person(first.client), hall(first.client, 10_000))
        with load.going(4):
            listened = thread.submit(follow, first, float("inf"))
            until(lambda: len(seen) > 20)
            first.kill()
            listened.result()
            told = len(seen)
            thread.submit(follow, other, told + 40).result()
        until(lambda: server.run(url, "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM seat WHERE status = 'held')"))
        log = [id for (id,) in server.run(url, 'SELECT id FROM "$event" ORDER BY seq')]
        thread.submit(follow, other, len(log)).result()
    assert [each.data["id"] for each in seen] == log
    assert len(load.answered) * 2 == len(log) and told < len(log)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contract in which nothing falls due: what a node does by itself it hears of."""
    found = tmp_path_factory.mktemp("notes") / "notes.yaml"
    found.write_text(STANDING, encoding="utf-8")
    return found


@pytest.mark.parametrize("how", ["told", "looks"])
def test_what_another_node_writes_is_heard_of_and_where_nobody_says_it_it_is_looked_for(notes: Path, how: str) -> None:
    url = server.database()
    with ExitStack() as stack:
        (writes,) = stack.enter_context(nodes(url, 1, contract=notes))
        hears = Node(url, contract=notes, program=("tests.postgresql.hearing", how)).begun()
        stack.callback(hears.close)
        _, key = somebody(writes)
        if how == "looks":
            server.run(url, CUT)
            until(lambda: hears.client.get("/events", headers={**key, "Last-Event-ID": "?"}).status_code == 422)
        told = stack.enter_context(listening(hears.client, key))
        for club in ("go", "chess", "bridge"):
            hears.until_said("waits")
            until(lambda club=club: writes.client.post("/notes", json={"owner": "bob", "club": club}).is_success)  # type: ignore[misc]
            assert told.take(1)[0].data == {"owner": "bob", "club": club}


def somebody(node: Node, name: str = "ann") -> tuple[int, dict[str, str]]:
    """Of the desk, which sees all: the number, and how a request says who it is."""
    made = node.client.post("/people", json={"name": name, "role": "desk", "password": f"{name} has a secret"}).json()
    return made["id"], {"Authorization": f"Bearer {made['secret']}"}


@pytest.fixture(scope="module")
def both(notes: Path) -> Iterator[list[Node]]:
    with nodes(server.database(), 2, contract=notes) as found:
        yield found


@pytest.mark.usefixtures("over")
def test_who_listens_is_told_what_it_may_see_now_whichever_node_changed_that(both: list[Node]) -> None:
    one, other = both
    name = f"ann {next(numbers)}"

    def note(node: Node, owner: str, club: str = "go") -> None:
        assert node.client.post("/notes", json={"owner": owner, "club": club}).status_code == 201

    with ExitStack() as stack:
        ann, key = somebody(one, name)
        signs_in = other.client.post("/sessions", json={"name": name, "password": f"{name} has a secret"})
        badge = {"X-Badge": signs_in.json()["badge"]}
        streams = [stack.enter_context(listening(each.client, key)) for each in both]
        desk = stack.enter_context(listening(other.client, badge, path="/staff-events"))
        signs_out = stack.enter_context(listening(one.client, badge))
        note(one, "bob")
        for each in (*streams, desk, signs_out):
            assert each.take(1)[0].data == {"owner": "bob", "club": "go"}
        assert one.client.patch(f"/people/{ann}", json={"role": "guest"}).status_code == 204
        assert desk.rest() == [], "she is of the desk no more"
        note(other, "bob")
        assert other.client.post("/members", json={"club": "chess", "person": ann}).status_code == 201
        note(one, "bob", "chess")
        for each in streams:
            assert each.take(1)[0].data == {"owner": "bob", "club": "chess"}
        assert other.client.delete(f"/members/chess/{ann}").status_code == 204
        note(other, "bob", "chess")
        note(other, name)
        for each in streams:
            assert each.take(1)[0].data == {"owner": name, "club": "go"}
        assert other.client.post("/out", headers=badge).status_code == 204
        note(other, name, "last")
        assert "last" not in "".join(signs_out.rest())
