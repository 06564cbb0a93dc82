"""A contract is changed while nodes serve the one before: what goes over running nodes becomes what it becomes where
nobody serves meanwhile, and at every moment of it the contract before is served, or both."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import pytest
from msgspec.structs import replace
from tests.postgresql import server
from tests.postgresql.test_upgrade import (
    beside,
    but_for_revisions,
    catalogue,
    cut_off,
    held,
    of_base,
    plan,
    served,
    upgraded,
)
from tests.slices import LONG, some
from tests.upgrade.test_a_strangers_way import is_served
from tests.upgrade.test_matrix import CHANGES, DATA, answered, databases, loaded, path
from tests.waiting import until

from ninefold.cli.going_over import BEFORE
from ninefold.runtime.background.brokers import BROKER
from ninefold.runtime.operator.audit import Audit, Kept
from ninefold.runtime.store import postgresql_running, postgresql_serving
from ninefold.runtime.store.changing import NotUpgraded, Over
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.postgresql_serving import OPTIONS
from ninefold.runtime.store.protocol import Conflicting, NoValue, Opened, Refused, Store, Unavailable
from ninefold.runtime.store.upgrading import come_to_its_end, go_over, take_back

__all__ = ["beside", "databases", "path"]

pytestmark = pytest.mark.serves

GOING = [name for name, change in CHANGES.items() if change["running"] is True]
SEVERAL = "several changes at once"


@contextmanager
def node(url: str, name: str, broker: str | None = None, pooled: bool = False, rates: bool = False) -> Iterator[Store]:
    of = plan(name, "postgresql")
    of = replace(of, schema=replace(of.schema, broker=broker))
    opening = open_database(url, of, judge=judge(name), counts_elsewhere=rates, pooled=pooled)
    assert isinstance(opening, Opened), (opening.message, opening.details)
    try:
        yield opening.database
    finally:
        opening.database.close()


def judge(name: str) -> Audit:
    return Audit(plan(name, "postgresql").stored, inf, Kept(loaded(name).source, lambda _: ()))


def expanded(url: str, name: str) -> Over:
    return go_over(url, plan(name, "postgresql"), answered(name), BEFORE)


def contracted(url: str, name: str) -> Over:
    return come_to_its_end(url, plan(name, "postgresql"), answered(name), judge(name), BEFORE)


def write(url: str) -> None:
    """Rows, as a node of the contract before writes them."""
    for each in DATA["rows"]:
        text = each.replace("randomblob(32)", "decode(md5(value::text) || md5(value::text || 'x'), 'hex')")
        text = re.sub(r"iif\(([^,]+), ([^,]+), ([^)]+)\)", r"CASE WHEN (\1) <> 0 THEN \2 ELSE \3 END", text)
        server.run(url, text.replace("FROM n", "FROM generate_series(101, 103) AS value"))


def all_there(was: dict[str, list[dict[str, Any]]], url: str) -> bool:
    """Whether each row is there with what it had."""
    now = held(url)
    return all(any(row.items() <= each.items() for each in now[table]) for table, rows in was.items() for row in rows)


def files(url: str) -> dict[str, int]:
    """In which file the rows of each table are."""
    tables = "SELECT relname, relfilenode FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    return {str(name): file for name, file in server.run(url, tables)}


@pytest.mark.long
@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("name", GOING if LONG else [SEVERAL])
def test_it_becomes_what_it_becomes_where_nobody_serves(name: str, beside: str, rows: int) -> None:
    other = of_base(rows)
    for url in (beside, other):
        assert is_served(url, "")
    first, written = held(beside), files(beside)
    with pytest.raises(NotUpgraded, match="nobody serves"):
        expanded(beside, name)
    with node(beside, ""):
        assert not expanded(beside, name).refused and all_there(first, beside)
        assert written.items() <= files(beside).items(), "no table is written anew: others would wait for that"
        assert not expanded(beside, name).refused, "and again, which changes nothing"
        with node(beside, name), node(beside, ""):
            write(beside)
            with pytest.raises(NotUpgraded, match="is served"):
                contracted(beside, name)
            with pytest.raises(NotUpgraded, match="is served"):
                take_back(beside)
        assert served(beside, "a state renamed") is not None, "a third contract"
        server.run(beside, 'INSERT INTO "$process" SELECT 1, serves, 0 FROM "$process"')  # one that was killed
    with node(beside, name):
        with pytest.raises(NotUpgraded, match="may come back"):
            contracted(beside, name)
        server.run(beside, 'UPDATE "$process" SET gone = now() WHERE process = 1')
        contracted(beside, name)
        over = open_database(beside, plan("", "postgresql"))
        assert isinstance(over, Refused) and "where that one is the newer one, serve it here as well" in over.help
    write(other)
    assert upgraded(other, name).goes
    assert but_for_revisions(held(beside)) == but_for_revisions(held(other)) and catalogue(beside) == catalogue(other)
    assert served(beside, name) is None


@pytest.mark.long
@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("options", [{"pooled": True, "broker": BROKER}, {"broker": BROKER, "rates": True}][: 1 + LONG])
def test_nodes_go_over_with_the_options_that_they_have(beside: str, options: dict[str, Any], rows: int) -> None:
    assert is_served(beside, "")
    other = {**options, "broker": None}
    with node(beside, "", **options):
        assert not expanded(beside, SEVERAL).refused
        with node(beside, "", **options), node(beside, SEVERAL, **options) as new:
            write(beside)
            with pytest.raises(AssertionError, match=re.escape(OPTIONS)), node(beside, SEVERAL, **other):
                pass
            with pytest.raises(NotUpgraded, match="is served"):
                contracted(beside, SEVERAL)
    with node(beside, SEVERAL, **options) as new:
        contracted(beside, SEVERAL)
        # As after a crash of PostgreSQL: who held what is there no more is still one of those who may serve.
        server.run(beside, *['TRUNCATE "$node"'] * options.get("pooled", False))
        until(lambda: has_written(new))


def has_written(database: Store) -> bool:
    try:
        asked(database, "UPDATE room SET size = 77")
    except Unavailable:
        return False
    return True


HELD = {
    "required → optional": ("UPDATE room SET title = NULL", NoValue),
    "unique no more": ("UPDATE member SET email = 'same'", Conflicting),
    "a schema widened": ("UPDATE room SET wing = 'north'", None),
    "a state more": ("UPDATE booking SET status = 'later'", None),
}


def asked(database: Store, text: str) -> None:
    async def work() -> None:
        await database.transact(lambda session: session.run(text, ()))

    asyncio.run(work())


@pytest.mark.long
@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("name", some([*HELD], 2))
def test_what_the_contract_before_does_not_know_is_unavailable(name: str, beside: str, rows: int) -> None:
    """To nodes of the new contract, until nobody serves the one before."""
    text, said = HELD[name]
    assert is_served(beside, "")
    first = held(beside)
    with node(beside, "") as old:
        expanded(beside, name)
        with node(beside, name) as new, pytest.raises(Unavailable, match="do not know of it yet"):
            asked(new, text)
        if said is not None:
            with pytest.raises(said):
                asked(old, text)
        assert held(beside) == first
        take_back(beside)
        expanded(beside, name)
    with node(beside, name) as new:
        contracted(beside, name)
        asked(new, text)
    assert held(beside) != first


@pytest.mark.parametrize("rows", [3])
def test_who_lost_the_connection_does_not_write_for_another_contract(
    beside: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_served(beside, "")
    monkeypatch.setattr(postgresql_serving, "RETURN_SECONDS", 0.0)  # it has been lost for long
    ended = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with node(beside, "") as old:

        def is_upgraded() -> bool:
            server.run(beside, ended)
            try:
                return upgraded(beside, "a field gone").made
            except NotUpgraded:
                return False  # it has its connection again

        until(is_upgraded)
        first = held(beside)
        with pytest.raises(Unavailable):
            asked(old, "UPDATE room SET size = 77")
        assert held(beside) == first


@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("begun", [False, True])
def test_it_is_taken_back(beside: str, begun: bool, rows: int) -> None:
    assert is_served(beside, "")
    first, made = held(beside), catalogue(beside)
    with node(beside, ""):
        expanded(beside, SEVERAL)
        if begun:
            with node(beside, SEVERAL):
                server.run(beside, "UPDATE room SET owner = 1, floor = 7", "INSERT INTO shelf VALUES ('s', 'r1', 'r')")
        aside = dict(take_back(beside).aside)
        assert aside == ({"room.floor": 3, "room.owner": 3, "room.far": 3, "shelf": 1} if begun else {})
        assert all_there(first, beside)
        assert begun or (held(beside), catalogue(beside)) == (first, made)
        assert not expanded(beside, "a field gone").refused, "another one"
        take_back(beside)


@pytest.mark.long
@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("at", range(1, 110) if LONG else [30, 58])
def test_cut_off_both_are_served_or_the_one_before(
    beside: str, at: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some of its statements the connection ends, as where a process is killed; asked for again, it goes on."""
    assert is_served(beside, "")
    other, first, asking = of_base(rows), held(beside), cut_off(at)

    def done(stage: Callable[[str, str], Over]) -> bool:
        """Whether it came to its end before it was cut off."""
        with monkeypatch.context() as patched:
            patched.setattr(postgresql_running, "asking", asking)
            try:
                stage(beside, SEVERAL)
            except NotUpgraded:
                return False
        return True

    with node(beside, ""):
        done(expanded)
        assert all_there(first, beside)
    with node(beside, ""):
        expanded(beside, SEVERAL)
    is_between = "SELECT 1 FROM \"$ninefold\" WHERE name = 'between'"
    if not done(contracted) and server.run(beside, is_between):
        assert served(beside, "") is None, "it goes on as long as nobody came to the end"
        contracted(beside, SEVERAL)
    assert upgraded(other, SEVERAL).goes
    assert but_for_revisions(held(beside)) == but_for_revisions(held(other)) and catalogue(beside) == catalogue(other)
