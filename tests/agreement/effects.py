"""What else random endpoints do: to rows that refer to the one acted on, or that it refers to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.agreement.conditions import Made
from tests.agreement.maker import Maker


def by_effects(maker: Maker, endpoints: dict[str, Any]) -> None:
    """What else endpoints do: to rows that refer to the one acted on, or that it refers to."""
    for key, endpoint in endpoints.items():
        does = endpoint.get("does") if isinstance(endpoint, dict) and " /" in key else None
        verb, _, name = (does if isinstance(does, str) else "").partition(" ")
        name = name.removeprefix("all ")
        if name not in maker.made or verb in ("read", "list") or maker.effects.random() < 0.6:
            continue
        found = [each for each in _effects_of(maker, maker.made[name]) if maker.effects.random() < 0.5]
        found = [_of_items(maker, maker.made[name], each) for each in found]
        if found:
            endpoint["also"] = maker.effects.sample(found, min(len(found), 2))


def by_transitions(maker: Maker) -> None:
    """What else transitions do."""
    throws = maker.each
    for made in maker.made.values():
        for transition in () if made.machine is None else made.machine["transitions"].values():
            found = [] if throws.random() < 0.6 else [*_effects_of(maker, made)]
            # One that takes the row with it that it follows from is no effect, and neither is one that leads back.
            found = [each for each in found if each["does"].split(" ")[0] != "delete" or throws.random() < 0.2]
            found = [each for each in found if f"{each['does']}".partition(" ")[2] != made.name]
            if found:
                transition["also"] = [_of_items(maker, made, throws.choice(found))]


def _of_items(maker: Maker, acting: Made, effect: dict[str, Any]) -> dict[str, Any]:
    """The same of each item of an array, now and then."""
    throws, (verb, _, name) = maker.each, effect["does"].partition(" ")
    made = maker.made[name]
    is_named = made.kinds["id"].given if "id" in made.kinds else False
    if verb not in ("create", "put") or (is_named and made.kinds["id"].type != "string") or throws.random() < 0.5:
        return effect
    items = throws.choice(["['a', 'b']", "['b', 'b']", "['b', 'a', 'c']", "[]"])
    texts = [field for field, kind in acting.kinds.items() if kind.type == "strings" and field in acting.fields]
    if texts and throws.random() < 0.6:
        items = f"this.{throws.choice(texts)}"
    own = {"id": "each"} if is_named else {}
    written = [field for field, kind in made.kinds.items() if kind.type == "string" and field != "id"]
    own |= {throws.choice(written): "each"} if written and throws.random() < 0.3 else {}
    return {**effect, "each": items, "sets": effect["sets"] | own}


def _effects_of(maker: Maker, acting: Made) -> Iterator[dict[str, Any]]:
    for made in maker.made.values():
        states = list((made.machine or {}).get("transitions", ()))
        sets = {
            name: {"integer": "2", "boolean": "true", "number": "1.5"}[kind.type]
            for name, kind in made.kinds.items()
            if kind.type in ("integer", "boolean", "number")
            and not {"computed", "immutable", "on change", "unique"} & made.fields[name].keys()
            and name not in made.primary_key
        }
        where = [f"{made.name}.{each} == this" for each, target in made.references.items() if target == acting.name]
        where += [f"{made.name} == this.{each}" for each, target in acting.references.items() if target == made.name]
        numbers = [each for each in sets if made.kinds[each].type == "integer"]
        where += [f"{made.name}.{each} > 3" for each in numbers if made is not acting]
        if made is not acting:
            same = [f"before.{acting.name}.{each} != this.{each}" for each in _numbers(maker, acting)]
            where += [f"{which} && {each}" for which in where[:1] for each in same]
        for which in where:
            if sets:
                yield {"does": f"update {made.name}", "where": which, "sets": sets}
            if numbers and made is not acting:
                raised = {numbers[0]: f"{made.name}.{numbers[0]} + 1"}
                yield {"does": f"update {made.name}", "where": which, "sets": raised}
            if made.name == "part":
                yield {"does": f"delete {made.name}", "where": which}
            for each in states:
                yield {"does": f"{each} {made.name}", "where": which}
        keys = [name for name, target in made.references.items() if target == acting.name]
        created = dict.fromkeys(keys, "this") | sets
        lacks = {each for each in made.required if "on create" not in made.fields[each]} - created.keys()
        # Each creation of a request is given the same random bits here, and no two rows have one identifier.
        again = made.fields.get("id", {}).get("on create") == "uuid()"
        if keys and not lacks and made.name != "user" and not again:
            yield {"does": f"create {made.name}", "sets": created}
            later = "now > timestamp('2026-01-01T01:00:00Z')"
            yield {"does": f"create {made.name}", "where": later, "sets": created}
        if made.name != "user" and made is not acting and lacks == {"id"}:
            yield {"does": f"put {made.name}", "sets": {"id": "'a'", **created}}
            if made.kinds["id"].type == "string":
                named = maker.each.choice(["string(now)", "'b'"])
                yield {"does": f"create {made.name}", "sets": {"id": named, **created}}


def _numbers(maker: Maker, made: Made) -> list[str]:
    return [name for name, kind in made.kinds.items() if kind.type == "integer" and name in made.fields]
