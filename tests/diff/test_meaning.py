"""What the members of a plan are about is said by their names, so each name is that of a member."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.contracts import ROOT, compiled
from tests.language.test_declarations import PLAIN
from tests.test_plain_values import CARRIERS

import ninefold.plan
from ninefold.diff import meaning, plain
from ninefold.diff.verdicts import side_of
from ninefold.language.authentication import Authentication, Scheme
from ninefold.language.declaration import Declared, members
from ninefold.language.endpoints import BEFORE_THE_CASE, Endpoint, Endpoints
from ninefold.language.errors import ErrorCode
from ninefold.language.events import Envelope, Webhooks
from ninefold.language.limits import Limits, Pages, Rate
from ninefold.language.parameters import Parameter
from ninefold.language.requests import Requests
from ninefold.language.resources import Field
from ninefold.language.responses import Cors
from ninefold.language.versioning import Version, Versioning
from ninefold.plan.routes import Case

CASES = Path(__file__).parents[1] / "cases"
ORDERS = ROOT / "examples" / "orders.md"
PLACES = {
    Cors: (4, "cors."),
    Authentication: (5, ""),
    Endpoint: (4, "ENDPOINT."),
    Endpoints: (4, ""),
    Envelope: (6, "delivery.envelope."),
    ErrorCode: (7, "codes.CODE."),
    Field: (2, "RESOURCE.fields.FIELD."),
    Limits: (8, ""),
    Parameter: (4, "ENDPOINT.query.PARAMETER."),
    Pages: (8, "pages."),
    Rate: (8, "rates.RATE."),
    Requests: (4, "requests."),
    Scheme: (5, "schemes.SCHEME."),
    Version: (9, "versions.VERSION."),
    Versioning: (9, ""),
    Webhooks: (6, "delivery.webhooks."),
}
KEYS = [(record, each) for record in PLACES for each in members(record) if isinstance(each.key.shape, PLAIN)]


def test_each_name_is_of_a_member_of_the_plan() -> None:
    modules = [import_module(f"ninefold.plan.{each.name}") for each in iter_modules(ninefold.plan.__path__)]
    structs = [each for module in modules for each in vars(module).values() if isinstance(each, type)]
    members = {
        member.encode_name
        for each in structs
        if issubclass(each, msgspec.Struct)
        for member in msgspec.structs.fields(each)
    }
    named = {*meaning._WORDS, *meaning._SIDES, *meaning._SIDES_WITHIN, *meaning._SIDES_OF_ALL}
    assert named <= members, named - members
    assert all({*names} <= {*kind.__struct_fields__} for kind, names in plain.WORDS.items())


def test_each_member_that_says_plain_values_is_named() -> None:
    """Whose keys these are is known by the name of the member."""
    saying = {each for carriers in CARRIERS.values() for each in carriers}
    for path in (ORDERS, CASES / "assets-of-two-sorts" / "contract.md"):
        plan = compiled(path).plan
        assert plan is not None
        found = {(name, type(each)) for route in plan.routes for name, each in _members(route, "route")}
        found |= {
            (name, type(each)) for part in meaning._SIDES_OF_ALL for name, each in _members(getattr(plan, part), part)
        }
        named = {name for name, kind in found if kind in saying or kind is Case}
        named -= {"beside", "stored"}  # these say nothing: what is no field of a resource, and the fields of a path
        assert named <= meaning._SAID.keys() and "fields" in named


def _members(of: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(of, tuple):
        for each in of:
            yield from _members(each, name)
    elif isinstance(of, msgspec.Struct):
        yield name, of
        for each in of.__struct_fields__:
            yield from _members(getattr(of, each), each)


def _saying(of: Any, carrier: type[Any], said: dict[str, Any]) -> Any:
    """A plan, or a part of one, in which all of one kind say this."""
    if isinstance(of, carrier):
        return replace(of, said=said)
    if isinstance(of, tuple):
        return tuple(_saying(each, carrier, said) for each in of)
    if isinstance(of, msgspec.Struct):
        return replace(of, **{name: _saying(getattr(of, name), carrier, said) for name in of.__struct_fields__})
    return of


def _in_a_case(plan: Any, said: dict[str, Any]) -> Any:
    at, route = next((at, each) for at, each in enumerate(plan.routes) if getattr(each, "cases", None))
    first, *others = route.cases.cases
    cases = replace(route.cases, cases=(replace(first, said=said), *others))
    return replace(plan, routes=(*plan.routes[:at], replace(route, cases=cases), *plan.routes[at + 1 :]))


@pytest.mark.parametrize(("record", "each"), KEYS, ids=lambda of: of.name if isinstance(of, Declared) else of.__name__)
def test_a_plain_value_is_about_what_its_key_declares(record: type, each: Declared) -> None:
    """Of every key that may say `planned=True`, whether it does or not."""
    part, at = PLACES[record]
    plan = compiled(CASES / "a-page-of-another-origin" / "contract.md" if record is Cors else ORDERS).plan
    both = [_saying(plan, CARRIERS[record][0], {each.name: value}) for value in ("one", "other")]
    if record is Endpoint and each.attribute not in BEFORE_THE_CASE:
        plan = compiled(CASES / "assets-of-two-sorts" / "contract.md").plan
        both += [_in_a_case(plan, {each.name: value}) for value in ("one", "other")]
    for old, new in zip(both[::2], both[1::2], strict=True):
        assert meaning.felt(meaning.meaning(old), meaning.meaning(new)).sides == {side_of(part, at + each.name)}
