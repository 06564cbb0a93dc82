"""The suite can fail: a service with a hole in it, which claims to be of the whole contract, is found out.

A hole is the plan of another document, of which one thing is different, or a single endpoint of that plan in the place
of the right one: as if the compiler had forgotten that thing in one statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.contracts import ROOT
from tests.owasp.bounds import bodies_beyond_their_size, pages_beyond_their_bounds
from tests.owasp.credentials import credentials_that_are_none
from tests.owasp.functions import endpoints_of_others, steps_out_of_turn
from tests.owasp.items import Item
from tests.owasp.objects import lists_of_other_peoples_rows, other_peoples_rows
from tests.owasp.properties import fields_that_no_body_names, members_that_no_view_shows
from tests.owasp.surface import what_no_contract_states
from tests.owasp.test_owasp import beyond_rates, differences, findings, read, told
from tests.slices import some

from ninefold.pipeline import compile_document
from ninefold.plan.operations import List
from ninefold.plan.routes import Admission, Served
from ninefold.plan.service import ServicePlan

pytestmark = [pytest.mark.serves, pytest.mark.slow]

ORDERS = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")
EVERYTHING = ""


@dataclass(frozen=True)
class Hole:
    """What is forgotten, of which endpoint; the item that finds it; what is written, and what the service does
    instead."""

    forgotten: str
    endpoint: str
    item: str
    written: str
    instead: str


RULE = 'key: "order.customer == caller.customer"'

HOLES = (
    Hole("the row rule of a read", "GET /orders/{id}", "API1", RULE, "key: true"),
    Hole("the row rule of a list", "GET /orders", "API1", RULE, "key: true"),
    Hole("the row rule of an update", "PATCH /orders/{id}", "API1", RULE, "key: true"),
    Hole("the row rule of a deletion", "DELETE /orders/{id}", "API1", RULE, "key: true"),
    Hole("the row rule of a step", "POST /orders/{id}/place", "API1", RULE, "key: true"),
    Hole("what a row is that is not seen", "GET /orders/{id}", "API1", "rows: not found", "rows: forbidden"),
    Hole("who is to be known", "GET /orders/{id}", "API2", "{id}:         [key, staff]", "{id}: [key, staff, anyone]"),
    Hole(
        "that a field is not shown",
        "GET /orders/{id}",
        "API3",
        "responses: {200: order}\n\nPATCH",
        "responses: {200: {order: order, more: order.customer.email}}\n\nPATCH",
    ),
    Hole(
        "that a field is not the client's",
        "POST /orders",
        "API3",
        "body: [lines, note]\n  idempotency",
        "body: [lines, note, created_at]\n  idempotency",
    ),
    Hole("how large a page is", "GET /orders", "API4", "maximum: 100", "maximum: 1000000000"),
    Hole("how large a body is", EVERYTHING, "API4", "body size: 64 KiB", "body size: 1 MiB"),
    Hole(
        "which scheme may",
        "POST /orders/{id}/pay",
        "API5",
        "pay:    {staff: \"caller.role == 'billing'\"}",
        "pay:    {key: true, staff: \"caller.role == 'billing'\"}",
    ),
    Hole(
        "the role",
        "POST /orders/{id}/ship",
        "API5",
        "ship:   {staff: \"caller.role == 'warehouse'\"}",
        "ship:   staff",
    ),
    Hole(
        "the state", "POST /orders/{id}/pay", "API6", "{from: placed, to: paid}", "{from: [draft, cancelled], to: paid}"
    ),
    Hole(
        "that this is all",
        EVERYTHING,
        "API9",
        "GET /events: ",
        "GET /all:\n  does: list order\n  sort: [id]\n  responses: {200: page.items}\nGET /events: ",
    ),
)


FINDING: dict[str, tuple[Item, ...]] = {
    "API1": (other_peoples_rows, lists_of_other_peoples_rows),
    "API2": (credentials_that_are_none,),
    "API3": (members_that_no_view_shows, fields_that_no_body_names),
    "API4": (pages_beyond_their_bounds, bodies_beyond_their_size),
    "API5": (endpoints_of_others,),
    "API6": (steps_out_of_turn,),
    "API9": (what_no_contract_states,),
}
"""What finds the holes of an item."""


def planned(text: str, database: str) -> ServicePlan:
    plan = compile_document("contract.md", text.encode()).plan_for(database)
    assert plan is not None
    return plan


def holed(endpoint: str, written: str, instead: str, database: str = "sqlite") -> ServicePlan:
    """The plan of orders.md with what another document makes of one endpoint; of all of them where none is named."""
    assert ORDERS.count(written) == 1, written
    right, wrong = planned(ORDERS, database), planned(ORDERS.replace(written, instead), database)
    if endpoint == EVERYTHING:
        return wrong
    [route] = (each for each in wrong.routes if each.key == endpoint)
    assert route in wrong.routes and route not in right.routes
    return replace(right, routes=tuple(route if each.key == endpoint else each for each in right.routes))


@pytest.mark.long
@pytest.mark.parametrize("hole", some(HOLES, 4), ids=lambda hole: hole.forgotten)
def test_a_hole_is_found(hole: Hole, tmp_path: Path) -> None:
    served = holed(hole.endpoint, hole.written, hole.instead)
    found = findings(read(ORDERS), tmp_path, served, FINDING[hole.item])
    assert hole.item in {each.item for each in found}, told(found)
    assert hole.endpoint == EVERYTHING or hole.endpoint in {each.endpoint for each in found}


@pytest.mark.long
@pytest.mark.parametrize("hole", some(HOLES, 24), ids=lambda hole: hole.forgotten)
def test_a_hole_over_postgresql_is_found(hole: Hole, tmp_path: Path) -> None:
    served = holed(hole.endpoint, hole.written, hole.instead, "postgresql")
    example = ROOT / "examples" / "orders.md"
    found = findings(read(ORDERS), tmp_path, served, FINDING[hole.item], lambda world: world.moved(example))
    assert hole.item in {each.item for each in found}, told(found)
    assert hole.endpoint == EVERYTHING or hole.endpoint in {each.endpoint for each in found}


def test_a_rate_that_does_not_hold_is_found(tmp_path: Path) -> None:
    served = holed(
        EVERYTHING,
        "allow: 20,  per: PT1M, algorithm: token bucket, burst: 20",
        "allow: 90,  per: PT1M, algorithm: token bucket, burst: 90",
    )
    found = beyond_rates(read(ORDERS), tmp_path, served)
    assert [(each.item, each.endpoint) for each in found] == [("API4", "POST /customers")]


def counting_as(mine: Admission, theirs: Admission) -> Admission:
    """A list with the total of another."""
    assert isinstance(mine.operation, List) and isinstance(theirs.operation, List)
    return replace(mine, operation=replace(mine.operation, count=theirs.operation.count))


def test_a_count_that_tells_of_others_is_found(tmp_path: Path) -> None:
    """A total over all rows: no row is shown, and yet everybody knows how many there are."""
    written = "responses: {200: {data: page.items, next: page.next}}"
    whole = ORDERS.replace(written, "responses: {200: {data: page.items, total: page.total}}")
    right, checked = read(whole)
    rule = 'key: "order.customer == caller.customer"'
    wrong, _ = read(whole.replace(rule, "key: true"))
    [list_] = (each for each in right.routes if each.key == "GET /orders" and isinstance(each, Served))
    [leaking] = (each for each in wrong.routes if each.key == "GET /orders" and isinstance(each, Served))
    admissions = tuple(map(counting_as, list_.admissions, leaking.admissions))
    served = replace(
        right, routes=tuple(replace(list_, admissions=admissions) if each is list_ else each for each in right.routes)
    )
    assert not differences((right, checked), tmp_path / "right")
    found = differences((right, checked), tmp_path / "wrong", served)
    assert {(each.item, each.endpoint) for each in found} == {("API1", "GET /orders")}


def test_the_right_service_has_no_hole(tmp_path: Path) -> None:
    found = findings(read(ORDERS), tmp_path)
    assert not found, told(found)
