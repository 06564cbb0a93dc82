"""Random contracts: complete, and served. Each is a Python value, made from a seed and nothing else.

There are up to three resources: `user`, whose rows may call; `item`, which belongs to a user; and `part` of an item.
What they hold, who sees them and what can be done with them is thrown for. Not every throw is a contract that passes
the checks; those that do not are left out by whoever compiles them.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.agreement import (
    accounts,
    authentication,
    beside,
    effects,
    endpoints,
    errors,
    events,
    fields,
    limits,
    lists,
    origins,
)
from tests.agreement.functions import CODE, by_calls
from tests.agreement.maker import Maker
from tests.agreement.versions import Versioned
from tests.agreement.writing import NONE


def _stated(maker: Maker) -> dict[str, Any]:
    authentication.schemes(maker)
    maker.conditions.callers = bool(maker.schemes)
    fields.user(maker)
    fields.item(maker)
    if maker.often(0.7):
        fields.part(maker)
    for resource in maker.made.values():
        fields.computed(maker, resource)
    for resource in maker.made.values():
        fields.rules(maker, resource)
    codes = errors.errors(maker)
    of_all = endpoints.endpoints(maker)
    resources: dict[str, Any] = {}
    for name, made in maker.made.items():
        resources[name] = {"primary key": made.primary_key if len(made.primary_key) > 1 else made.primary_key[0]}
        resources[name] |= {"fields": made.fields, **made.more}
        if made.required:
            resources[name]["required"] = made.required
    resources["user"]["fields"] |= accounts.fields(maker)
    if any("$ref" in said for made in maker.made.values() for said in made.fields.values()):
        members = {"w": {"type": "integer", "minimum": 0}, "h": {"type": ["number", "null"]}}
        resources["types"] = {"size": {"type": "object", "properties": members, "required": ["w"]}}
    lists.by_sight(maker.sights, of_all, maker.made)
    states = {name: NONE if made.machine is None else made.machine for name, made in maker.made.items()}
    has_states = any(made.machine for made in maker.made.values())
    callers = authentication.authentication(maker, of_all, "caller" in f"{resources}{states}{of_all}")
    effects.by_effects(maker, of_all)
    effects.by_transitions(maker)
    beside.by_path_values(maker, of_all)
    beside.by_parameters(maker, of_all)
    beside.by_cases(maker, of_all)
    beside.by_forms(maker, of_all)
    beside.by_patches(maker, of_all)
    if wholes := beside.by_wholes(maker, of_all):
        resources["types"] = resources.get("types", {}) | wholes
    if by_calls(maker.calls, of_all, maker.made):
        maker.codes.update(CODE)
    accounts.endpoints(maker, of_all, callers["permissions"])
    beside.by_readings(maker, of_all)
    older = maker.versions.random() < 0.25
    happens = NONE if older else events.part(maker, of_all, callers)
    stated = {
        "purpose": "A service made at random.",
        "resources": resources,
        "states": states if has_states else NONE,
        "endpoints": of_all | origins.stated(maker.origins),
        "authentication": callers,
        "events": happens,
        "errors": codes,
        "limits": {
            **limits.rates(maker, of_all, codes),
            "timeout": NONE,
            "body size": maker.random.choice([NONE, "1 KiB"]),
            "pages": lists.pages(maker),
            "idempotency keys kept": maker.random.choice(["PT1H", "P1D"]),
        },
        "versioning": NONE,
    }
    errors.narrowed(maker, stated)
    return Versioned(maker.versions, stated, maker.made, maker.more).stated() if older else stated


def contract(seed: int | str, to_all: bool = False, more: bool = False) -> dict[str, Any]:
    """The contract of a seed: the same each time. `to_all`: with operations on all rows. `more`: with what no
    other random contract says."""
    return _stated(Maker(Random(f"contract {seed}"), to_all, more))
