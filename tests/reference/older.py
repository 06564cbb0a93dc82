"""An older version as a document of its own (part 9): what the document of the version above it becomes by its changes,
one after another, and what becomes of the rows. Nothing is known here of contracts but what a document says."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Document: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Renamed:
    """A field that the version calls `to`."""

    resource: str
    field: str
    to: str


@dataclass(frozen=True)
class Removed:
    """A field that the version does not have. `value`: an expression, what a row that is created there has."""

    resource: str
    field: str
    value: str | None


@dataclass(frozen=True)
class Added:
    """A field of the version alone, which has no value."""

    resource: str
    field: str


@dataclass(frozen=True)
class Worked:
    """A field with another value: `shown` and `stored` are expressions over it, `value` in both. `was`, `schema`: what
    it is in the version, and above."""

    resource: str
    field: str
    shown: str
    stored: str
    was: Mapping[str, Any]
    schema: Mapping[str, Any]


RowChange: TypeAlias = Renamed | Removed | Added | Worked


def older(document: Document, none: Any) -> Iterator[tuple[str, Document, list[RowChange], dict[str, str]]]:
    """Each older version, newest first: its name, its document, how its rows differ from those of the version above it,
    and what its endpoints are there. `none`: how a document says that there is none."""
    above = copy.deepcopy(document)
    above["versioning"] = none
    renamed: list[tuple[str, str]] = []
    for name, stated in list(document["versioning"]["versions"].items())[1:]:
        below, rows = copy.deepcopy(above), list[RowChange]()
        # Every change calls things as the version above does, so that new names come last.
        listed = [] if stated["changes"] is none else stated["changes"]
        changes = sorted(listed, key=lambda change: "rename" in change)
        for change in changes:
            rows += _changed(below, change, renamed)
        renamed += [(each["rename"].partition(".")[2], each["to"]) for each in changes if _is_field(each)]
        keys = {change["rename"]: change["to"] for change in changes if "rename" in change}
        keys = {keys.get(key, key): key for key in above["endpoints"] if " /" in key}
        yield (
            name,
            _with_its_codes(_with_its_lines(below)),
            rows,
            {key: keys[key] for key in keys.keys() & below["endpoints"].keys()},
        )
        above = below


def _is_field(change: Mapping[str, Any]) -> bool:
    return "rename" in change and " " not in change["rename"] and "." in change["rename"]


def _changed(document: Document, change: Mapping[str, Any], renamed: list[tuple[str, str]]) -> list[RowChange]:
    verb = next(each for each in ("rename", "remove", "add", "change") if each in change)
    named = change[verb]
    if " " in named:
        endpoint, _, parameter = named.partition(".query.")
        _of_endpoint(document["endpoints"], document, verb, endpoint, parameter, change)
        return []
    resource, _, rest = named.partition(".")
    if not rest:
        _of_code(document, verb, named, change)
        return []
    if rest.startswith("views."):
        document["resources"][resource]["views"][rest.partition(".")[2]] = _as_above(change["was"], renamed)
        return []
    fields = document["resources"][resource]["fields"]
    match verb:
        case "rename":
            _replace(document, rest, change["to"])
            return [Renamed(resource, rest, change["to"])]
        case "remove":
            value = change.get("on create", fields[rest].get("on create"))
            _drop(document, resource, rest)
            return [Removed(resource, rest, value)]
        case "add" if "is" in change:
            fields[rest] = {**change["was"], "computed": _as_above(change["is"], renamed)}
            return []
        case "add":
            fields[rest] = {**change["was"]}
            return [Added(resource, rest)]
        case _ if "is" in change:
            schema = {name: said for name, said in fields[rest].items() if name not in change["was"]}
            own, was = fields[rest], change["was"]
            fields[rest] = {**{name: said for name, said in schema.items() if name not in _NARROWING}, **was}
            shown = change["is"].replace(f"{resource}.{rest}", "value")
            return [Worked(resource, rest, shown, change["stored"], was, own)]
        case _:
            fields[rest] |= change.get("was", {})  # what is stored is held to both
            fields[rest] |= {"on create": _as_above(change["on create"], renamed)} if "on create" in change else {}
            return []


_NARROWING = ("minimum", "maximum", "minLength", "maxLength", "pattern", "enum", "exclusiveMinimum", "multipleOf")


def _of_endpoint(
    endpoints: Document, document: Document, verb: str, key: str, parameter: str, change: Mapping[str, Any]
) -> None:
    if verb in ("rename", "remove") and not parameter:
        _counted(document["limits"], key, change.get("to"))
    match verb, parameter:
        case "rename", "":
            places = [endpoints, document["authentication"]["permissions"]]
            for each in places:
                if key in each:
                    each[change["to"]] = each.pop(key)
        case "rename", _:
            query = endpoints[key]["query"]
            endpoints[key]["query"] = {change["to"] if name == parameter else name: query[name] for name in query}
            _told_so(document, endpoints[key], f"invalid query.{parameter}", f"invalid query.{change['to']}")
        case "remove", "":
            del endpoints[key]
        case "remove", _:
            del endpoints[key]["query"][parameter]
        case "add", _:
            endpoints[key] = change["was"]
        case _:
            endpoints[key] = endpoints[key] | change["was"]


def _told_so(document: Document, endpoint: Document, condition: str, now: str) -> None:
    """What one endpoint's parameter is refused for has the code that it had, and no other parameter has it."""
    own = dict(endpoint.get("errors", {}))
    codes = document["errors"].get("codes") if isinstance(document["errors"], dict) else None
    for name, code in (codes or {}).items():
        if code.get("for") == condition and not {condition, "invalid"} & own.keys():
            own[now] = name
    if condition in own:
        own[now] = own.pop(condition)
    if own:
        endpoint["errors"] = own


