"""How long it takes at most to hold a value to a schema, by its length: known before there is any value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from ninefold.runtime.messages.among import is_dear
from ninefold.values import patterns
from ninefold.values.keywords import BY_NAME, EACH, OF_ITEMS, OF_MEMBERS, SAME_VALUE, UNEVALUATED
from ninefold.values.pointers import tokens

Asked: TypeAlias = list[tuple[Any, int]]
"""Schemas of one value, and how often it is held to each."""

_WEIGHED: Final = frozenset({"anyOf", "oneOf", "if"})

_ITEM: Final = 2
_MEMBER: Final = 5
"""Bytes of JSON that bring a value about, with what stands around: `1,` and `"":1,`."""

_BY_ITSELF: Final = 80
"""Where members are left out that no schema names, it is asked of each that is weighed whether a value keeps it."""


def own(schema: dict[str, Any]) -> int:
    """About how much is done for a value, but for its items, its members and what other schemas inside this one ask of
    it, in units of 10 ns."""
    work = 0
    for key, value in schema.items():
        match key:
            case "enum":
                work += 60 if is_dear(value) else 2 + 8 * any(not isinstance(each, str) for each in value)
            case "const":
                work += 2 if isinstance(value, str) else 10
            case "dependentRequired":
                work += len(value)
            case "multipleOf":
                work += 1_000  # it is exact, whatever the exponent
            case "pattern" | "format" | "uniqueItems":
                work += 5
            case _ if key not in SAME_VALUE and key != "properties":
                work += 1
    return work


def per_byte(schema: Any, drops: bool = False) -> int:
    """Units of 10 ns that each byte of a value takes at most. `drops`: members that nothing names are left out."""
    return _Weight(schema, drops).of([(schema, 1)], _ITEM)


class _Weight:
    def __init__(self, root: Any, drops: bool) -> None:
        self._root = root
        self._weighing = _BY_ITSELF if drops else 2

    def of(self, schemas: Iterable[tuple[Any, int]], least: int) -> int:
        """Of a value of no fewer bytes, of which these schemas speak together."""
        asked = [each for schema, times in schemas for each in self._asked(schema, times)]
        found = sum(times * self._own(schema) for schema, times in asked) // least
        found += sum(times * _each_character(schema) for schema, times in asked)
        for keywords, shortest in ((OF_ITEMS, _ITEM), (OF_MEMBERS, _MEMBER)):
            parts = [(each, times) for schema, times in asked for each in inside(schema, keywords)]
            found = max(found, self.of(parts, shortest) if parts else 0)
        members: dict[str, Asked] = {}
        for schema, times in asked:
            for name, member in schema.get("properties", {}).items():
                members.setdefault(name, []).append((member, times))
        return max(found, *(self.of(each, _MEMBER + len(name)) for name, each in members.items()), 0)

    def _asked(self, schema: Any, times: int) -> Asked:
        """A schema, and those inside it of the same value. What asks which members no other names has them weighed once
        more."""
        if not isinstance(schema, dict):
            return []
        found: Asked = [(schema, times)]
        asks = not UNEVALUATED.isdisjoint(schema)
        for key in SAME_VALUE & schema.keys():
            often = times * (2 if asks and key in _WEIGHED else 1)
            found += [one for each in inside(schema, (key,)) for one in self._asked(each, often)]
        if "$ref" in schema:
            found += self._asked(self._resolved(schema["$ref"]), times)
        return found

    def _own(self, schema: dict[str, Any]) -> int:
        weighed = sum(1 for _ in inside(schema, [key for key in _WEIGHED if key in schema]))
        return own(schema) + 2 * len(schema.get("properties", ())) + self._weighing * weighed

    def _resolved(self, reference: str) -> Any:
        target = self._root
        for token in tokens(reference):
            target = target.get(token, {})
        return target


def every(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema, and those inside it of whatever part."""
    if isinstance(schema, dict):
        yield schema
        for each in inside(schema, ("$defs", "properties", *SAME_VALUE, *EACH)):
            yield from every(each)


def dear_names(schema: dict[str, Any]) -> list[str]:
    """The patterns of names that take long to make ready."""
    return [*filter(patterns.is_dear, schema.get("patternProperties", ()))]


def inside(schema: dict[str, Any], keywords: Iterable[str]) -> Iterator[Any]:
    """The schemas that stand under these keywords."""
    for key in keywords:
        value = schema.get(key)
        if isinstance(value, dict) and (key in BY_NAME or key == "$defs"):
            yield from value.values()
        elif isinstance(value, list):
            yield from value
        elif value is not None:
            yield value


def _each_character(schema: dict[str, Any]) -> int:
    # What is compared is read part by part.
    compared = is_dear(schema.get("enum", ())) or isinstance(schema.get("const"), dict | list)
    work = 10 * compared + 12 * ("uniqueItems" in schema) + 25 * (schema.get("format") == "idn-hostname")
    for each in (*schema.get("patternProperties", ()), *((schema["pattern"],) if "pattern" in schema else ())):
        work += _for_pattern(each)
    return work


def _for_pattern(pattern: str) -> int:
    if not patterns.is_linear(pattern):
        return 300  # it is tried again and again, as far as is bounded
    places = patterns.places(pattern)
    return places if places > patterns.few(pattern) else 1
