"""Random endpoints: what can be done with the rows of a resource, one at a time."""

from __future__ import annotations

from typing import Any, Final

from tests.agreement import beside, errors, fields, lists
from tests.agreement.conditions import Made
from tests.agreement.maker import Maker
from tests.agreement.writing import NONE

_CREATES: Final = {"created": 201, "unchanged": 200}
_OUTCOMES: Final = (
    {"created": 201, "replaced or unchanged": 200},
    {"created": 201, "replaced": 200},
    _CREATES,
    {"replaced": 200, "unchanged": 202},
    {"created": 201},
    {"unchanged": 200},
)
"""What `put` answers. `replaced` alone is thrown besides."""


def endpoints(maker: Maker) -> dict[str, Any]:

    def ignored() -> str:
        return maker.random.choice(["refused", "ignored"])

    found: dict[str, Any] = {
        "requests": {
            "media type": "application/json",
            "unknown members": ignored(),
            "unknown parameters": ignored(),
        },
        "produces": "application/json",
    }
    if maker.often(0.2):
        found = {"base": "/api/v0", **found}
    for made in maker.made.values():
        _endpoints_of(maker, made, found)
    if maker.schemes and maker.often(0.5):
        _of_the_caller(maker, found)
    if maker.often(0.3):
        found["GET /statistics"] = {
            "does": "compute",
            "responses": {200: {"users": "all(user).size()", "names": "all(user).map(u, u.name).sort()"}},
        }
    return found


def doing(maker: Maker, made: Made, verb: str) -> str | list[str]:
    """The verb, now and then with transitions that may follow it."""
    does = [f"{verb} {made.name}"]
    transitions = {} if made.machine is None else made.machine["transitions"]
    state = made.machine["initial"] if made.machine is not None and verb == "create" else None
    state = transitions[verb]["to"] if verb in transitions else state
    while maker.steps.random() < 0.3:
        leading = [
            name
            for name, each in transitions.items()
            if state is None or state in (each["from"] if isinstance(each["from"], list) else [each["from"]])
        ]
        if not leading:
            break
        taken = maker.steps.choice(leading)
        does.append(f"{taken} {made.name}")
        state = transitions[taken]["to"]
    return does if len(does) > 1 else does[0]


def _of_the_caller(maker: Maker, found: dict[str, Any]) -> None:
    user = maker.made["user"]
    found["GET /me"] = {
        "does": "read user",
        "where": "user == caller.user",
        "responses": {200: showing(maker, user)},
    }
    changeable = [each for each, kind in user.kinds.items() if kind.given and each not in user.primary_key]
    if changeable and maker.often(0.7):
        patch = {"does": "update user", "where": "user == caller.user", "body": changeable, "patch": "merge"}
        found["PATCH /me"] = guarded(maker, user, patch | {"responses": {200: showing(maker, user)}})


