"""Random lists: filters, orders, pages, and what a request may choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.agreement import errors
from tests.agreement.conditions import Made
from tests.agreement.maker import SCALARS, Maker
from tests.agreement.writing import NONE


def listed(maker: Maker, made: Made) -> dict[str, Any]:
    sortable = [name for name, kind in made.kinds.items() if kind.type in SCALARS]
    query: dict[str, Any] = {}
    keys = maker.random.sample(sortable, min(len(sortable), maker.random.randint(1, 2))) or made.primary_key
    sort = [maker.random.choice(["", "-"]) + key for key in keys]
    if sortable and maker.often(0.6):
        query["sort"] = {"sorts": [maker.random.choice(["", "-"]) + key for key in sortable[:3]]}
        _orders(maker.orders, sortable, query)
    endpoint: dict[str, Any] = {"does": f"list {made.name}", "sort": sort, "query": query}
    query |= {f"q{number}": each for number in range(3) if maker.often(0.5) and (each := narrowing(maker, made))}
    if maker.often(0.2):
        endpoint["where"] = maker.condition(made, made.name)
    numbers = [name for name, kind in made.kinds.items() if kind.type == "integer"]
    if numbers and maker.often(0.3):
        query["least"] = {"type": "integer", "minimum": 0}
        if maker.often(0.5):
            endpoint["errors"] = {"invalid query.least": errors.coded(maker, "too_little")}
        endpoint["where"] = f"!has(request.query.least) || {made.name}.{numbers[0]} >= request.query.least"
    if maker.often(0.4):
        endpoint["pages"] = pages(maker)
    view = next(iter(made.more.get("views", ())), None)
    items = f"{view}(page.items)" if view and maker.often(0.5) else "page.items"
    whole = {"data": items, "next": "page.next", "total": "page.total", "count": "page.items.size()"}
    if endpoint.get("pages", {}) != NONE and (own := endpoint.get("pages")):
        told = ["size"] if own["by"] == "cursor" else ["size", "start", "previous"]
        whole |= {each: f"page.{each}" for each in told}
        if isinstance(own.get("at"), str) and own["at"] != NONE:
            whole["link"] = "page.at('a b')" if own["by"] == "cursor" else "page.at(page.next)"
    if not maker.often(0.6):
        whole = {name: value for name, value in whole.items() if name == "data" or maker.often(0.5)}
    endpoint["responses"] = {200: whole}
    choices(maker, made, endpoint)
    return endpoint


def choices(maker: Maker, made: Made, endpoint: dict[str, Any]) -> None:
    """What a request may choose of what is shown."""
    throws = maker.choices
    shown = endpoint["responses"][200]
    text = str(shown if isinstance(shown, str) else shown.get("data", shown.get("it", "")))
    members = list(shown) if isinstance(shown, dict) and not text else [*made.fields]
    if "(" in text:
        members = [
            name
            for each in made.more["views"][text.partition("(")[0]]
            for name in (each if isinstance(each, dict) else [each])
        ]
    members = [name for name in members if name != "secret_key"]
    if members and throws.random() < 0.35:
        fields = {"selects": throws.sample(members, throws.randint(1, len(members))), **_explode(maker)}
        if throws.random() < 0.3:
            fields["always"] = [throws.choice(members)]
        endpoint.setdefault("query", {})["fields"] = fields
    if made.references and throws.random() < 0.35:
        offered: Any = list(made.references)
        if throws.random() < 0.5:
            views = {
                name: next(iter(maker.made[each].more.get("views", ())), None) for name, each in made.references.items()
            }
            offered = {
                name: throws.choice([each, each if views[name] is None else f"{views[name]}({made.name}.{name})"])
                for name, each in made.references.items()
            }
        endpoint.setdefault("query", {})["expand"] = {"expands": offered, **_explode(maker)}
    if not endpoint.get("query", True):
        del endpoint["query"]


def _explode(maker: Maker) -> dict[str, Any]:
    return {"explode": maker.choices.choice([True, False])}


def narrowing(maker: Maker, made: Made) -> Any:
    names = [name for name, kind in made.kinds.items() if kind.type not in ("reference", "size")]
    if made.references and maker.often(0.2):
        reference = maker.random.choice(list(made.references))
        return maker.random.choice([f"{made.name}.{reference} == value", f"{made.name}.{reference}.id == value"])
    if not names:
        return None
    name = maker.random.choice(names)
    read = f"{made.name}.{name}"
    match made.kinds[name].type:
        case "strings" | "integers":
            return f"value in {read}"
        case "integer" | "number" | "date-time" | "string":
            if maker.often(0.2):
                return {"where": f"{read} in value", "explode": maker.random.choice([True, False])}
            if maker.often(0.1) and made.kinds[name].type == "integer":
                return {"where": f"{read} >= value", **maker.random.choice([{"default": 1}, {"type": "integer"}])}
            return f"{read} {maker.random.choice(['==', '<', '>=', '!='])} value"
        case _:
            return f"{read} == value"


def pages(maker: Maker) -> Any:
    match maker.random.randint(0, 4):
        case 0:
            return NONE
        case 1 | 2:
            by = maker.random.choice(["offset", "page"])
        case _:
            by = "cursor"
    return {
        "by": by,
        "default": maker.random.choice([1, 2, 3]),
        **maker.random.choice([{}, {}, {"minimum": 0}]),
        "maximum": maker.random.choice([3, 5, NONE]),
        **maker.orders.choice([{}, {}, {"clamps": True}, {"clamps": False}]),
        **({} if by == "cursor" else {"first": maker.random.choice([0, 1])}),
        "size": "limit",
        "at": by,
    }


def _orders(throws: Random, sortable: Sequence[str], query: dict[str, Any]) -> None:
    """Names of their own, several at once, and what turns an order round."""
    sort, signs = query["sort"], ["", "-"]
    if throws.random() < 0.4:
        some = throws.sample(sortable, throws.randint(1, min(len(sortable), 2)))
        named = {f"by_{number}": key for number, key in enumerate(sort["sorts"])}
        sort["sorts"] = {**named, "mixed": [throws.choice(signs) + key for key in some]}
    elif throws.random() < 0.6:
        sort["sorts"] = [sign + key for key in sortable[:3] for sign in signs]
    if throws.random() < 0.5:
        sort |= {"type": "array", "explode": throws.random() < 0.5}
    if throws.random() < 0.4:
        query["way"] = throws.choice(
            [
                {"type": "string", "enum": ["asc", "desc"], "reverses": ["desc"]},
                {"type": "boolean", "default": True, "reverses": ["true"]},
                {"reverses": ["down", "back"]},
            ]
        )


def by_sight(random: Random, endpoints: dict[str, Any], made: Mapping[str, Made]) -> None:
    """A list of the rows of which something is so of others, as far as the caller sees them."""
    if random.random() > 0.12:
        return
    level = random.choice([1, 3, 5])
    wheres = [
        f"all(user).exists(u, u == item.owner && u.level > {level})",
        f"!all(user).exists(u, u.level > {level})",
        *(["item.parts.size() > 0", "!item.parts.exists(p, p.maker == item.owner)"] if "part" in made else []),
    ]
    endpoints["GET /seen"] = {
        "does": "list item",
        "where": random.choice(wheres),
        "sort": made["item"].primary_key,
        "pages": NONE,
        "responses": {200: "page.items"},
    }
