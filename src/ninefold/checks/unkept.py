"""Schemas that no value keeps, since they contradict themselves or each other. Only what is sure is told: a keyword
that is not looked at may be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, Final, TypeAlias

import jsonschema_rs

from ninefold.checked.bodies import BodyLeaf
from ninefold.checked.resources import Resource
from ninefold.checks.findings import Findings
from ninefold.contract.shared_types import types_in
from ninefold.diagnostics.codes import NEEDED_AND_UNKEPT, UNKEPT
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.language.fact import value_of
from ninefold.language.schemas import Schema
from ninefold.values import GREATEST_INTEGER, LEAST_INTEGER

_DEEPEST: Final = 12

_Parts: TypeAlias = Sequence[Mapping[str, Any]]
"""Schemas of which a value has to keep all."""

Place: TypeAlias = tuple[str, ...]
"""Names of members, and `*` for items."""


def check_kept(findings: Findings) -> None:
    """Says of the schemas of shared types, fields and parameters that no value keeps them, or what stands in them. What
    a type is told of, is not told of what refers to it."""
    types, told = findings.contract.shared_types, set[str]()
    for name in types.bounded:
        schema = value_of(types.by_name[name].schema)
        if schema is not None and told.isdisjoint(types_in(schema.json)):
            if _say(name, schema, types.by_name[name].span, False, findings):
                told |= types.using(name)
    for called, each, span, needed in (*_of_fields(findings), *_of_parameters(findings)):
        within = set(types_in(each.json))
        if types.bounded.keys() >= within and told.isdisjoint(within):
            _say(called, each, span, needed, findings)


def _of_fields(findings: Findings) -> Iterator[tuple[str, Schema, Span, bool]]:
    for resource in findings.resources:
        needed = {each.text for each in value_of(resource.required) or ()}
        for field in value_of(resource.fields) or ():
            called = f"{resource.name}.{field.called or field.name}"
            seen = None if field.seen is None else field.seen.schema
            for schema in filter(None, (value_of(field.schema), seen)):
                yield called, schema, field.span if schema is not seen else seen.node.span, field.name in needed


def _of_parameters(findings: Findings) -> Iterator[tuple[str, Schema, Span, bool]]:
    for endpoint in findings.survey.endpoints:
        for fact in (endpoint.path, endpoint.query, endpoint.request_headers):
            for each in value_of(fact) or ():
                if each.content is None:
                    continue  # what no text can be, no request can give: it is told there
                yield each.name, each.schema, each.span, each.is_required


def _say(called: str, schema: Schema, span: Span, needed: bool, findings: Findings) -> bool:
    found = list(unkept(findings.schemas.inlined(schema.json)))
    for path, why in found:
        inner, label = ".".join((called, *path)), Label(span, why)
        if needed and not path:
            findings.say(NEEDED_AND_UNKEPT, f"`{inner}` is required, and no value keeps its schema", label)
        else:
            findings.say(UNKEPT, f"no value keeps the schema of `{inner}`", label)
    return bool(found)


def check_beside(leaf: BodyLeaf, resource: Resource, span: Span, findings: Findings) -> None:
    """Says of a field that no value is as it says and as the shared type says that is the body."""
    beside, given = leaf.beside, resource.fields[leaf.field]
    if beside is None or given.references is not None:
        return
    seen = given.seen
    own = [given.schema] if seen is None or seen.stored is None else []
    own += [seen.schema] if seen is not None and seen.schema is not None else []
    alone = [beside.schema, *own]
    why = why_none(*alone)
    if why is None or any(why_none(each) is not None for each in alone):
        return  # of one alone it has been told
    name = leaf.pointer[-1]
    message = f"no value of `{name}` is as `{resource.name}.{given.called}` and the type of the body say"
    label = Label(span, f"of `{name}`: {why}")
    code = NEEDED_AND_UNKEPT if beside.required or given.required else UNKEPT
    findings.say(code, message, label)


def unkept(*all_of: Any, path: Place = ()) -> Iterator[tuple[Place, str]]:
    """The outermost places in schemas, all of which a value has to keep, that no value can have, and why. What is
    `false` says so itself."""
    parts = _parts(all_of)
    if parts is None or len(path) > _DEEPEST:
        return
    why = why_none(*all_of)
    if why is not None:
        yield path, why
        return
    for name in dict.fromkeys(name for each in parts for name in each.get("properties", ())):
        yield from unkept(*_of_member(parts, name), path=(*path, name))
    if any("items" in each for each in parts):
        yield from unkept(*_of_item(parts, None), path=(*path, "*"))


def why_none(*all_of: Any, depth: int = 0) -> str | None:
    """Why no value keeps all of some schemas; None: some value may."""
    parts = _parts(all_of)
    if parts is None:
        return "`false` admits nothing"
    if depth > _DEEPEST:
        return None
    listed = next((each for each in parts if "const" in each or "enum" in each), None)
    if listed is not None:
        return _of_listed(listed, parts)
    kinds = _kinds(parts)
    reasons = [_OF_KIND[each](parts, depth) if each in _OF_KIND else None for each in kinds]
    if not kinds:
        return "no value is of all these types"
    found = [each for each in reasons if each is not None]
    return "; ".join(dict.fromkeys(found)) if len(found) == len(reasons) else _of_alternatives(parts, depth)


def _parts(all_of: Sequence[Any]) -> _Parts | None:
    """The schemas, with those that stand in `allOf`; None: one of them is `false`."""
    found: list[Mapping[str, Any]] = []
    for each in all_of:
        if each is False or (isinstance(each, dict) and each.get("not", False) in ({}, True)):
            return None
        inner = _parts(each.get("allOf", ())) if isinstance(each, dict) else ()
        if inner is None:
            return None
        found += [*([each] if isinstance(each, dict) else ()), *inner]
    return found


def _of_listed(listed: Mapping[str, Any], parts: _Parts) -> str | None:
    keyword = "const" if "const" in listed else "enum"
    values = listed["enum"] if keyword == "enum" else [listed["const"]]
    if "number" not in _kinds(parts):
        values = [each for each in values if not isinstance(each, int) or LEAST_INTEGER <= each <= GREATEST_INTEGER]
    try:
        keeps = jsonschema_rs.Draft202012Validator({"allOf": [*parts]}, validate_formats=True).is_valid
        is_kept = any(map(keeps, values))
    except (ValueError, jsonschema_rs.ReferencingError):
        return None
    return None if is_kept else f"nothing that `{keyword}` says keeps the rest"


def _of_alternatives(parts: _Parts, depth: int) -> str | None:
    """Whether a value can keep the rest and one of `anyOf`, or of `oneOf`."""
    rest = [{key: said for key, said in each.items() if key not in ("allOf", "anyOf", "oneOf")} for each in parts]
    for each in parts:
        for keyword in ("anyOf", "oneOf"):
            if keyword in each and all(why_none(*rest, one, depth=depth + 1) for one in each[keyword]):
                return f"nothing that `{keyword}` says keeps the rest"
    return None


# ── By type ───────────────────────────────────────────────────────────────────────────────────────────────────

_KINDS: Final = ("string", "number", "array", "object", "boolean", "null")


def _kinds(parts: _Parts) -> list[str]:
    """The JSON types that a value may have; `integer` where no other number is one."""
    found = {"integer", *_KINDS}
    for each in parts:
        if "type" in each:
            named = {each["type"]} if isinstance(each["type"], str) else {*each["type"]}
            found &= named | ({"integer"} if "number" in named else set())
    return [each for each in (*_KINDS, "integer") if each in found and (each != "integer" or "number" not in found)]


def _numbers(parts: _Parts, keyword: str) -> list[Any]:
    said = [each[keyword] for each in parts if keyword in each]
    return [each for each in said if isinstance(each, int | float) and not isinstance(each, bool)]


def _counted(least: str, most: str) -> Callable[[_Parts, int], str | None]:
    def of_kind(parts: _Parts, _depth: int) -> str | None:
        low, high = max(_numbers(parts, least), default=0), min(_numbers(parts, most), default=None)
        return f"`{least}` is {low}, and `{most}` {high}" if high is not None and low > high else None

    return of_kind


_LOW: Final = ("minimum", "exclusiveMinimum")
_HIGH: Final = ("maximum", "exclusiveMaximum")


def _between(whole: bool) -> Callable[[_Parts, int], str | None]:
    """Whether there is a number between the bounds, and a multiple of each step."""

    def of_kind(parts: _Parts, _depth: int) -> str | None:
        lows = [(Fraction(str(each)), f"`{key}`") for key in _LOW for each in _numbers(parts, key)]
        highs = [(Fraction(str(each)), f"`{key}`") for key in _HIGH for each in _numbers(parts, key)]
        steps = [Fraction(str(each)) for each in _numbers(parts, "multipleOf") if each > 0]
        if whole:
            lows.append((Fraction(LEAST_INTEGER), "the least integer"))
            highs.append((Fraction(GREATEST_INTEGER), "the greatest integer"))
            steps = [Fraction(1), *(Fraction(each.numerator) for each in steps)]
        if not lows or not highs:
            return None
        low, by_low = max(lows, key=lambda bound: (bound[0], _is_strict(bound[1])))
        high, by_high = min(highs, key=lambda bound: (bound[0], not _is_strict(bound[1])))
        words = f"{by_low} is {_told(low)}, and {by_high} {_told(high)}"
        if _is_beyond(low, by_low, high, by_high):
            return words
        for step in steps:
            first = ceil(low / step) * step
            first += step if _is_strict(by_low) and first == low else 0
            if _is_beyond(first, "", high, by_high):
                return f"{words}: no {'whole number' if step == 1 else f'multiple of {_told(step)}'} is between"
        return None

    return of_kind


def _is_strict(keyword: str) -> bool:
    return keyword.startswith("`exclusive")


def _is_beyond(low: Fraction, by_low: str, high: Fraction, by_high: str) -> bool:
    return low > high or (low == high and (_is_strict(by_low) or _is_strict(by_high)))


def _told(number: Fraction) -> str:
    return str(number.numerator if number.denominator == 1 else float(number))


def _of_arrays(parts: _Parts, depth: int) -> str | None:
    miscounted = _counted("minItems", "maxItems")(parts, depth)
    if miscounted is not None:
        return miscounted
    first = max((len(each.get("prefixItems", ())) for each in parts), default=0)
    for index in range(min(int(max(_numbers(parts, "minItems"), default=0)), first + 1)):
        if (why := why_none(*_of_item(parts, index), depth=depth + 1)) is not None:
            return f"it needs items, which nothing can be: {why}"
    return None


def _of_item(parts: _Parts, index: int | None) -> list[Any]:
    """What an item has to keep; None: one behind those that are stated one by one."""
    found = []
    for each in parts:
        first = each.get("prefixItems", ())
        stated = first[index] if index is not None and index < len(first) else each.get("items", True)
        found.append(stated)
    return found


def _of_objects(parts: _Parts, depth: int) -> str | None:
    miscounted = _counted("minProperties", "maxProperties")(parts, depth)
    if miscounted is not None:
        return miscounted
    needed = dict.fromkeys(name for each in parts for name in each.get("required", ()))
    most = min(_numbers(parts, "maxProperties"), default=None)
    if most is not None and len(needed) > most:
        return f"{len(needed)} members are required, and `maxProperties` is {most}"
    for name in needed:
        if False in (stated := _of_member(parts, name)):
            return f"`{name}` is required, and is no member"
        if (why := why_none(*stated, depth=depth + 1)) is not None:
            return f"`{name}` is required, and nothing can be it: {why}"
    return None


def _of_member(parts: _Parts, name: str) -> list[Any]:
    """What a member has to keep. What patterns say of names is not looked at."""
    found = []
    for each in parts:
        stated = each.get("properties", {})
        if name in stated:
            found.append(stated[name])
        elif "patternProperties" not in each:
            found.append(each.get("additionalProperties", True))
    return found


_OF_KIND: Final[Mapping[str, Callable[[_Parts, int], str | None]]] = {
    "string": _counted("minLength", "maxLength"),
    "number": _between(whole=False),
    "integer": _between(whole=True),
    "array": _of_arrays,
    "object": _of_objects,
}
