"""Values of a request: from JSON, from text, and against a JSON Schema. By hand, keyword by keyword."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from ninefold.values import Anything, Array, Boolean, Integer, Number, Object, Row, Text, Timestamp, Type

Path = tuple[str | int, ...]


class Broken(Exception):
    """A rule that a value does not keep, and where in it."""

    def __init__(self, rule: str, path: Path = ()) -> None:
        super().__init__(rule)
        self.rule, self.path = rule, path


def read(type_: Type, value: Any, at: Path = ()) -> Any:
    """What is stored of a JSON value that its schema admits."""
    if value is None:
        return None
    match type_:
        case Timestamp():
            return timestamp(value, at)
        case Number():
            return number(value, at)
        case Integer():
            return integer(value, at)
        case Text():
            return text(value, at)
        case Array(items=items):
            return [read(items, item, (*at, index)) for index, item in enumerate(value)]
        case Object(members=members, others=others):
            return {
                name: read(members.get(name, others or Anything()), one, (*at, name)) for name, one in value.items()
            }
        case _:
            return anything(value, at)


def anything(value: Any, at: Path) -> Any:
    match value:
        case bool():
            return value
        case int():
            return integer(value, at)
        case float() | Fraction():
            return number(value, at)
        case str():
            return text(value, at)
        case list():
            return [anything(item, (*at, index)) for index, item in enumerate(value)]
        case dict():
            return {name: anything(one, (*at, name)) for name, one in value.items()}
        case _:
            return value


def integer(value: Any, at: Path = ()) -> int:
    whole = int(value)
    if whole != value:
        raise Broken("type", at)
    if not -(2**63) <= whole < 2**63:
        raise Broken("range", at)
    return whole


def number(value: Any, at: Path = ()) -> float:
    try:
        double = float(value)
    except OverflowError:
        raise Broken("range", at) from None
    if not math.isfinite(double):
        raise Broken("range", at)
    return double + 0.0


def text(value: str, at: Path = ()) -> str:
    if "\0" in value or any(0xD800 <= ord(character) <= 0xDFFF for character in value):
        raise Broken("range", at)
    return value


_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII)


def timestamp(value: str, at: Path = ()) -> str:
    found = _TIME.fullmatch(value)
    if found is None:
        raise Broken("format", at)
    date, time, fraction, sign, hours, minutes = found.groups()
    try:
        moment = datetime.strptime(f"{date} {time}", "%Y-%m-%d %H:%M:%S")
        if sign is not None:
            if int(hours) > 23 or int(minutes) > 59:
                raise ValueError("no such offset")
            offset = timedelta(hours=int(hours), minutes=int(minutes))
            moment += -offset if sign == "+" else offset
    except (ValueError, OverflowError):
        raise Broken("format", at) from None
    return moment.isoformat(timespec="seconds") + "." + ((fraction or "") + "000000")[:6] + "Z"


def from_text(type_: Type, written: str) -> Any:
    """The value that a text in a path or a query means."""
    match type_:
        case Integer():
            if re.fullmatch(r"-?(0|[1-9][0-9]*)", written, re.ASCII) is None:
                raise Broken("type")
            return integer(int(written))
        case Number():
            if re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", written, re.ASCII) is None:
                raise Broken("type")
            return number(float(written))
        case Boolean():
            if written not in ("true", "false"):
                raise Broken("type")
            return written == "true"
        case Timestamp():
            return timestamp(written)
        case Text() | Row() | Anything():
            return text(written)
        case _:
            raise Broken("type")


def parsed(data: bytes) -> Any:
    """JSON as RFC 8259 has it. Raises ValueError."""

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    def number(written: str) -> int | float | Fraction:
        """A double; an integer in 64 bits that none is, as itself; and so what is no integer, though its double is."""
        exact, value = Decimal(written), float(written)
        if value.is_integer() and exact != exact.to_integral_value():
            return Fraction(exact)
        is_kept = abs(value) <= 2.0**63 and exact == exact.to_integral_value() and exact != Decimal(value)
        return int(exact) if is_kept else value

    return json.loads(data.decode("utf-8"), parse_constant=refuse, parse_float=number)


# ── JSON Schema 2020-12, as far as the random contracts use it ────────────────────────────────────────────────


def broken_rules(schema: Mapping[str, Any], value: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every rule that a value does not keep, with its place, in the order in which the schema writes them. One that is
    too large is told to be so, and not looked into."""
    for keyword, kind in (("maxLength", str), ("maxItems", list), ("maxProperties", dict)):
        if keyword in schema and isinstance(value, kind) and len(value) > schema[keyword]:
            yield at, keyword
            return
    for keyword, said in schema.items():
        if keyword in ("allOf", "contains"):
            yield from (each for one in said for each in broken_rules(one, value, at)) if keyword == "allOf" else ()
        elif keyword not in ("items", "properties", "required", "additionalProperties", "minContains", "maxContains"):
            if not keeps(keyword, said, value):
                yield at, keyword
    if isinstance(value, list) and "contains" in schema:
        count = sum(not [*broken_rules(schema["contains"], item)] for item in value)
        if count < schema.get("minContains", 1) or count > schema.get("maxContains", count):
            yield at, "contains" if count < schema.get("minContains", 1) else "maxContains"
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from broken_rules(schema["items"], item, (*at, index))
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name, member in properties.items():
            if name in value:
                yield from broken_rules(member, value[name], (*at, name))
            elif name in schema.get("required", ()):
                yield (*at, name), "required"
        if schema.get("additionalProperties") is False:
            for name in value:
                if name not in properties:
                    yield (*at, name), "unknown"


