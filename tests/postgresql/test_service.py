"""Services over PostgreSQL: what a case asks is answered as from SQLite, and what is not there yet is said at start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace
from tests.contracts import EXAMPLES, ROOT, SERVED, compiled, contract_of
from tests.http_cases import serving
from tests.postgresql import server
from tests.slices import some
from tests.test_cases import exchanged
from tests.waiting import until

from ninefold.pipeline import compile_document
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import statements
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened, Refused
from ninefold.sql import events, idempotency
from ninefold.sql.postgresql import numbered
from ninefold.sql.postgresql_events import FORMS

ORDERS = ROOT / "examples" / "orders.md"


def planned(path: Path) -> ServicePlan:
    plan = compiled(path).plan_for("postgresql")
    assert plan is not None
    return plan


@pytest.mark.long
@pytest.mark.serves
@pytest.mark.parametrize("directory", some(SERVED, 20), ids=lambda path: path.name)
def test_the_service_answers_as_from_sqlite(directory: Path) -> None:
    answers(directory)


def answers(directory: Path, behind: Callable[[str], AbstractContextManager[str]] | None = None) -> None:
    """What is asked of a case is answered as it says. `behind`: puts a pooler before a database."""
    plan, url = planned(contract_of(directory)), server.database()

    def anew() -> None:
        """What all nodes count together stays where no process runs."""
        if server.run(url, "SELECT FROM pg_class WHERE relname = '$state'"):
            server.run(url, 'DELETE FROM "$state"')

    with nullcontext(url) if behind is None else behind(url) as database:
        assert exchanged(directory, plan, database, trace=False, anew=anew, pooled=behind is not None)


@pytest.fixture(scope="module")
def orders() -> Iterator[tuple[str, httpx.Client]]:
    url = server.database()
    with serving(planned(ORDERS), url, {}) as client:
        yield url, client


def signed_up(client: httpx.Client, name: str) -> dict[str, str]:
    made = client.post("/customers", json={"email": f"{name}@example.com", "name": name})
    assert made.status_code == 201, made.text
    return {"Authorization": f"bearer {made.json()['api_key']}"}


LINES = {"lines": [{"sku": "ABC-123", "quantity": 2, "unit_price": 5}]}


@pytest.mark.serves
def test_rows_are_made_read_listed_and_taken_on(orders: tuple[str, httpx.Client]) -> None:
    _, client = orders
    ann, bob = signed_up(client, "ann"), signed_up(client, "bob")
    assert client.post("/customers", json={"email": "ann@example.com", "name": "x"}).status_code == 409
    keyed = {**ann, "Idempotency-Key": "first"}
    made = client.post("/orders", json=LINES, headers=keyed)
    assert made.json()["total"] == 10 and client.post("/orders", json=LINES, headers=keyed).json() == made.json()
    path = f"/orders/{made.json()['id']}"
    assert client.get(path, headers=ann).json() == made.json()
    assert [each["id"] for each in client.get("/orders", headers=ann).json()["data"]] == [made.json()["id"]]
    assert client.get("/orders", headers=bob).json()["data"] == [] and client.get(path, headers=bob).status_code == 404
    assert client.post(f"{path}/place", headers=ann).json()["status"] == "placed"
    assert client.post(f"{path}/place", headers=ann).status_code == 409
    assert client.patch(path, json={"note": "a\0b"}, headers=ann).status_code == 422


@pytest.mark.serves
def test_what_comes_at_once_is_written_once(orders: tuple[str, httpx.Client]) -> None:
    """Sixteen at a time make the same customer, and the same order with one key."""
    _, client = orders
    with ThreadPoolExecutor(16) as threads:
        body = {"email": "one@example.com", "name": "one"}
        made = list(threads.map(lambda _: client.post("/customers", json=body), range(16)))
        assert sorted(each.status_code for each in made) == [201] + [409] * 15
        key = next(each.json()["api_key"] for each in made if each.status_code == 201)
        headers = {"Authorization": f"bearer {key}", "Idempotency-Key": "k"}
        several = list(threads.map(lambda _: client.post("/orders", json=LINES, headers=headers), range(16)))
        assert len({each.json()["id"] for each in several if each.status_code == 201}) == 1
        assert len(client.get("/orders", headers={"Authorization": f"bearer {key}"}).json()["data"]) == 1


@pytest.mark.serves
def test_a_connection_that_is_lost_is_made_again(orders: tuple[str, httpx.Client]) -> None:
    url, client = orders
    carl = signed_up(client, "carl")
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert server.run(url, end)
    # Each of its connections is made again when it is found to be lost, and who finds it may be told so.
    told: list[int] = []

    def is_made() -> bool:
        told.append(client.post("/orders", json=LINES, headers=carl).status_code)
        return told[-1] == 201

    until(is_made, lambda: told)
    assert set(told) <= {201, 503} and client.get("/orders", headers=carl).json()["data"]


@pytest.mark.serves
def test_a_database_is_served_for_the_contract_that_made_it(orders: tuple[str, httpx.Client]) -> None:
    url, _ = orders
    same = open_database(url, planned(ORDERS))
    assert isinstance(same, Opened) and not same.created
    same.database.close()
    other_limits = replace(planned(ORDERS).limits, said={"body size": 1})
    held = open_database(url, replace(planned(ORDERS), limits=other_limits))
    assert isinstance(held, Refused) and held.held, "another contract, which it could be served for"
    other = server.database()
    opened = open_database(other, planned(ORDERS))
    assert isinstance(opened, Opened) and opened.created and not opened.additions
    opened.database.close()
    again = open_database(other, planned(ORDERS))
    assert isinstance(again, Opened) and not again.created
    again.database.close()
    text = ORDERS.read_text(encoding="utf-8").replace("maxLength: 500", "maxLength: 50")
    plan = compile_document("orders.md", text.encode()).plan_for("postgresql")
    assert plan is not None and plan.stored != planned(ORDERS).stored
    changed = open_database(other, plan)
    assert isinstance(changed, Opened) and not changed.created, "no row is in its way"
    changed.database.close()
    foreign = server.database()
    server.run(foreign, "CREATE TABLE somebodys (id int)")
    refused = open_database(foreign, planned(ORDERS))
    assert isinstance(refused, Refused) and "another program" in refused.message
    nowhere = open_database("postgresql://ninefold:secret@127.0.0.1:1/nothing", planned(ORDERS))
    assert isinstance(nowhere, Refused) and "secret" not in nowhere.message and "cannot be reached" in nowhere.message


def test_statements_of_our_own_tables_are_postgresqls(orders: tuple[str, httpx.Client]) -> None:
    """Each that runs is one that PostgreSQL reads, as it is or in a form of its own."""
    url, _ = orders
    own = {
        name: text
        for module in (events, idempotency)
        for name, text in vars(module).items()
        if isinstance(text, str) and name.isupper() and text.startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))
    }
    without = {name: text for name, text in own.items() if '"$broker"' not in text and not name.startswith("_")}
    names = [f'PREPARE "{name}" AS {numbered(FORMS.get(text, text))}' for name, text in without.items()]
    assert len(names) > 20
    server.run(url, *names)


def test_a_plan_is_of_one_database() -> None:
    for path in EXAMPLES:
        loaded = compiled(path)
        plan, other = loaded.plan, loaded.plan_for("postgresql")
        assert plan is not None and other is not None
        assert (plan.dialect, other.dialect) == ("sqlite", "postgresql")
        texts = [piece.text for each in statements(other) for piece in each.pieces]
        assert texts and not any("json_extract" in text or "json_array(" in text for text in texts)
