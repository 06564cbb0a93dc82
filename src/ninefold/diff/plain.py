"""A part of a plan in plain values, without the places where it is stated.

What a struct says is told apart from every other mapping: its members have names of the program. The keys of all else
are names that a contract has chosen, or stand in a value of JSON, and may be called as any of these members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, TypeAlias, TypeGuard, get_args

import msgspec
from msgspec import NODEFAULT, Struct, structs

from ninefold.diagnostics.place import Place
from ninefold.language.json_schema import TELLING
from ninefold.plan.operations import Sort
from ninefold.plan.responses import Response
from ninefold.plan.routes import Blocked, Parameter, Rule
from ninefold.values.keywords import BY_NAME, EACH, SAME_VALUE


class OfStruct(dict[str, Any]):
    """What a struct of a kind says, by its members; what is as it is by default may be left out."""

    __slots__ = ("of",)

    def __init__(self, of: type[Struct], said: Mapping[str, Any]) -> None:
        super().__init__(said)
        self.of = of

    def with_others(self, said: Mapping[str, Any]) -> OfStruct:
        """One of the same kind that says this."""
        return OfStruct(self.of, said)


WORDS: Final[Mapping[type[Struct], tuple[str, ...]]] = {
    Blocked: ("reasons",), Parameter: ("origin",), Response: ("tag_prefix",), Sort: ("bound_to",),
}  # fmt: skip
"""Members that are words for people, tell apart one contract from another, or are names in the document that no caller
knows: which code a parameter has, conditions tell, and in which order rows are, the statement."""


def plain(value: Any) -> Any:
    """Without places and words; lists in the place of tuples."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Struct():
            return _of_struct(value)
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value if not _is_telling_rule(each)]
        case _:
            return msgspec.to_builtins(value)


def is_of(said: Any, kind: type[Struct]) -> TypeGuard[OfStruct]:
    """Whether it is what a struct of that kind says."""
    return isinstance(said, OfStruct) and said.of is kind


_Member: TypeAlias = tuple[str, str, Any, bool]
"""An attribute, how it is written, its default, and whether it is a JSON Schema."""


def _of_struct(value: Struct) -> OfStruct:
    kind = type(value)
    field, tag, members = _members(kind)
    found: dict[str, Any] = {} if tag is None else {field: tag}
    for attribute, name, default, is_schema in members:
        said = getattr(value, attribute)
        if said is not default and not (type(said) is type(default) and said == default):
            found[name] = without_words(said) if is_schema and isinstance(said, dict) else plain(said)
    return OfStruct(kind, found)


@cache
def _members(kind: type[Struct]) -> tuple[str, Any, tuple[_Member, ...]]:
    """The field of its tag, its tag, and its members."""
    config, found = kind.__struct_config__, list[_Member]()
    for each in structs.fields(kind):
        if _is_of_places(each.type) or each.name in WORDS.get(kind, ()):
            continue
        made = each.default if each.default_factory is NODEFAULT else each.default_factory()
        default = made if config.omit_defaults else NODEFAULT
        found.append((each.name, each.encode_name, default, each.name == "schema"))
    return config.tag_field or "type", config.tag, tuple(found)


def _is_of_places(annotation: Any) -> bool:
    return annotation is Place or any(map(_is_of_places, get_args(annotation)))


def _is_telling_rule(value: Any) -> bool:
    """Whether it says only where a keyword stands that tells people something, or leads to what is said elsewhere."""
    return isinstance(value, Rule) and value.keyword in {*TELLING, "$ref"}


_OF_SCHEMAS: Final = BY_NAME | SAME_VALUE | EACH


def without_words(schema: Any, instead: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """A JSON Schema without what it tells people; values in it stay what they are. `instead`: what stands in the place
    of each schema within it, which is to be rid of words there."""
    match schema:
        case dict():
            within = instead or without_words
            return {name: _of_keyword(name, said, within) for name, said in schema.items() if name not in TELLING}
        case _:
            return schema


def _of_keyword(name: str, said: Any, within: Callable[[Any], Any]) -> Any:
    if name in BY_NAME and isinstance(said, dict):
        return {each: within(one) for each, one in said.items()}
    if name not in _OF_SCHEMAS:
        return plain(said)
    return [within(each) for each in said] if isinstance(said, list | tuple) else within(said)
