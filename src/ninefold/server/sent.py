"""Where in what was sent: failures are found in a body as it is read, and told as places in it as it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ninefold.server.json_patch import Edit, origin
from ninefold.server.problems import Failure, FieldFailure, pointer


def blamed(failure: Failure, document: Any) -> Failure:
    """The same, about the first of its fields that a body gives; where it gives none of them, about the first."""
    given = (each for each in (*failure.fields, *failure.others) if _depth(document, tokens(each.pointer)) is None)
    return replace(failure, fields=(next(given, failure.fields[0]),), others=()) if failure.others else failure


def in_body(field: FieldFailure, document: Any, edits: Sequence[Edit] | None) -> FieldFailure:
    """The same with a pointer to what came in `document`: of what was not sent, to the value around it that was, and
    of a member that is `required`, to where it would stand. What a JSON Patch has made is where its edits say so, or
    the whole patch. The name stays that of the nearest member of what is made."""
    if field.place != "body" or type(document) not in (dict, list):
        return field
    path = tokens(field.pointer)
    if edits is not None:
        path = list(origin(edits, path) or ())
    depth = _depth(document, path)
    if depth is not None:
        path = path[: depth + (field.rule == "required")]
    return replace(field, pointer=pointer(path))


def tokens(pointer: str) -> list[str]:
    """The reference tokens of a JSON Pointer (RFC 6901 4)."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def _depth(document: Any, path: Sequence[str]) -> int | None:
    """How much of a path there is; None: all of it."""
    for depth, token in enumerate(path):
        if type(document) is dict and token in document:
            document = document[token]
        elif type(document) is list and token.isdecimal() and int(token) < len(document):
            document = document[int(token)]
        else:
            return depth
    return None