def of_whole(schema: Mapping[str, Any], document: Any) -> Iterator[tuple[Path, str]]:
    """What an object does not keep of the rules about which members it has, and how many. What its members are, and
    which others there are, is asked elsewhere."""
    if not isinstance(document, dict):
        return
    if len(document) > schema.get("maxProperties", len(document)):
        yield (), "maxProperties"
        return
    for keyword, said in schema.items():
        match keyword:
            case "minProperties" if len(document) < said:
                yield (), keyword
            case "propertyNames" if any([*broken_rules(said, name)] for name in document):
                yield (), keyword
            case "anyOf" | "oneOf":
                kept = sum(not [*of_whole(each, document)] for each in said)
                if kept == 0 or (keyword == "oneOf" and kept > 1):
                    yield (), keyword
            case "not" if not [*of_whole(said, document)]:
                yield (), keyword
            case "if":
                holds = not [*of_whole(said, document)]
                yield from of_whole(schema.get("then" if holds else "else", {}), document)
            case "required":
                yield from (((name,), keyword) for name in said if name not in document)
            case "dependentRequired":
                brought = (name for one, names in said.items() if one in document for name in names)
                yield from (((name,), "required") for name in brought if name not in document)


def unnamed(schema: Mapping[str, Any], value: Any, at: Path = ()) -> Iterator[Path]:
    """The members that nothing names, at every depth."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unnamed(schema.get("items", {}), item, (*at, index))
    properties = schema.get("properties")
    if isinstance(value, dict) and properties is not None and schema.get("additionalProperties") is None:
        for name, one in value.items():
            yield from unnamed(properties[name], one, (*at, name)) if name in properties else [(*at, name)]


def only_named(schema: Mapping[str, Any], value: Any) -> Any:
    """A value without the members that nothing names, at every depth. Where no schema says which there are, all are."""
    if isinstance(value, list):
        return [only_named(schema.get("items", {}), item) for item in value]
    if not isinstance(value, dict):
        return value
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    if properties is None and others is None:
        return value
    named = {
        **(properties or {}),
        **({} if others is None else {name: others for name in value if name not in (properties or {})}),
    }
    return {
        name: only_named(named[name] if isinstance(named[name], dict) else {}, one)
        for name, one in value.items()
        if name in named
    }


def keeps(keyword: str, said: Any, value: Any) -> bool:
    if isinstance(value, Fraction) and not keeps(keyword, said, float(value)):
        return False  # it is kept as the double
    is_number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    match keyword:
        case "type":
            return any(is_of(kind, value) for kind in (said if isinstance(said, list) else [said]))
        case "enum":
            return any(alike(each, value) for each in said)
        case "const":
            return alike(said, value)
        case "minLength":
            return not isinstance(value, str) or len(value) >= said
        case "maxLength":
            return not isinstance(value, str) or len(value) <= said
        case "pattern":
            return not isinstance(value, str) or re.search(said, value) is not None
        case "format":
            return not isinstance(value, str) or is_in_form(said, value)
        case "minimum":
            return not is_number or value >= said
        case "maximum":
            return not is_number or value <= said
        case "exclusiveMinimum":
            return not is_number or value > said
        case "exclusiveMaximum":
            return not is_number or value < said
        case "multipleOf":
            # Of what is kept, the double: the server's validator is exact of no whole multiple.
            return not is_number or (float(value) if isinstance(value, Fraction) else value) % said == 0
        case "minItems":
            return not isinstance(value, list) or len(value) >= said
        case "maxItems":
            return not isinstance(value, list) or len(value) <= said
        case "minProperties":
            return not isinstance(value, dict) or len(value) >= said
        case "maxProperties":
            return not isinstance(value, dict) or len(value) <= said
        case "uniqueItems":
            if not said or not isinstance(value, list):
                return True
            return not any(alike(item, other) for at, item in enumerate(value) for other in value[:at])
        case "description" | "title":
            return True
        case _:
            raise NotImplementedError(keyword)


def is_of(kind: str, value: Any) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            if isinstance(value, float):
                return value.is_integer()
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float | Fraction) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def alike(one: Any, other: Any) -> bool:
    """Equality of JSON values: 1 and 1.0 are one number, and no truth value is a number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(alike(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[name]) for name, value in one.items())
    return bool(one == other)


def is_in_form(form: str, value: str) -> bool:
    match form:
        case "uuid":
            return re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value) is not None and bool(
                UUID(value)
            )
        case "date-time":
            try:
                timestamp(value)
            except Broken:
                return False
            return True
        case "date":
            try:
                datetime.strptime(value, "%Y-%m-%d")
            except ValueError:
                return False
            return re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII) is not None
        case _:
            raise NotImplementedError(form)
