"""Schemathesis (https://schemathesis.readthedocs.io) asks the running service what its document promises.

It makes requests of the document, good ones and bad ones, and sequences of them, and looks whether an answer is a
server error, has a status, a header or a body that the document does not declare, or accepts what it should refuse.
`make test` asks two services, `make test-long` all of them and at length.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from tests.contracts import ROOT
from tests.http_cases import serving
from tests.slices import LONG, some

from ninefold.pipeline import load
from ninefold.plan.operations import List, Read, Stream
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.writes import Write
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

CASES = ROOT / "tests" / "cases"


@dataclass(frozen=True)
class Caller:
    """How a caller comes to be: what is posted where, the member of the answer that is the credential, and the header
    that carries it."""

    path: str
    body: dict[str, str]
    member: str
    header: str = "Authorization: Bearer {}"


@dataclass(frozen=True)
class Asked:
    """A contract, who asks, and paths that are left out (such as the one on which a caller takes leave)."""

    contract: Path
    caller: Caller | None = None
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.contract.stem if self.contract.parent.name == "examples" else self.contract.parent.name


def case(name: str, caller: Caller | None = None, *without: str) -> Asked:
    return Asked(CASES / name / "contract.md", caller, without)


QUICK = (
    Asked(ROOT / "examples" / "orders.md", Caller("/customers", {"email": "a@b.example", "name": "Ada"}, "api_key")),
    case("todos-of-an-owner", Caller("/people", {"name": "Ada"}, "token"), "/people/me"),
)
ALL = (
    *QUICK,
    case("no-errors-part-at-all"),
    case("bookings-with-a-unique-pair"),
    case("readings-of-sensors-by-an-api-key", Caller("/stations", {"city": "Linz"}, "key", "X-Station-Key: {}")),
    case("appointments-that-move-through-states", Caller("/desks", {}, "key")),
    case("films-in-several-views"),
    case("accounts-that-never-go-below-zero"),
    case("books-that-show-what-is-asked-for"),
    case("payments-of-several-kinds", Caller("/desks", {"role": "clerk"}, "key", "X-Key: {}")),
)


@pytest.mark.long
@pytest.mark.serves
@pytest.mark.slow
@pytest.mark.parametrize("asked", some(ALL, 1) if LONG else QUICK, ids=str)
def test_the_service_keeps_its_document(asked: Asked, tmp_path: Path) -> None:
    ask(asked, tmp_path, examples=20 if LONG else 2)


def ask(asked: Asked, folder: Path, examples: int) -> None:
    loaded = load(str(asked.contract))
    assert loaded.checked is not None and loaded.plan is not None
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    (folder / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "schemathesis.toml").write_text(configuration(loaded.plan), encoding="utf-8")
    operator = {value.name: "https://id.example" for value in loaded.plan.operator}
    # Far more is asked than a rate takes, and a request that is refused for it tells nothing else.
    limits = msgspec.structs.replace(loaded.plan.limits, rates=())
    plan = msgspec.structs.replace(loaded.plan, limits=limits)
    if plan.versions is not None:
        uncounted = tuple(msgspec.structs.replace(each, counted={}) for each in plan.versions.versions)
        plan = msgspec.structs.replace(plan, versions=msgspec.structs.replace(plan.versions, versions=uncounted))
    with serving(plan, folder / "service.db", operator) as client:
        url = str(client.base_url).rstrip("/") + document["servers"][0]["url"].rstrip("/")
        arguments = ["--url", url, "--max-examples", str(examples), "--seed", "1", "--no-color"]
        if asked.caller is not None:
            made = client.post(url + asked.caller.path, json=asked.caller.body)
            arguments += ["--header", asked.caller.header.format(made.json()[asked.caller.member])]
        for path in (*asked.without, *streams(plan)):
            arguments += ["--exclude-path", path]
        program = [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run"]
        done = subprocess.run(
            [*program, "openapi.json", *arguments], cwd=folder, capture_output=True, text=True, timeout=300
        )
    assert done.returncode == 0, done.stdout + done.stderr


def streams(plan: ServicePlan) -> list[str]:
    """Paths whose answers never end."""
    return [
        "/" + "/".join(str(segment) for segment in route.segments)
        for route in plan.routes
        if isinstance(route, Served) and any(isinstance(each.operation, Stream) for each in route.admissions)
    ]


def configuration(plan: ServicePlan) -> str:
    """What a schema cannot say, and is no fault: that text never holds U+0000 (meaning "values"), that a body is too
    large, that an entity tag is not the row's, and that a cursor or a reference is none of the service's."""
    conditions = ("invalid", "precondition failed", "too large", "check")
    refused = {name: status(plan, name) for name in conditions}
    undeclared = status(plan, "method not allowed")
    return f"""
[generation]
allow-x00 = false

[checks]
unsupported_method.enabled = {str(undeclared == 405 and not has_literal_beside_name(plan)).lower()}
negative_data_rejection.expected-statuses = {sorted({400, 401, 403, 404, 409, 412, 413, 415, 422, *refused.values()})}
positive_data_acceptance.expected-statuses = {expected(plan, refused)}
"""


def expected(plan: ServicePlan, refused: dict[str, int]) -> list[str]:
    by_the_database = any(
        condition.condition == "invalid"
        for route in plan.routes
        if isinstance(route, Served)
        for admission in route.admissions
        if isinstance(admission.operation, Read | List | Write) and admission.operation.judge is not None
        for condition in admission.operation.judge.conditions
    )
    cursors = any(
        getattr(getattr(admission.operation, "paging", None), "by", "") == "cursor"
        for route in plan.routes
        if isinstance(route, Served)
        for admission in route.admissions
    )
    others = (refused["precondition failed"], refused["check"])
    found = {"2xx", "3xx", "401", "403", "404", "409", *map(str, others)}
    return sorted(found | ({str(refused["invalid"])} if by_the_database or cursors else set()))


def status(plan: ServicePlan, condition: str) -> int:
    code = plan.problems.conditions.get(condition)
    stated = {each.name: each.status for each in plan.problems.codes}
    return plan.problems.statuses[condition] if code is None else stated[code]


def has_literal_beside_name(plan: ServicePlan) -> bool:
    """Whether the methods of `/tasks/{id}` are also those of `/tasks/newest`, which OpenAPI takes for another path."""
    shapes = [tuple(each if isinstance(each, str) else None for each in route.segments) for route in plan.routes]
    return any(
        len(one) == len(other) and one != other and all(a is None or a == b for a, b in zip(one, other, strict=True))
        for one in shapes
        for other in shapes
    )
