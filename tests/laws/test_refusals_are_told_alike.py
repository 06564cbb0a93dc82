"""What may refuse a request is told alike by what the contract states, which the questions and permissions read, by the
plan, which OpenAPI, the trace of a response and the server read, and by `explain`, for every endpoint that is
served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.contracts import compiled
from tests.laws.worlds import written

from ninefold.contract.questions.errors import arising
from ninefold.contract.refusals import stated
from ninefold.contract.service import Contract
from ninefold.expressions.functions import TABLE
from ninefold.language.authentication import ANYONE
from ninefold.language.conditions import (
    BY_NAME,
    CONDITIONS,
    NARROWINGS,
    NO_ENDPOINT,
    RESOURCE,
    SCHEME,
    Step,
    narrowing_of,
)
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.problems import Condition
from ninefold.plan.routes import Served
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.refusals import OF_WHAT_IS_MADE, every_refusal
from ninefold.tools.permissions.matrix import Verdict, matrix
from ninefold.trace.causes import Refusal as Told
from ninefold.trace.identifier import Refused
from ninefold.trace.nodes import conditions, editions
from ninefold.trace.refusal import Refusal
from ninefold.trace.refusals import refusals
from ninefold.trace.refused import refusal
from ninefold.values import Boolean, Duration, Integer, Text, Timestamp

ROOT = Path(__file__).parents[2]
CONTRACTS = [*sorted((ROOT / "examples").glob("*.md")), *sorted((ROOT / "tests" / "cases").glob("*/contract.*"))]

WIDE = ("invalid", "unauthenticated", "check")
"""The conditions that are told as wide as they are: of which value, scheme or row, only the plan knows for sure."""

OF_THE_REQUEST = (Step.PARAMETERS, Step.BODY)
"""The steps at which what a request gives is `invalid` of what the contract says that it is of, as the plan has it."""

OF_RATES, OF_VALUES = ("too many requests",), ("invalid",)
"""What a trace knows no cause of without the number of a rate, or the rule that a value does not keep."""


def title(path: Path) -> str:
    return path.stem if path.stem != "contract" else path.parent.name


def names(found: tuple[Refusal, ...]) -> set[tuple[str, str | None, str | None]]:
    """Each condition, what it is narrowed to, and the code that is stated for it alone."""
    told = [each for each in found if each.condition not in NO_ENDPOINT]
    wide = {(each.condition, None if each.condition in WIDE else each.subject, each.code) for each in told}
    return wide | {(each.condition, each.subject, each.code) for each in told if is_of_the_request(each)}


def named(refusal: Refusal) -> str:
    return f"`{' '.join(filter(None, (refusal.condition, refusal.subject)))}`, at the step {refusal.step.name},"


def is_of_the_request(refusal: Refusal) -> bool:
    return refusal.condition == "invalid" and refusal.step in OF_THE_REQUEST


@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_what_may_refuse_a_request_is_told_alike(path: Path) -> None:
    loaded = compiled(path)
    wrong = () if loaded.plan is None else told_otherwise(loaded)
    assert not wrong, "\n".join(wrong)


def told_otherwise(loaded: Loaded) -> list[str]:
    g, wrong = Grounds(loaded), list[str]()
    asked = arising(g.survey)
    of_any = {each.condition for each in asked if each.endpoint is None}
    endpoints = value_of(loaded.contract.endpoints.endpoints) or ()
    tagged = {each.key for each in endpoints if value_of(each.etag) is not None}
    for endpoint in endpoints:
        planned = g.planned.get(endpoint.key)
        if planned is None:
            continue
        found = stated.refusals(g.survey, endpoint.key)
        if names(found) != names(planned):
            more, less = names(found) - names(planned), names(planned) - names(found)
            wrong += [f"{endpoint.key}: {each} is told by contract/refusals/, and not by the plan" for each in more]
            wrong += [f"{endpoint.key}: {each} is told by the plan, and not by contract/refusals/" for each in less]
        # No code is asked for that is for all checks.
        without = {each.condition for each in planned if each.code is None} - NO_ENDPOINT - {"check"}
        if value_of(loaded.contract.limits.body_size) is None:
            without -= {"too large"}  # no contract is asked for the code of a bound that it does not state
        if endpoint.key not in tagged:
            without -= {"precondition failed"}  # nor for that of a tag which no row has
        of_questions = {each.condition for each in asked if each.endpoint == endpoint.key} | (of_any & without)
        if of_questions != without:
            wrong.append(f"{endpoint.key}: {sorted(of_questions ^ without)} by the questions")
        told = [each for each, _ in every_refusal(g, endpoint)]
        wrong += [
            f"{endpoint.key}: {named(each)} is told by the plan alone, in its words for values that are made"
            for each in told
            if each.words == OF_WHAT_IS_MADE and each.condition != "invalid"
        ]
        explained = {each.condition for each in told}
        if explained != {each.condition for each in planned} - NO_ENDPOINT:
            wrong.append(f"{endpoint.key}: {explained} by explain")
        others = (each for each in (*found, *planned) if not is_of_its_row(each, loaded.contract))
        wrong += [f"{endpoint.key}: {named(each)} is not as its row in language/conditions.py says" for each in others]
    return [*wrong, *by_permissions(loaded, g), *by_traces(loaded)]


OF_A_RESOURCE: Final = [way for way, each in NARROWINGS.items() if each.within == "RESOURCE"]
TASKS: Final = ROOT / "tests" / "cases" / "tasks-that-change-all-at-once" / "contract.md"
SLUG: Final = "{type: string, on change: {title: slug(task.title)}}"
OF_ANOTHER_ROW: Final[dict[str, str]] = {
    str(Text()): "task.project.name", str(Integer()): "task.project.stars", str(Boolean()): "task.project.locked"
}  # fmt: skip
OF_THE_TIME: Final[dict[str, str]] = {
    str(Timestamp()): "now", str(Text()): "string(now)", str(Integer()): "now.getFullYear()",
    str(Duration()): "(now - now)", str(Boolean()): "(now == now)",
}  # fmt: skip
SLOW: Final = "'(a{1,40}b{1,40}){1,40}c'"
"""A pattern of which only short texts are looked at."""
JSON_TYPES: Final = {str(Text()): "string", str(Integer()): "integer", str(Boolean()): "boolean"}


def made() -> Iterator[tuple[str, str]]:
    """What a field of a new row may be given that the request does not give, by each function: the type, and how it is
    written."""
    for overload in TABLE:
        result = JSON_TYPES.get(str(overload.gives(overload.parameters)))
        for of in (OF_ANOTHER_ROW, OF_THE_TIME):
            given = [of.get(str(each)) for each in overload.parameters]
            if result and given and None not in given and overload.style != "operator":
                arguments = [str(each) for each in given]
                if overload.id == "matches":
                    arguments[1] = SLOW
                yield result, written(overload, arguments)


@pytest.mark.parametrize(("type_", "text"), sorted(set(made())))
def test_a_function_that_may_give_no_value_is_told_of(type_: str, text: str) -> None:
    """Of the table, by the contract as by the plan."""
    field = f'{{type: {type_}, on create: "{text}"}}'
    loaded = compile_document("contract.md", TASKS.read_text(encoding="utf-8").replace(SLUG, field).encode())
    if loaded.plan is not None:  # else it has no SQL, and reads another row
        g = Grounds(loaded)
        for key, planned in g.planned.items():
            assert names(planned) <= names(stated.refusals(g.survey, key)), key


def by_permissions(loaded: Loaded, g: Grounds) -> Iterator[str]:
    """Where the matrix of callers says otherwise of who is let in, and of what besides has to hold."""
    lines = matrix(loaded.contract, loaded.checked).lines
    for key, planned in g.planned.items():
        own = [line for line in lines if line.endpoint.split(",")[0] == key]
        cells = [cell for line in own for cell in line.cells]
        # Who has no credential at all is `unauthenticated` where no more than a bad one is, too.
        known = any(cell.who != ANYONE and cell.verdict is not Verdict.AS_ANYONE for cell in cells)
        told = {
            "unauthenticated": known,
            "forbidden": any(cell.verdict is Verdict.FORBIDDEN for cell in cells),
        }
        derived = {each.condition for each in planned if each.step is Step.CALLER}
        if {condition for condition, said in told.items() if said} != derived:
            yield f"{key}: {told} by permissions"
        besides = {"check": any(line.guards for line in own), "forbidden": any(cell.condition for cell in cells)}
        for condition, said in besides.items():
            if said and not any(each.condition == condition for each in planned):
                yield f"{key}: {condition} by permissions"


def by_traces(loaded: Loaded) -> Iterator[str]:
    """What the identifier of a response could name, and `explain --response` would not know, or know no cause of."""
    assert loaded.plan is not None
    numbers = {name: number for number, name in enumerate(BY_NAME)}
    for edition in editions(loaded.plan):
        for route in edition.routes:
            if not isinstance(route, Served):
                continue
            derived = refusals(route, loaded.plan)
            nodes = [
                (number, *each)
                for number, admission in enumerate(route.admissions)
                for each in enumerate(conditions(admission))
            ]
            of_nodes = {(each.condition, each.subject, each.code) for _, _, each in nodes}
            told: list[tuple[Refusal | Condition, Told]] = [
                (each, refusal(edition, route, number, Refused(numbers[each.condition], node)))
                for number, node, each in nodes
            ]
            for each in derived:
                if each.of is None and each.condition not in OF_RATES:
                    told.append((each, refusal(edition, route, -1, Refused(numbers[each.condition]))))
                elif each.of is not None and (each.condition, each.subject, each.code) not in of_nodes:
                    yield f"{route.key}: {each.condition} {each.subject} is no node of a trace"
            for one, found in told:
                if isinstance(one, Condition) and (found.condition, found.subject) != (one.condition, one.subject):
                    yield f"{route.key}: {one} is {found} by its trace"
                if not found.causes and found.condition not in OF_VALUES:
                    yield f"{route.key}: {found.condition} {found.subject} {one} has no cause by its trace"


def is_of_its_row(refusal: Refusal, contract: Contract) -> bool:
    """Whether the table of conditions says of it that such a step may find it, and that it may be so narrowed."""
    condition = BY_NAME[refusal.condition]
    step = Step.JUDGED if refusal.step is Step.DONE else refusal.step
    narrowing = narrowing_of(refusal.condition, refusal.subject)
    if narrowing == SCHEME:  # or it is the resource of a caller whose row is not there any more
        declared = {each.name for each in value_of(contract.authentication.schemes) or ()}
        return refusal.subject in declared | {*contract.resources_by_name} and step in condition.steps
    return step in condition.steps and (refusal.subject is None or narrowing is not None)


@pytest.mark.long
def test_each_condition_arises_narrowed_to_all_that_its_table_says() -> None:
    """So a code for it can be met: that of a resource also by what is told of something in one."""
    left = {(each.name, narrowing) for each in CONDITIONS for narrowing in each.narrowed}
    for path in CONTRACTS:
        loaded = compiled(path) if left else None
        if loaded is not None and loaded.plan is not None:
            found = (each for planned in Grounds(loaded).planned.values() for each in planned)
            for each in found:
                way = narrowing_of(each.condition, each.subject) or ""
                left -= {(each.condition, way)} | ({(each.condition, RESOURCE)} if way in OF_A_RESOURCE else set())
    assert left == set()
