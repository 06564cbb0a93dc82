"""JSON Patch (RFC 6902): a list of edits, done one after another to a JSON document, all of them or none."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

MOST_COPIED: Final = 100_000
"""Values that the `copy` edits of one patch may make: each may double the document."""


class CannotBeDone(Exception):
    """An edit cannot be done to the document as it is. `member` is the one that says so: `path`, `from` or `value`;
    `rule` is `there` (nothing is where it points), `whole` (nothing would be left), `test` (it is another value),
    `inside` (moved into itself) or `most` (too much is copied)."""

    def __init__(self, index: int, member: str, rule: str) -> None:
        super().__init__(f"edit {index}: {member}: {rule}")
        self.index, self.member, self.rule = index, member, rule


def edited(document: Any, patch: Sequence[Mapping[str, Any]]) -> Any:
    """The document after all edits of a patch that keeps `SCHEMA`. Neither argument is changed. Raises CannotBeDone."""
    whole = {"": copy.deepcopy(document)}
    copied = 0
    for index, edit in enumerate(patch):
        try:
            copied += _edit(whole, edit)
        except _Refused as refused:
            raise CannotBeDone(index, *refused.args) from None
        if copied > MOST_COPIED:
            raise CannotBeDone(index, "from", "most")
    return whole[""]


class _Refused(Exception):
    pass


def _edit(whole: dict[str, Any], edit: Mapping[str, Any]) -> int:
    """Do one edit to the member `""` of `whole`; how many values were copied."""
    path = _tokens(edit["path"])
    match edit["op"]:
        case "add":
            _add(whole, path, copy.deepcopy(edit["value"]))
        case "remove" if len(path) == 1:
            raise _Refused("path", "whole")
        case "remove":
            _remove(whole, path, "path")
        case "replace":
            _remove(whole, path, "path")
            _add(whole, path, copy.deepcopy(edit["value"]))
        case "move":
            origin = _tokens(edit["from"])
            if len(path) > len(origin) and path[: len(origin)] == origin:
                raise _Refused("path", "inside")
            _add(whole, path, _remove(whole, origin, "from"))
        case "copy":
            found = _found(whole, _tokens(edit["from"]), "from")
            size = _size(found)
            if size > MOST_COPIED:
                return size
            _add(whole, path, copy.deepcopy(found))
            return size
        case "test":
            if not same(_found(whole, path, "path"), edit["value"]):
                raise _Refused("value", "test")
    return 0


def _tokens(pointer: str) -> list[str]:
    """The reference tokens of a JSON Pointer (RFC 6901 4); the first, `""`, is the whole document."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")]


def _add(whole: Any, path: list[str], value: Any) -> None:
    within, last = _found(whole, path[:-1], "path"), path[-1]
    if type(within) is dict:
        within[last] = value
    elif type(within) is list:
        within.insert(len(within) if last == "-" else _index(last, len(within) + 1, "path"), value)
    else:
        raise _Refused("path", "there")


def _remove(whole: Any, path: list[str], member: str) -> Any:
    found, within, last = _found(whole, path, member), _found(whole, path[:-1], member), path[-1]
    if type(within) is list:
        del within[int(last)]
    else:
        del within[last]
    return found


def _found(whole: Any, path: list[str], member: str) -> Any:
    for token in path:
        if type(whole) is dict and token in whole:
            whole = whole[token]
        elif type(whole) is list:
            whole = whole[_index(token, len(whole), member)]
        else:
            raise _Refused(member, "there")
    return whole


def _index(token: str, length: int, member: str) -> int:
    """An array index: digits without leading zeros (RFC 6901 4)."""
    if token.isascii() and token.isdecimal() and (token == "0" or token[0] != "0") and len(token) < 10:
        index = int(token)
        if index < length:
            return index
    raise _Refused(member, "there")


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal (RFC 6902 4.6): numbers by what they are worth, objects in any order."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _size(value: Any) -> int:
    """How many values there are in one, itself among them."""
    size, left = 0, [value]
    while left:
        each = left.pop()
        size += 1
        left += each.values() if type(each) is dict else each if type(each) is list else ()
    return size