def _counted(limits: Document, key: str, to: str | None) -> None:
    """A rate counts an endpoint under its other name, or where it has none does not; it is none where none is left."""
    rates = limits["rates"] if isinstance(limits["rates"], dict) else {}
    for name in [name for name, each in rates.items() if "endpoints" in each]:
        named = [to if each == key else each for each in rates[name]["endpoints"]]
        rates[name]["endpoints"] = [each for each in named if each is not None]
        if not rates[name]["endpoints"]:
            del rates[name]


def _of_code(document: Document, verb: str, name: str, change: Mapping[str, Any]) -> None:
    none = document["errors"]
    if not isinstance(none, dict):
        document["errors"] = {"error shape": none, "codes": {}}
    if verb == "add":
        document["errors"]["codes"] = {**document["errors"]["codes"], name: change["was"]}
        return
    codes = document["errors"]["codes"]
    match verb:
        case "rename":
            document["errors"]["codes"] = {change["to"] if each == name else each: codes[each] for each in codes}
            _answered(document, name, change["to"])
        case "remove":
            del codes[name]
            _answered(document, name, None)
        case _:
            codes[name] = codes[name] | change["was"]


def _answered(value: Any, code: str, to: str | None) -> None:
    """What has a code has another; None: that of its condition, or a bare status."""
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for each in inside:
        _answered(each, code, to)
    if not isinstance(value, dict):
        return
    for key in ("else", "errors"):
        named = value.get(key)
        if named == code and key == "else":
            value |= {key: to}
        elif isinstance(named, dict) and "codes" not in named:
            value[key] = {name: to if each == code else each for name, each in named.items()}
            value[key] = {name: each for name, each in value[key].items() if each is not None}
        if value.get(key, "") in (None, {}):
            del value[key]


def _as_above(expression: Any, renamed: list[tuple[str, str]]) -> Any:
    """What a change says in the document's names, in those of the version above."""
    holder = [expression]
    for field, to in renamed:
        _replace(holder, field, to)
    return holder[0]


def _replace(value: Any, field: str, to: str) -> None:
    """A field has another name wherever it goes by its name: names of fields are nothing else in these documents."""
    called = re.compile(rf"(?<![A-Za-z0-9_]){field}(?![A-Za-z0-9_])")
    _each(value, lambda text: called.sub(to, text))


def _each(value: Any, made: Callable[[str], str]) -> None:
    if isinstance(value, dict):
        for name in list(value):
            held = value.pop(name)
            value[made(name) if isinstance(name, str) else name] = made(held) if isinstance(held, str) else held
            _each(held, made)
    elif isinstance(value, list):
        for at, held in enumerate(value):
            value[at] = made(held) if isinstance(held, str) else held
            _each(held, made)


def _drop(document: Document, resource: str, field: str) -> None:
    """A field is in no list of fields, no filter reads it, no member shows it, and no order is by it."""
    of = document["resources"][resource]
    del of["fields"][field]
    _without(document, field, re.compile(rf"(?<![A-Za-z0-9_]){field}(?![A-Za-z0-9_])"))


def _without(value: Any, field: str, called: re.Pattern[str]) -> None:
    if isinstance(value, dict):
        for name, held in list(value.items()):
            if isinstance(held, str) and called.search(held):
                del value[name]
            else:
                _without(held, field, called)
    elif isinstance(value, list):
        value[:] = [each for each in value if each not in (field, f"-{field}")]
        for each in value:
            _without(each, field, called)


def _with_its_lines(document: Document) -> Document:
    """Lines of part 5 are of endpoints that the version has; what an older one adds has its line there too."""
    authentication = document["authentication"]
    permissions = {
        key: line
        for key, line in authentication["permissions"].items()
        if " /" not in key or key in document["endpoints"]
    }
    return {**document, "authentication": {**authentication, "permissions": permissions}}


_OF_A_GRANT = ("invalid grant_type", "invalid scope")
_OF_A_PARAMETER = re.compile(r" (path|query|header)\.(\S+)$")
_STATED = {"path": "path", "query": "query", "header": "request headers"}


def _with_its_codes(document: Document) -> Document:
    """A code for what is wrong with a parameter, or with a grant, is one for nothing where no endpoint has it."""
    errors = document["errors"]
    if not isinstance(errors, dict) or not isinstance(errors["codes"], dict):
        return document
    endpoints = [each for each in document["endpoints"].values() if isinstance(each, dict)]

    def is_of_some(code: Document) -> bool:
        condition = code.get("for", "")
        found = _OF_A_PARAMETER.search(condition)
        if found is not None:
            return any(found[2] in each.get(_STATED[found[1]], ()) for each in endpoints)
        return condition not in _OF_A_GRANT or any("grant" in each for each in endpoints)

    named = {code for each in endpoints for code in each.get("errors", {}).values()}
    codes = {
        name: code if is_of_some(code) else {key: said for key, said in code.items() if key != "for"}
        for name, code in errors["codes"].items()
        if name in named or is_of_some(code)
    }
    return {**document, "errors": {**errors, "codes": codes}}
