"""What the members of a plan are about is said by their names, so each name is that of a member."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.contracts import compiled
from tests.language.test_declarations import PLAIN

import ninefold.plan
from ninefold.diff import meaning
from ninefold.diff.verdicts import side_of
from ninefold.language.declaration import Declared, members
from ninefold.language.endpoints import BEFORE_THE_CASE, Endpoint
from ninefold.language.events import Webhooks
from ninefold.language.limits import Limits

CASES = Path(__file__).parents[1] / "cases"
PLACES = {Endpoint: (4, "ENDPOINT."), Limits: (8, ""), Webhooks: (6, "delivery.webhooks.")}
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
    named = {*meaning._WORDS, *meaning._OF_PLACES, *meaning._SIDES, *meaning._SIDES_WITHIN, *meaning._SIDES_OF_ALL}
    assert named <= members, named - members


def _saying(plan: Any, record: type, said: dict[str, Any]) -> Any:
    if record is Limits:
        return replace(plan, limits=replace(plan.limits, said=said))
    if record is Webhooks:
        return replace(plan, delivery=replace(plan.delivery, webhooks=replace(plan.delivery.webhooks, said=said)))
    return replace(plan, routes=(replace(plan.routes[0], said=said), *plan.routes[1:]))


def _in_a_case(plan: Any, said: dict[str, Any]) -> Any:
    at, route = next((at, each) for at, each in enumerate(plan.routes) if getattr(each, "cases", None))
    first, *others = route.cases.cases
    cases = replace(route.cases, cases=(replace(first, said=said), *others))
    return replace(plan, routes=(*plan.routes[:at], replace(route, cases=cases), *plan.routes[at + 1 :]))


@pytest.mark.parametrize(("record", "each"), KEYS, ids=lambda of: of.name if isinstance(of, Declared) else of.__name__)
def test_a_plain_value_is_about_what_its_key_declares(record: type, each: Declared) -> None:
    """Of every key that may say `planned=True`, whether it does or not."""
    part, at = PLACES[record]
    plan = compiled(CASES / "subscriptions-to-what-happens" / "contract.md").plan
    both = [_saying(plan, record, {each.name: value}) for value in ("one", "other")]
    if record is Endpoint and each.attribute not in BEFORE_THE_CASE:
        plan = compiled(CASES / "assets-of-two-sorts" / "contract.md").plan
        both += [_in_a_case(plan, {each.name: value}) for value in ("one", "other")]
    for old, new in zip(both[::2], both[1::2], strict=True):
        assert meaning.felt(meaning.meaning(old), meaning.meaning(new)).sides == {side_of(part, at + each.name)}
