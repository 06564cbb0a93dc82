"""Which of two JSON Schemas admits more, keyword by keyword; and what a request has to have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.edges import EDGES, divides, is_number, without_what_is_the_same
from ninefold.diff.verdicts import Direction
from ninefold.language.json_schema import KEYS, TELLING
from ninefold.language.key import Order


@dataclass(frozen=True, slots=True)
class Step:
    """One way in which a schema differs. `word`: of part 9, what lets it be. `said`: what differs. `is_form`: it is of
    which type a value is, or whether it is there, on which all who read it rely."""

    direction: Direction
    said: str
    word: str = "relax a restriction"
    is_form: bool = False


@cache
def _orders() -> dict[str, Order]:
    return {key.name: key.order for key in KEYS if key.order is not None}


_INSIDE: Final = ("items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
                  "propertyNames", "then", "else")  # fmt: skip


def steps(old: Any, new: Any, at: str = "") -> Iterator[Step]:
    """How the new schema differs from the old one."""
    old, new = merged(old), merged(new)
    if old == new:
        return
    if not (isinstance(old, dict) and isinstance(new, dict)):
        yield from _of_truths(old, new, at)
        return
    old, new = without_what_is_the_same(old, new)
    here = at or "the value"
    told: set[str] = set()
    for pair in EDGES:
        if (step := _of_edge(*pair, old, new, here)) is not None:
            yield step
            told |= {*pair[:2]}
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before == after or name in TELLING or name in told:
            continue
        yield from _of_keyword(name, before, after, at, here, old, new)
    yield from _of_names(old, new, here)


def _of_edge(closed: str, open: str, sign: int, old: dict[str, Any], new: dict[str, Any], here: str) -> Step | None:
    """Where an edge is told by another keyword than it was."""
    [was, now] = [[name for name in (closed, open) if is_number(of.get(name))] for of in (old, new)]
    if len(was) != 1 or len(now) != 1 or was == now:
        return None
    before, after = ((sign * of[name], name == open) for of, [name] in ((old, was), (new, now)))
    words = f"`{was[0]}` of {here} was {old[was[0]]}, is `{now[0]}` {new[now[0]]}"
    return Step("more" if after < before else "less", words)


_ALONE: Final = frozenset({"type", "format", "pattern", "const", "enum", "uniqueItems"})
_BOUNDS: Final = frozenset({
    "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
    "minProperties", "maxProperties",
})  # fmt: skip
"""Keywords that say the same whatever stands beside them; `maxContains` does not."""


def merged(schema: Any) -> Any:
    """A schema without its `allOf`, where it says the same so: of two bounds the narrower one."""
    if not isinstance(schema, dict) or "allOf" not in schema:
        return schema
    found = {name: said for name, said in schema.items() if name != "allOf"}
    for each in map(merged, schema["allOf"]):
        if not isinstance(each, dict) or not each.keys() <= _ALONE | _BOUNDS | TELLING:
            return schema
        for name, said in each.items():
            there, order = found.setdefault(name, said), _orders().get(name)
            if order is not None and is_number(there) and is_number(said):
                found[name] = min(there, said) if order == "more" else max(there, said)
            elif name == "type":
                found[name] = _types_of_both(there, said)
            elif there != said and name not in TELLING:
                return schema
    return found


MEMBER: Final = "add an optional field"
"""The word of a step that is one more member."""


def _types_of_both(one: Any, other: Any) -> list[str]:
    first, second = ([each] if isinstance(each, str) else each for each in (one, other))
    whole = [("integer", of) for of, beside in ((first, second), (second, first)) if "number" in beside]
    return [*dict.fromkeys((*(each for each in first if each in second), *(each for each, of in whole if each in of)))]


_OTHERS: Final = ("additionalProperties", "unevaluatedProperties")
_STATING: Final = ("properties", "patternProperties")
_ALL: Final = "all"

_Named: TypeAlias = tuple[tuple[str, ...], str, str | None]
"""What names members: the keywords by which it does so for some values only, the keyword, and the name, or the
expression that names match. `_ALL` in the place of a keyword: whatever member there is. None in the place of a name:
the keyword is there, and so what nothing names is no member."""


def _of_names(old: dict[str, Any], new: dict[str, Any], here: str) -> Iterator[Step]:
    """A member that nothing names is refused or left out (meaning "unknown members"), or is what is said of all others:
    a keyword that refuses less may name less. Members of its own are told one by one."""
    was, now = {*_named(old)}, {*_named(new)}
    rest = [new[keyword] for keyword in _OTHERS if keyword in new]
    if all(map(_is_any, rest)) and (rest or _is_free(now)):
        return
    lost = {((), _ALL, "")} if _is_free(was) and not _is_closed(old) else {each for each in was if each[2] is not None}
    lost -= now | {((), "properties", name) for name in old.get("properties", ())}
    if any(((), *each[1:]) not in now for each in lost):
        yield Step("less" if _is_closed(new) else "unproved", f"members of {here} are not named any more")


def _named(schema: Any, given: tuple[str, ...] = ()) -> Iterator[_Named]:
    if not isinstance(schema, dict):
        return
    for keyword in _STATING:
        if keyword in schema:
            yield from ((given, keyword, name) for name in (None, *schema[keyword]))
    for keyword in _OTHERS:
        if schema.get(keyword, False) is not False:
            yield given, _ALL if _is_any(schema[keyword]) else keyword, ""
    if "$ref" in schema:
        yield from ((given, "$ref", name) for name in (None, schema["$ref"]))
    for each in schema.get("allOf", ()):
        yield from _named(each, given)
    for keyword in ("anyOf", "oneOf"):
        for each in schema.get(keyword, ()):
            yield from _named(each, (*given, keyword))
    for keyword in ("if", "then", "else") if "if" in schema else ():
        yield from _named(schema.get(keyword), (*given, keyword))
    for name, each in schema.get("dependentSchemas", {}).items():
        yield from _named(each, (*given, name))


def _is_any(schema: Any) -> bool:
    return schema is True or schema == {}


def _is_free(named: set[_Named]) -> bool:
    """Whether all members are, since nothing says which there are."""
    return all(name is not None for _, _, name in named)


def _is_unknown(name: str, schema: dict[str, Any]) -> bool:
    """Whether a value with this member was refused."""
    named = _named(schema)
    return _is_closed(schema) and all(each is None or (by == "properties" and each != name) for _, by, each in named)


def _is_closed(schema: dict[str, Any]) -> bool:
    return any(schema.get(keyword) is False for keyword in _OTHERS)


def _of_truths(old: Any, new: Any, at: str) -> Iterator[Step]:
    here = at or "the value"
    if new is True or new is None or new == {} or old is False:
        yield Step("more", f"{here} may be anything" if new is True or new == {} else f"{here} may be there")
    elif old is True or old is None or old == {} or new is False:
        yield Step("less", f"{here} is narrowed")
    else:
        yield Step("other", f"{here} is another")


def _of_keyword(
    name: str, before: Any, after: Any, at: str, here: str, old: dict[str, Any], new: dict[str, Any]
) -> Iterator[Step]:
    order = _orders().get(name)
    if name in ("type", "enum"):
        yield from _of_sets(name, before, after, here)
    elif name == "required":
        was, now = set(before or ()), set(after or ())
        yield from (Step("less", f"{_inner(at, each)} has to be given") for each in sorted(now - was))
        yield from (Step("more", f"{_inner(at, each)} may be left out", is_form=True) for each in sorted(was - now))
    elif name == "properties":
        yield from _of_members(before or {}, after or {}, at, old, new)
    elif name in _INSIDE and before is not None and after is not None:
        yield from steps(before, after, _inner(at, "*"))
    elif name == "allOf" and isinstance(before, list) and isinstance(after, list):
        yield from (Step("less", f"{here} is narrowed") for each in after if each not in before)
        yield from (Step("more", f"{here} is narrowed no more") for each in before if each not in after)
    elif name in ("anyOf", "oneOf") and isinstance(before, list) and isinstance(after, list) and name == "anyOf":
        yield from (Step("more", f"{here} may be something else") for each in after if each not in before)
        yield from (Step("less", f"{here} may be less") for each in before if each not in after)
    elif name == "multipleOf" and before and after:
        wider, narrower = divides(after, before), divides(before, after)
        yield Step("more" if wider else "less" if narrower else "other", f"`multipleOf` of {here}")
    elif name in _OTHERS and before is None and _is_any(after):
        was_left_out = not _is_closed(old) and not _is_free({*_named(old)})
        yield Step("unproved" if was_left_out else "more", f"{here} may have members that nothing names")
    elif before is None:
        yield Step("less", f"`{name}` of {here} is {_told(after)}")
    elif after is None:
        yield Step("more", f"`{name}` of {here} is gone")
    elif name == "uniqueItems":
        yield Step("less" if after else "more", f"`uniqueItems` of {here}")
    elif order is not None and is_number(before) and is_number(after):
        more = after > before if order == "more" else after < before
        yield Step("more" if more else "less", f"`{name}` of {here} was {before}, is {after}")
    elif name in ("const", "format"):
        yield Step("other", f"`{name}` of {here} was {_told(before)}, is {_told(after)}")
    else:
        yield Step("unproved", f"`{name}` of {here} is another")


def _of_sets(name: str, before: Any, after: Any, here: str) -> Iterator[Step]:
    if before is None or after is None:
        yield Step("more" if after is None else "less", f"`{name}` of {here} was {_told(before)}, is {_told(after)}")
        return
    was = before if isinstance(before, list) else [before]
    now = after if isinstance(after, list) else [after]
    if "number" in now and "integer" in was and "integer" not in now:
        now = [*now, "integer"]
    if "number" in was and "integer" in now and "integer" not in was:
        was = [*was, "integer"]
    lost, got = [each for each in was if each not in now], [each for each in now if each not in was]
    word = "add an enum value" if name == "enum" else "relax a restriction"
    if got:
        yield Step("more", f"{here} may be {', '.join(map(_told, got))}", word, is_form=name == "type")
    if lost:
        yield Step("less", f"{here} cannot be {', '.join(map(_told, lost))} any more")


def _of_members(
    before: dict[str, Any], after: dict[str, Any], at: str, old: dict[str, Any], new: dict[str, Any]
) -> Iterator[Step]:
    for name in dict.fromkeys((*before, *after)):
        here = _inner(at, name)
        if name not in before:
            yield Step("more" if _is_unknown(name, old) else "unproved", f"{here} may be given", MEMBER)
        elif name not in after:
            yield Step("less" if _is_closed(new) else "unproved", f"{here} is not taken any more")
        else:
            yield from steps(before[name], after[name], here)


def _inner(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _told(value: Any) -> str:
    return "nothing" if value is None else f"`{value}`"
