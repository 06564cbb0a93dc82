"""Nodes that take their contract anew: all of them go over together, or each goes on with the one before."""

from __future__ import annotations

import operator
import re
import signal
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Final

import httpx
import pytest
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, Node, nodes
from tests.waiting import PATIENCE, until

from ninefold.pipeline import compile_document
from ninefold.runtime.store.postgresql_serving import SERVED, SETTLING_SECONDS, Alike, number_of

pytestmark = [pytest.mark.serves, pytest.mark.slow]

BEFORE: Final = CONTRACT.read_text(encoding="utf-8")
AFTER: Final = BEFORE.replace("no_path:", "nowhere:")


def number(text: str, document: str = "contract.md") -> int:
    plan = compile_document(document, text.encode()).plan_for("postgresql")
    assert plan is not None
    return number_of(plan, Alike())


def test_a_document_is_the_contract_that_it_holds_whatever_it_is_called() -> None:
    assert number(BEFORE, "seats.v2.md") == number(BEFORE) != number(AFTER)


GONE: Final = "DO $$ BEGIN WHILE EXISTS ({}) LOOP NULL; END LOOP; END $$"
"""Until there is no such row of what PostgreSQL tells of itself."""

HOLD: Final = f"SELECT pg_advisory_lock_shared({SERVED}, {{}})"


@pytest.fixture
def document(tmp_path: Path) -> Path:
    found = tmp_path / "contract.md"
    found.write_text(BEFORE, encoding="utf-8")
    return found


def hang_up(*among: Node) -> None:
    for each in among:
        each.process.send_signal(signal.SIGHUP)


def times_told(node: Node) -> float:
    """How often it has read a contract anew, whatever became of it."""
    metrics = httpx.get(f"{node.operator}/metrics").text
    return sum(map(float, re.findall(r"^ninefold_contracts_read_anew_total\{.*\} (.*)$", metrics, re.MULTILINE)))


def code(node: Node) -> str:
    found: str = node.client.get("/no-such-path").json()["code"]
    return found


def test_nodes_go_over_together_and_one_that_is_told_alone_goes_on(
    document: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with nodes(server.database(), 2, contract=document) as both:
        document.write_text(AFTER, encoding="utf-8")
        hang_up(both[0])
        until(lambda: times_told(both[0]) == 1)
        assert [code(each) for each in both] == ["no_path", "no_path"]
        while [code(each) for each in both] != ["nowhere", "nowhere"]:
            # On a busy machine one may have given up before the other has read it.
            told = [*map(times_told, both)]
            hang_up(*both)
            until(lambda told=told: all(map(operator.gt, map(times_told, both), told)))  # type: ignore[misc]
    said = capfd.readouterr().err
    assert "of another contract" in said and "what was served goes on" in said
    assert "what is due could not be done" not in said, "it waits for its turn"


def test_a_node_that_gives_up_when_others_have_gone_over_goes_over_as_well(document: Path) -> None:
    """Connections that hold what other nodes would hold: one of a third contract, until the node has given up the one
    that it was told of and comes back to the one before, and then one of the one that it was told of."""
    url = server.database()
    seen = f"SELECT 1 FROM pg_locks WHERE objsubid = 2 AND classid = {SERVED}::oid AND objid = {number(BEFORE)}"
    with nodes(url, 1, contract=document) as (node,), closing(server.Asked(url)) as after:
        with closing(server.Asked(url)) as third:
            third.run(HOLD.format(1))
            document.write_text(AFTER, encoding="utf-8")
            hang_up(node)
            third.run(GONE.format(seen))  # for some milliseconds, which who looks now and then may miss
            sleep(SETTLING_SECONDS + 0.5)  # it has given up, and asks whether it can come back
            after.run(HOLD.format(number(AFTER)))
        node.until_said("served anew")
        assert code(node) == "nowhere"


def test_a_node_whose_database_others_have_taken_meanwhile_ends_and_not_as_if_it_was_told_to(document: Path) -> None:
    url = server.database()
    with nodes(url, 1, contract=document) as (node,), closing(server.Asked(url)) as third:
        third.run(HOLD.format(1))
        document.write_text(AFTER, encoding="utf-8")
        hang_up(node)
        assert node.process.wait(PATIENCE) == 2
