"""The rules of a schema that a document does not keep: at which places, and in which order they are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import jsonschema_rs

from ninefold.server.json_text import DEEPEST

Path: TypeAlias = tuple[str | int, ...]
"""Where something is in a document: names of members, and positions of items from 0."""


def causes(errors: list[jsonschema_rs.ValidationError]) -> list[jsonschema_rs.ValidationError]:
    """The findings without those that others bring with them: in a value that fails otherwise, no schema of its
    composition has said which members there are, and all of them seem unknown (JSON Schema 2020-12 core, 11.3)."""
    return [
        error
        for error in errors
        if not isinstance(error.kind, jsonschema_rs.ValidationErrorKind.UnevaluatedProperties)
        or all(other is error or _outside(other.instance_path, error.instance_path) for other in errors)
    ]


def _outside(path: Sequence[str | int], within: Sequence[str | int]) -> bool:
    return list(path[: len(within)]) != list(within)


def rules_of(error: jsonschema_rs.ValidationError) -> Iterator[tuple[Path, str]]:
    """The places and rules of one finding of the validator: a missing member is the member's own failure, and so
    is one that is not known."""
    path: Path = tuple(error.instance_path)
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.Required(property=name):
            yield (*path, str(name)), "required"
        case (
            jsonschema_rs.ValidationErrorKind.AdditionalProperties(unexpected=names)
            | jsonschema_rs.ValidationErrorKind.UnevaluatedProperties(unexpected=names)
        ):
            for name in names:
                yield (*path, name), "unknown"
        case _:
            yield path, str(error.schema_path[-1])


def known_members(pointers: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """The members that a body may have, as a tree: None where a field's own value begins."""
    tree: dict[str, Any] = {}
    for pointer in pointers:
        level = tree
        for name in pointer[:-1]:
            level = level.setdefault(name, {})
        if pointer:
            level[pointer[-1]] = None
    return tree


def unknown(document: Any, known: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Members that nothing gives a meaning, wherever in the document."""
    if type(document) is not dict:
        return
    for name, value in document.items():
        if name not in known:
            yield (*path, name), "unknown"
        elif known[name] is not None:
            yield from unknown(value, known[name], (*path, name))


def leading_names(path: Path) -> tuple[str, ...]:
    """The member names with which a path begins: enough to tell which field it is in."""
    names: list[str] = []
    for token in path:
        if not isinstance(token, str):
            break
        names.append(token)
    return tuple(names)


class Order:
    """The order of the contract: by field, then along the value by item and by member as its schema writes them,
    then by keyword as the schema writes them."""

    def __init__(self, schema: dict[str, Any], pointers: tuple[tuple[str, ...], ...]) -> None:
        self._schema = schema
        self._pointers = pointers

    def __call__(self, path: Path, rule: str) -> tuple[int, tuple[int, ...], int]:
        names = leading_names(path)
        field = next(
            (index for index, pointer in enumerate(self._pointers) if names[: len(pointer)] == pointer),
            len(self._pointers),
        )
        schema: Any = self._schema
        along: list[int] = []
        for token in path:
            schema = self._resolved(schema)
            if isinstance(token, int):
                along.append(token)
                schema = schema.get("items", {})
            else:
                members = schema.get("properties", {})
                along.append(list(members).index(token) if token in members else len(members))
                schema = members.get(token, {})
        keywords = list(self._resolved(schema))
        return field, tuple(along), keywords.index(rule) if rule in keywords else -1

    def _resolved(self, schema: Any) -> dict[str, Any]:
        """The schema that a `$ref` inside the document leads to."""
        for _ in range(DEEPEST):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                break
            target: Any = self._schema
            for token in reference[2:].split("/"):
                target = target.get(token.replace("~1", "/").replace("~0", "~"), {})
            schema = target
        return schema if isinstance(schema, dict) else {}
