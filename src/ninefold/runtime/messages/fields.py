"""The fields that a request gives: where each is in the document of a body, and what becomes of its value there; and
what becomes of a text that is the value of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.expressions.operations import no_value
from ninefold.expressions.tree import Typed
from ninefold.values import Invalid, Type, Value, json_reader
from ninefold.values.texts import text_reader

ABSENT = object()


@dataclass(frozen=True, slots=True)
class Field:
    """One leaf of a body."""

    name: str
    pointer: tuple[str, ...]
    fixed: bool
    read: Callable[[object], Value]
    normal: Callable[[Env], Value] | None
    merged: bool
    stored: Callable[[Env], Value] | None
    was: str
    type: Type
    null_shown: bool
    known_as: str | None
    held: Callable[[Any], bool] | None

    def repeats(self, found: object, path: Mapping[str, Value]) -> bool:
        """Whether it is what the path says already, and so changes nothing."""
        if self.known_as is None or self.known_as not in path:
            return False
        try:
            return self.read(found) == path[self.known_as]
        except Invalid:
            return False

    def kept(self, value: Value) -> Value:
        """What is stored of a value that is given. Raises EvaluationError."""
        if self.stored is None or value is None:
            return value
        kept = self.stored({"value": value})
        if kept is None or not (self.held is None or self.held(kept)):
            raise no_value()
        return kept

    def normalise(self, document: Any) -> bool:
        """Change the value in the document, if it can be: what is not of the field's type stays as it is, for the
        schema to refuse, and so does null, of which an expression may make nothing."""
        found = ABSENT if self.normal is None else at(document, self.pointer)
        if self.normal is None or found is ABSENT:
            return True
        try:
            value = self.read(found)
        except Invalid:
            return True
        try:
            normal = self.normal({"value": value})
        except EvaluationError:
            return value is None
        at(document, self.pointer[:-1])[self.pointer[-1]] = normal
        return True


def value_reader(type_: Type, normalise: Typed | None) -> Callable[[str], Value]:
    """The value of a field that a text outside of a body means, normalised as one of a body is. Raises Invalid."""
    read = text_reader(type_)
    if normalise is None:
        return read
    normal, of_type = compile(normalise), json_reader(type_)

    def normalised(text: str) -> Value:
        value = read(text)
        try:
            return of_type(normal({"value": value}))
        except EvaluationError:
            raise Invalid("type", "nothing that it is normalised to") from None

    return normalised


def at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if type(document) is not dict or name not in document:
            return ABSENT
        document = document[name]
    return document


def copied(document: Any, around: Mapping[str, Any] | None) -> Any:
    """The document with copies of the objects around its fields: these may be changed."""
    if type(document) is not dict or around is None:
        return document
    return {name: copied(value, around.get(name)) for name, value in document.items()}


def object_at(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    """The object at a path, made where nothing is; None where another value is on the way."""
    for name in path:
        within = document.setdefault(name, {})
        if type(within) is not dict:
            return None
        document = within
    return document
