"""The options of `serve` that all nodes have alike: any of them go together over PostgreSQL, none goes with SQLite."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import fields
from inspect import signature
from itertools import combinations
from pathlib import Path

import httpx
import pytest
from tests.cli.test_serving import Refused, refused
from tests.events.broker import broker
from tests.events.kafka import kafka
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, hall, nodes, person
from tests.postgresql.test_pooled import pooled
from tests.postgresql.test_replica import Pair, pair
from tests.postgresql.valkey_server import valkey
from tests.slices import LONG
from tests.waiting import until

from ninefold.cli.serve import serve
from ninefold.runtime.store.postgresql_serving import OPTIONS, Alike

__all__ = ("pair", "refused")

pytestmark = pytest.mark.serves

ALIKE = [each.name for each in fields(Alike)]
NAMES = ["broker", *ALIKE]
SETS = [each for count in range(1, len(NAMES)) for each in combinations(NAMES, count)]
OF_KAFKA = [("kafka", *each) for count in range(len(NAMES)) for each in combinations(ALIKE, count)]
"""The same where the broker is Kafka."""


def test_they_are_options_of_serve() -> None:
    assert set(NAMES) <= signature(serve).parameters.keys()
    assert ", ".join(f"--{each}" for each in NAMES) == OPTIONS
    page = (Path(__file__).parents[2] / "docs/postgresql.md").read_text(encoding="utf-8")
    [told] = [line for line in page.splitlines() if line.startswith("| of all nodes or of none: ")]
    assert [f"`--{each}`" for each in NAMES] == told.split("|")[1].split(": ")[1].strip().split(", ")


@pytest.mark.long
@pytest.mark.parametrize("given", [tuple(NAMES), *([*SETS, *OF_KAFKA] if LONG else [])], ids="+".join)
def test_any_of_them_go_together(pair: Pair, given: tuple[str, ...], tmp_path: Path) -> None:
    """A node serves with them, and each does what it is for. The URL names a server first that is not there."""
    url, replica = pair.database()
    options = list[str]()
    with ExitStack() as stack:
        if "pooled" in given:
            url = stack.enter_context(pooled("pooler", url))
            options += ["--pooled"]
        else:
            url = url.replace("?host=", "?port=1,5432&host=127.0.0.1,")
        if "replica" in given:
            options += ["--replica", replica]
        if "rates" in given:
            options += ["--rates", stack.enter_context(valkey(tmp_path / "valkey")).url]
        if "broker" in given:
            sent = stack.enter_context(broker(tmp_path / "nats"))
            sent.keep("seat.>")
            options += ["--broker", sent.address]
        if "kafka" in given:
            log = stack.enter_context(kafka(tmp_path / "kafka"))
            log.make()
            options += ["--broker", log.address]
        [node] = stack.enter_context(nodes(url, 1, *options))
        who = person(node.client)
        body = {"hall": hall(node.client, 2), "name": "first"}
        assert node.client.post("/seats", json=body, headers=who).status_code == 201
        pair.follow()
        assert len(node.client.get("/seats", headers=who).json()["data"]) == 1
        assert [node.client.get("/limited").status_code for _ in range(21)] == [200] * 20 + [429]
        counted = server.run(pair.primary.url.replace("/postgres?", f"/{_name(url)}?"), 'SELECT count(*) FROM "$state"')
        assert (counted == [(0,)]) == ("rates" in given)
        if "replica" in given:
            until(lambda: _read_by_replica(node.operator, node.client, who))
        if "broker" in given:
            assert sent.until(1)[0].subject == "seat.made"
        if "kafka" in given:
            assert log.until(1)[0].headers["type"] == "seat.made"


def _name(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


def _read_by_replica(operator: str, client: httpx.Client, who: dict[str, str]) -> bool:
    assert client.get("/seats", headers=who).status_code == 200
    lines = httpx.get(f"{operator}/metrics").text.splitlines()
    return not any(each == 'ninefold_replica_reads_total{by="replica"} 0.0' for each in lines)


@pytest.mark.parametrize("name", ALIKE)
def test_none_goes_with_sqlite(name: str, refused: Refused) -> None:
    value = [] if name == "pooled" else ["valkey://127.0.0.1:1" if name == "rates" else "postgresql://127.0.0.1:1/x"]
    assert f"--{name}: for PostgreSQL alone" in refused(f"--{name}", *value, document=CONTRACT)