def _endpoints_of(maker: Maker, made: Made, found: dict[str, Any]) -> None:
    name, paths = made.name, f"/{made.name}s"
    key = "/".join("{" + each + "}" for each in made.primary_key)
    if len(made.primary_key) > 1:
        key = "{item.id}/{maker.id}"
    one = f"{paths}/{key}"
    body = [each for each, kind in made.kinds.items() if kind.given and not kind.computed]
    if maker.often(0.9):
        token = {"token": "issued.secret_key"} if "secret_key" in made.fields else {}
        created: Any = {"made": name, **token} if token else showing(maker, made)
        endpoint: dict[str, Any] = {"does": doing(maker, made, "create"), "body": taken(maker, made, body)}
        endpoint["responses"] = {201: created}
        if maker.often(0.4) and made.primary_key == ["id"]:
            shown = f"{name}.id" if made.kinds["id"].type == "string" else f"string({name}.id)"
            endpoint["headers"] = {"Location": f"'{paths}/' + {shown}"}
        found[f"POST {paths}"] = guarded(maker, made, endpoint)
    if maker.often(0.9):
        found[f"GET {paths}"] = lists.listed(maker, made)
    changeable = [each for each in body if each not in made.primary_key]
    # A response that shows more than the row itself can have no entity tag.
    plain = not any(kind.computed for kind in made.kinds.values())
    plain = plain and not any(said.get("on delete") == "set null" for said in made.fields.values())
    etag = {"etag": True} if plain and maker.often(0.5) else {}

    def content() -> Any:
        return name if etag else showing(maker, made)

    if maker.often(0.9):
        found[f"GET {one}"] = {"does": f"read {name}", **etag, "responses": {200: content()}}
        if not etag:
            lists.choices(maker, made, found[f"GET {one}"])
    if changeable and maker.often(0.8):
        found[f"PATCH {one}"] = guarded(
            maker,
            made,
            {
                "does": doing(maker, made, "update"),
                "body": taken(maker, made, [each for each in changeable if maker.often(0.8)] or changeable),
                "patch": "merge",
                **etag,
                "responses": {200: content()},
            },
        )
        if maker.often(0.2):
            sets = fields.sets(maker, made).get("sets", {})
            named = found[f"PATCH {one}"]["body"]
            sets = {name: value for name, value in sets.items() if name not in str(named)}
            found[f"PATCH {one}"] |= {"sets": sets} if sets else {}
    replaceable = [each for each in changeable if not _is_given_once(made, each)]
    if replaceable and maker.often(0.5):
        found[f"PUT {one}"] = guarded(
            maker,
            made,
            {
                "does": doing(maker, made, "put"),
                "body": taken(maker, made, replaceable),
                **etag,
                "responses": {"replaced": {200: content()}},
            },
        )
    serial = any(made.fields[each].get("on create") == "serial()" for each in made.primary_key)
    if changeable and not serial and len(made.primary_key) == 1 and maker.puts.random() < 0.4:
        stated = maker.puts.choice(_OUTCOMES)
        if replaceable != changeable and any("replaced" in outcomes for outcomes in stated):
            stated = _CREATES
        found[f"PUT {one}"] = guarded(
            maker,
            made,
            {
                "does": f"put {name}",
                "body": taken(maker, made, changeable),
                **etag,
                "responses": {outcomes: {status: content()} for outcomes, status in stated.items()},
            },
        )
    if maker.to_all:
        beside.to_all(maker, made, found, changeable)
    if maker.often(0.7):
        response = maker.random.choice([{204: NONE}, {200: {"was": f"{name}.{made.primary_key[0]}"}}])
        found[f"DELETE {one}"] = guarded(maker, made, {"does": f"delete {name}", **etag, "responses": response})
    if maker.more:
        beside.if_there(maker, made, found, one)
    for transition in (made.machine or {}).get("transitions", ()):
        endpoint = {"does": doing(maker, made, transition), "body": NONE, "responses": {200: showing(maker, made)}}
        found[f"POST {one}/{transition}"] = guarded(maker, made, endpoint)
    for reference, target in made.references.items():
        if maker.often(0.4) and maker.made[target].primary_key == ["id"]:
            nested = "/" + target + "s/{" + reference + ".id}" + paths
            found[f"GET {nested}"] = lists.listed(maker, made)
            if maker.often(0.6):
                rest = [each for each in body if each != reference]
                endpoint = {"does": f"create {name}", "body": taken(maker, made, rest)}
                found[f"POST {nested}"] = guarded(maker, made, endpoint | {"responses": {201: showing(maker, made)}})
            if made.primary_key == ["id"] and maker.often(0.5):
                found[f"GET {nested}/" + "{id}"] = {"does": f"read {name}", "responses": {200: showing(maker, made)}}


def _is_given_once(made: Made, field: str) -> bool:
    """Whether no body that may replace a row can give it, and none that may make one can leave it out (NF0503)."""
    said = made.fields[field]
    return field in made.required and "immutable" in said and "on create" not in said


def taken(maker: Maker, made: Made, fields: list[str]) -> Any:
    return {made.name: fields} if maker.often(0.15) else fields


def guarded(maker: Maker, made: Made, endpoint: dict[str, Any]) -> dict[str, Any]:
    if maker.often(0.15):
        endpoint["idempotency key"] = maker.random.choice(["optional", "optional", "required"])
    if maker.often(0.25):
        endpoint["check"] = {"that": maker.condition(made, made.name)}
        if maker.often(0.6):
            endpoint["check"]["else"] = errors.coded(maker, "not_now", made)
    if maker.codes and maker.often(0.1):
        endpoint["errors"] = {
            maker.random.choice(["not found", "invalid", "conflict"]): maker.random.choice([*maker.codes])
        }
    return endpoint


def through(row: str, field: str) -> dict[str, str]:
    """What is shown of a row that may not be there: left out where it has no value, or null."""
    read = f"{row}.{field}"
    return {
        "through": read,
        "said": f"nullable(has({read}) ? {read} : null)",
        "chosen": f"nullable(has({read}) ? {{'it': {read}, 'no': null}} : null)",
        "listed": f"[nullable(has({row}) ? {{'it': nullable(has({read}) ? {read} : null)}} : null), {read}]",
    }


def showing(maker: Maker, made: Made) -> Any:
    name = made.name
    if "views" in made.more and maker.often(0.5):
        view = next(iter(made.more["views"]))
        return maker.random.choice([f"{view}({name})", {"data": f"{view}({name})"}])
    match maker.random.randint(0, 4):
        case 0:
            chosen = maker.random.sample(list(made.kinds), min(2, len(made.kinds)))
            members: dict[str, Any] = {each: f"{name}.{each}" for each in chosen}
            if made.references and maker.often(0.6):
                reference, target = maker.random.choice(list(made.references.items()))
                field_ = maker.random.choice(list(maker.made[target].kinds))
                members |= through(f"{name}.{reference}", field_)
            return members
        case 1:
            return {"it": name, "at": "now"} if maker.often(0.5) else {"it": name}
        case _:
            return name
