"""Endpoints that do what others do, otherwise asked for: cases, forms, values in paths, all rows."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.agreement import endpoints, lists
from tests.agreement.conditions import Made
from tests.agreement.maker import SCALARS, Maker
from tests.agreement.writing import NONE

FORM: Final = "application/x-www-form-urlencoded"

IN_A_CASE = ("does", "body", "patch", "sets", "check", "sort", "where", "headers", "responses")
"""What is taken into a case of what another endpoint says; entity tags in cases have tests of their own."""


def by_cases(maker: Maker, endpoints: dict[str, Any]) -> None:
    """Endpoints that do in each case what another does, with rows of another resource: which, a parameter says."""
    throws = maker.cases
    for method, tail in (("GET", "/{id}"), ("GET", ""), ("POST", ""), ("PATCH", "/{id}"), ("DELETE", "/{id}")):
        of = {name: f"{method} /{name}s{tail}" for name, made in maker.made.items() if made.primary_key == ["id"]}
        there = {name: endpoints[key] for name, key in of.items() if key in endpoints}
        # What reads the parameters of its own endpoint stays there.
        cases = {name: {key: said[key] for key in IN_A_CASE if key in said} for name, said in there.items()}
        cases = {name: said for name, said in cases.items() if "request.query" not in str(said)}
        if method == "GET" and not tail:
            cases = {name: said | {"responses": {200: {"data": "page.items"}}} for name, said in cases.items()}
        if not cases or throws.random() < 0.4:
            continue
        names = [*cases, "nothing"]
        if throws.random() < 0.5:
            cases["all others"] = cases.pop(throws.choice([*cases]))
        query = {"of": {"enum": names}}
        endpoints[f"{method} /things{tail}"] = {"query": query, "cases": {"by": "request.query.of", **cases}}


def by_forms(maker: Maker, endpoints: dict[str, Any]) -> None:
    """Endpoints that do what another does, by a form, or by JSON as well."""
    free = [name for made in maker.made.values() for name, kind in made.kinds.items() if kind.type == "size"]
    for key, said in list(endpoints.items()):
        body = said.get("body") if isinstance(said, dict) else None
        flat = isinstance(body, list) and not set(body) & set(free)
        if not flat or "cases" in said or maker.forms.random() < 0.6:
            continue
        media_types = maker.forms.choice([FORM, FORM, ["application/json", FORM]])
        own = said.get("requests", {}) | {"media type": media_types}
        endpoints[f"{key}/form"] = {**said, "requests": own}


def by_patches(maker: Maker, endpoints: dict[str, Any]) -> None:
    """Endpoints that change what another does, by JSON Patches."""
    for key, said in list(endpoints.items()) if maker.more else ():
        body = said.get("body") if isinstance(said, dict) else None
        if not (isinstance(body, list) or (isinstance(body, dict) and "$ref" not in body)):
            continue
        by_form = FORM in str(said.get("requests"))
        if said.get("patch") == "merge" and not by_form and "update all" not in str(said["does"]):
            endpoints[f"{key}/edits"] = said | {"patch": "json-patch"}


ANY: Final = {"type": ["string", "integer", "number", "boolean", "object", "array", "null"]}


def by_wholes(maker: Maker, endpoints: dict[str, Any]) -> dict[str, Any]:
    """Endpoints that do what another does, of which the body is a type that asks something of the whole; the types."""
    throws, types = maker.wholes, dict[str, Any]()
    for key, said in list(endpoints.items()):
        body = said.get("body") if isinstance(said, dict) else None
        does = str(said.get("does")) if isinstance(said, dict) else ""
        if not isinstance(body, list) or not body or "cases" in said or "{" in key.rpartition("/")[0]:
            continue
        if not does.startswith(("create ", "update ", "put ")) or throws.random() < 0.6:
            continue
        one, other = throws.choice(body), throws.choice(body)
        asked: dict[str, Any] = throws.choice(
            [
                {"minProperties": 1},
                {"maxProperties": 2},
                {"dependentRequired": {one: [other]}},
                {"anyOf": [{"required": [one]}, {"required": [other]}]},
                {"oneOf": [{"required": [one]}, {"minProperties": 2}]},
                {"not": {"required": [*{one: None, other: None}]}},
                {"if": {"required": [one]}, "then": {"required": [other]}, "else": {"maxProperties": 1}},
                {"propertyNames": {"maxLength": 3}, "minProperties": 1},
            ]
        )
        needed = {"required": [throws.choice(body)]} if throws.random() < 0.2 else {}
        name = f"whole_{len(types) + 1}"
        types[name] = {"type": "object", "properties": dict.fromkeys(body, ANY), **needed, **asked}
        endpoints[f"{key}/whole"] = {**said, "body": {"$ref": f"#/types/{name}"}}
    return types


def by_path_values(maker: Maker, found: dict[str, Any]) -> None:
    """Endpoints with a name in braces that is no field; what is wrong with it may have a code, in three ways."""
    throws = maker.paths
    for made in maker.made.values():
        if throws.random() < 0.5:
            continue
        numbers = [name for name, kind in made.kinds.items() if kind.type == "integer"]
        near: dict[str, Any] = {"type": "string", "maxLength": 4}
        endpoint: dict[str, Any] = {"does": "compute", "responses": {200: {"near": "request.path.near"}}}
        if numbers:
            near = {"type": "integer", "minimum": 0, "maximum": 40}
            endpoint = {
                "does": f"list {made.name}",
                "sort": made.primary_key,
                "where": f"{made.name}.{throws.choice(numbers)} >= request.path.near",
                "responses": {200: {"data": "page.items", "near": "request.path.near"}},
            }
        codes = sorted(name for name, code in maker.codes.items() if not {"headers", "detail"} & code.keys())
        match throws.randint(0, 3):
            case 0 | 1 if codes:
                endpoint["errors"] = {"not found path.near": throws.choice(codes)}
            case 2 if codes and "data" in endpoint["responses"][200]:
                endpoint["errors"] = {f"not found {made.name}": throws.choice(codes)}
        found[f"GET /{made.name}s/near/{{near}}"] = {**endpoint, "path": {"near": near}}


def by_parameters(maker: Maker, found: dict[str, Any]) -> None:
    """What is asked by parameters that have to be there, are JSON, or are headers."""
    throws = maker.asks
    if not maker.more or throws.random() < 0.3:
        return
    needed = {"required": True} if throws.random() < 0.6 else {}
    number = {"type": "integer", "minimum": 0, "maximum": 9}
    listed = {"type": "array", "items": throws.choice([number, {"type": "string"}])}
    found["GET /asked"] = {
        "does": "compute",
        "query": {"n": {**number, **needed}, "json": {"content": "application/json", **listed}},
        "request headers": {"Times": number | ({"required": True} if throws.random() < 0.4 else {})},
        "responses": {200: {"n": "request.query.n", "json": "request.query.json", "times": "request.headers.Times"}},
    }
    throws = maker.readings
    found["GET /asked/headers"] = {
        "does": "compute",
        "request headers": {
            "Else": {**number, "default": throws.choice([0, 7])},
            "Whole": {"content": "application/json", **listed},
            "Several": {"type": "array", "items": number, "maxItems": 2, "explode": throws.random() < 0.5},
        },
        "responses": {
            200: {
                "else": "request.headers.Else",
                "whole": "request.headers.Whole",
                "several": "request.headers.Several",
            }
        },
    }


def by_readings(maker: Maker, found: dict[str, Any]) -> None:
    """Endpoints of which requests are read, or errors told, otherwise than of the others."""
    throws = maker.readings
    shapes: list[Any] = [NONE, {"media type": "application/json", "body": {"own": "error.code", "all": "error.fields"}}]
    shapes += [{"media type": "text/json", "body": {"title": "error.title", "said": "error.messages"}}]
    for key, said in found.items() if maker.more else ():
        if " /" not in key or not isinstance(said, dict):
            continue
        own = {"unknown members": throws.choice(["refused", "ignored"])} if throws.random() < 0.3 else {}
        own |= {"unknown parameters": throws.choice(["refused", "ignored"])} if throws.random() < 0.3 else {}
        takes = isinstance(said.get("body"), list | dict) or "cases" in said
        own |= {"texts": "read"} if takes and throws.random() < 0.3 else {}
        if own:
            said["requests"] = said.get("requests", {}) | own
        if throws.random() < 0.2:
            said["error shape"] = throws.choice(shapes)
    if maker.more and throws.random() < 0.2:
        found["requests"]["texts"] = "read"


def if_there(maker: Maker, made: Made, found: dict[str, Any], one: str) -> None:
    """What deletes a row if there is one."""
    throws, name = maker.removes, made.name
    paths: dict[str, dict[str, Any]] = {f"DELETE {one}/there": {}}
    if name == "user" and maker.schemes:
        paths["DELETE /me/there"] = {"where": "user == caller.user"}
    for reference, target in made.references.items():
        if made.primary_key == ["id"] and maker.made[target].primary_key == ["id"]:
            paths[f"DELETE /{target}s/{{{reference}.id}}/{name}s/{{id}}/there"] = {}
    own = [each for each, kind in made.kinds.items() if not kind.computed and kind.type in SCALARS]
    shown = {"was": f"{name}.{made.primary_key[0]}", "left": f"all({name}).size()"}
    shown |= {"own": f"{name}.{throws.choice(own)}"} if own else {}
    for key, where in paths.items():
        if throws.random() < 0.4:
            continue
        responses = throws.choice(
            [
                {"deleted or absent": {200: shown}},
                {"deleted or absent": {204: NONE}},
                {"deleted": {200: shown}, "absent": {204: NONE}},
                {"deleted": {204: NONE}, "absent": {202: shown}},
            ]
        )
        check = {"check": {"that": "TO_MAKE"}} if throws.random() < 0.25 else {}
        numbers = [each for each in own if made.kinds[each].type == "integer"]
        if check:
            check["check"]["that"] = f"{name}.{throws.choice(numbers)} != 3" if numbers else f"all({name}).size() != 2"
        found[key] = {"does": f"delete {name}", **where, **check, "responses": responses}


def to_all(maker: Maker, made: Made, found: dict[str, Any], changeable: list[str]) -> None:
    """What is done to all rows."""
    throws, name = Random(f"all {maker.random.random()}"), made.name
    plain = [each for each in changeable if each not in made.kinds or made.kinds[each].type in SCALARS]
    plain = [each for each in plain if "secret" not in made.fields[each]]
    verbs = {"PATCH": f"update all {name}", "DELETE": f"delete all {name}"}
    verbs |= {f"POST {each}": f"{each} all {name}" for each in (made.machine or {}).get("transitions", ())}
    for key, does in verbs.items():
        if throws.random() > 0.3 or (key == "PATCH" and not plain):
            continue
        method, _, transition = key.partition(" ")
        endpoint: dict[str, Any] = {"does": does}
        if key == "PATCH":
            chosen = [each for each in plain if throws.random() < 0.6] or plain
            endpoint |= {"body": chosen, "patch": "merge"}
        elif transition:
            endpoint["body"] = NONE
        filters = {
            f"q{number}": each for number in range(2) if maker.often(0.5) and (each := lists.narrowing(maker, made))
        }
        endpoint |= {"query": filters} if filters else {}
        if throws.random() < 0.3:
            endpoint["where"] = maker.condition(made, name)
        shown: Any = throws.choice(
            ["page.items", {"count": "page.total"}, {"data": "page.items", "n": "page.items.size()"}]
        )
        endpoint["responses"] = {200: shown} if throws.random() < 0.8 else {204: NONE}
        path = f"/{name}s" + (f"/all/{transition}" if transition else "")
        found[f"{method} {path}"] = endpoints.guarded(maker, made, endpoint)
