"""The order of errors: for any `precedence`, that of an oracle of three lines, in the plan and in the reference."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts import plan_of
from tests.reference import failures as reference

from ninefold.language.conditions import STATUSES
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.problems import Failure, Problems

CONTRACT = """\
resources:
  seat:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, name: {type: string, unique: true}, row: {type: integer}}
    required: [name, row]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /seats: {does: create seat, body: [name, row], responses: {201: seat}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
CODES
  precedence: [STATED]
"""
NARROWED = (
    "invalid seat.name",
    "invalid seat.row",
    "invalid seat",
    "conflict seat.name",
    "conflict seat",
    "not found seat",
)
SUBJECTS = {None, *(name.partition(" ")[2] for name in NARROWED)}
ORDER = tuple(STATUSES)

orders = st.lists(st.sampled_from((*ORDER, *NARROWED)), unique=True, max_size=12)
told = st.sets(st.sampled_from((*(name for name in ORDER if name != "check"), *NARROWED)))


def plan(stated: list[str], codes: set[str]) -> ServicePlan:
    lines = [f"    code{number}: {{status: 409, for: {name}}}" for number, name in enumerate(sorted(codes))]
    text = CONTRACT.replace("  codes:\nCODES", "  codes:\n" + "\n".join(lines) if lines else "  codes: {}")
    return plan_of(text.replace("STATED", ", ".join(stated)), "contract.yaml")


def condition(name: str) -> str:
    return max((each for each in ORDER if name == each or name.startswith(each + " ")), key=len)


def oracle(stated: list[str]) -> list[str]:
    """What is listed comes as soon as all that is listed before it, and all of the closed list up to the last of
    these, is there. What is gone goes with what is not found, unless it is listed."""
    place = {name: (ORDER.index(condition(name)), name in ORDER) for name in (*ORDER, *stated)}
    listed = {name: (max(place[each] for each in stated[: at + 1]), at) for at, name in enumerate(stated)}
    keys = {name: (*listed.get(name, (place[name], -1)), False) for name in place}
    if "gone" not in listed:
        keys["gone"] = (*keys["not found"][:2], True)
    return sorted(place, key=lambda name: keys[name])


@dataclass(frozen=True)
class Stated:
    precedence: tuple[str, ...]


@given(orders)
@settings(deadline=None)
def test_the_order_is_that_of_an_oracle(stated: list[str]) -> None:
    found = oracle(stated)
    assert list(plan(stated, set()).problems.precedence) == found
    assert reference.order(Stated(tuple(stated))) == found  # type: ignore[arg-type]


@given(orders, told)
@settings(deadline=None)
def test_what_is_narrowed_stands_directly_before_its_wider_one(stated: list[str], codes: set[str]) -> None:
    """Of any two failures: by the places of the oracle, and at one place the narrower before the wider."""
    problems = Problems(plan(stated, codes).problems)
    found = oracle(stated)

    def place(failure: Failure) -> tuple[int, int]:
        at = next(number for number, name in enumerate(failure.names) if name in found)
        coded = next((name for name in failure.names if name in codes), "")
        narrower = coded in failure.names[:at]
        return found.index(failure.names[at]), -((1 + ("." in coded)) if narrower else 0)

    conditions = ("invalid", "conflict", "not found", "precondition failed")
    every = [Failure(name, subject) for name in conditions for subject in SUBJECTS]
    for one, other in combinations(every, 2):
        ours, theirs = problems.rank(one, {}), problems.rank(other, {})
        assert (ours > theirs) - (ours < theirs) == (place(one) > place(other)) - (place(one) < place(other))
