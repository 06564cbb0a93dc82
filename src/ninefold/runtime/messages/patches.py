"""Patches of JSON: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7396), and which edit a failure comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.messages.json_text import DEEPEST
from ninefold.runtime.messages.problems import Failure, FieldFailure, pointer
from ninefold.values.pointers import tokens

MOST_SHIFTED: Final = 100_000_000
"""Items that the edits of one patch may shift by one place: each does so that is made before the end of an array."""


class CannotBeDone(Exception):
    """An edit cannot be done to the document as it is. `member` is the one that says so: `path`, `from` or `value`;
    `rule` is `there` (nothing is where it points), `whole` (nothing would be left), `test` (it is another value),
    `inside` (moved into itself) or `most` (the document would be too deep, or too much is copied or shifted)."""

    def __init__(self, index: int, member: str, rule: str) -> None:
        super().__init__(f"edit {index}: {member}: {rule}")
        self.index, self.member, self.rule = index, member, rule


@dataclass(frozen=True, slots=True)
class Edit:
    """What was added or removed at a place, by the edit at `index` of a patch. `member` is the member of the edit that
    says so: `value` where the edit brings the value itself, else `path` or `from`. It is the member, or the item, `at`
    of what is at `within`, a path that begins with `""`, the whole document."""

    index: int
    member: str
    within: tuple[str, ...]
    at: str | int
    added: bool


def edited(document: Any, patch: Sequence[Mapping[str, Any]], most: int) -> tuple[Any, tuple[Edit, ...]]:
    """The document after all edits of a patch that keeps `SCHEMA`, and what they did. Neither argument is changed.
    What is copied, and what is moved deeper, has `most` characters in all at most (each value is one, and those of a
    text are more); no edit leaves a document of more than `DEEPEST` levels. Raises CannotBeDone."""
    edits = _Edits(document, most)
    for index, edit in enumerate(patch):
        try:
            edits.do(index, edit)
        except _Refused as refused:
            raise CannotBeDone(index, *refused.args) from None
    return edits.whole[""], tuple(edits.done)


def origin(edits: Sequence[Edit], path: Sequence[str]) -> tuple[str, ...] | None:
    """Where in its patch a value of the document comes from that has been edited: the place in the `value` that was
    the last to be put there or around it, or, where none was, the member by which something was last put there, taken
    away or changed within. None: no edit was about it."""
    now = _Followed(path)
    for edit in reversed(edits):
        size = len(edit.within)
        if size >= len(now.items):
            if edit.within[: len(now.items)] == now.around(len(now.items)):
                return str(edit.index), "path" if edit.added else edit.member
        elif edit.within == now.around(size):
            if now.is_at(size, edit.at) and (edit.added or type(edit.at) is str):
                return str(edit.index), edit.member, *(now.beyond(size + 1) if edit.member == "value" else ())
            if type(edit.at) is int and now.items[size] >= edit.at:
                now.move(size, -1 if edit.added else 1)
    return None


class _Followed:
    """A place in the document, back through the edits of a patch. There are tens of thousands of these, and each
    failure follows its own: the places around it are kept until an item has another position. `items`: the positions of
    items; -1: a token is of none."""

    def __init__(self, path: Sequence[str]) -> None:
        self._tokens = ["", *path]
        self.items = [_item(token) for token in self._tokens]
        self._around = [tuple(self._tokens[:size]) for size in range(len(self._tokens) + 1)]

    def around(self, size: int) -> tuple[str, ...]:
        while len(self._around) <= size:
            self._around.append((*self._around[-1], self._tokens[len(self._around) - 1]))
        return self._around[size]

    def is_at(self, size: int, at: str | int) -> bool:
        return at == (self._tokens if type(at) is str else self.items)[size]

    def beyond(self, size: int) -> list[str]:
        return self._tokens[size:]

    def move(self, size: int, by: int) -> None:
        self.items[size] += by
        self._tokens[size] = str(self.items[size])
        del self._around[size + 1 :]


class _Refused(Exception):
    pass


class _Edits:
    """A document on its way: the member `""` of `whole`. What came is shared with it until it is changed; `own` are
    the objects and arrays that were made here and stand in one place, by their `id`."""

    def __init__(self, document: Any, most: int) -> None:
        self.whole = {"": document}
        self.own: dict[int, Any] = {}
        self.left = most
        self.shifts = MOST_SHIFTED
        self.done: list[Edit] = []
        self.index = 0

    def do(self, index: int, edit: Mapping[str, Any]) -> None:
        self.index, path = index, _tokens(edit["path"])
        match edit["op"]:
            case "add":
                self._add(path, self._shared(edit["value"], len(path)), "value")
            case "remove" if len(path) == 1:
                raise _Refused("path", "whole")
            case "remove":
                self._remove(path, "path")
            case "replace":
                self._remove(path, "path")
                self._add(path, self._shared(edit["value"], len(path)), "value")
            case "move":
                origin = _tokens(edit["from"])
                if len(path) > len(origin) and path[: len(origin)] == origin:
                    raise _Refused("path", "inside")
                found = self._remove(origin, "from")
                self._add(path, self._counted(found, len(path)) if len(path) > len(origin) else found)
            case "copy":
                found = _found(self.whole, _tokens(edit["from"]), "from")
                self._add(path, self._counted(found, len(path)))
            case "test":
                if not same(_found(self.whole, path, "path"), edit["value"]):
                    raise _Refused("value", "test")

    def _counted(self, value: Any, depth: int) -> Any:
        """A value that is to stand at a depth, counted among what may be copied, and no longer this place's own."""
        level = [value]
        while level:
            below: list[Any] = []
            for each in level:
                self.left -= 1
                if type(each) is str:
                    self.left -= len(each)
                elif type(each) is list:
                    below += each
                elif type(each) is dict:
                    below += each.values()
                    self.left -= sum(map(len, each))
                else:
                    continue
                self.own.pop(id(each), None)
                if self.left < len(below):
                    raise _Refused("from", "most")
            depth += any(type(each) in (dict, list) for each in level)
            if depth > DEEPEST + 1:
                raise _Refused("path", "most")
            level = below
        if self.left < 0:
            raise _Refused("from", "most")
        return value

    def _shared(self, value: Any, depth: int) -> Any:
        """A value that came with the patch, and is to stand at a depth."""
        if depth + _levels(value) > DEEPEST + 1:
            raise _Refused("path", "most")
        return value

    def _add(self, path: list[str], value: Any, member: str = "path") -> None:
        within, last = self._changeable(path[:-1], "path"), path[-1]
        at: str | int = last
        if type(within) is dict:
            within[last] = value
        elif type(within) is list:
            at = len(within) if last == "-" else _index(last, len(within) + 1, "path")
            self._shift(len(within) - at)
            within.insert(at, value)
        else:
            raise _Refused("path", "there")
        self.done.append(Edit(self.index, member, tuple(path[:-1]), at, added=True))

    def _remove(self, path: list[str], member: str) -> Any:
        found = _found(self.whole, path, member)
        within, last = self._changeable(path[:-1], member), path[-1]
        at = int(last) if type(within) is list else last
        if type(at) is int:
            self._shift(len(within) - at)
        del within[at]
        self.done.append(Edit(self.index, member, tuple(path[:-1]), at, added=False))
        return found

    def _shift(self, items: int) -> None:
        self.shifts -= items
        if self.shifts < 0:
            raise _Refused("path", "most")

    def _changeable(self, path: list[str], member: str) -> Any:
        """What is at a path, with a copy of its own of each object and array that leads there."""
        _found(self.whole, path, member)
        within: Any = self.whole
        for token in path:
            key = int(token) if type(within) is list else token
            each = within[key]
            if type(each) in (dict, list) and id(each) not in self.own:
                each = within[key] = copy(each)
                self.own[id(each)] = each
            within = each
        return within


def _tokens(pointer: str) -> list[str]:
    """The reference tokens of a JSON Pointer (RFC 6901 4); the first, `""`, is the whole document."""
    return [pointer.partition("/")[0], *tokens(pointer)]


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
    index = _item(token)
    if 0 <= index < length:
        return index
    raise _Refused(member, "there")


def _item(token: str) -> int:
    """An array index: digits without leading zeros (RFC 6901 4); -1: it is none."""
    is_one = token.isascii() and token.isdecimal() and (token == "0" or token[0] != "0") and len(token) < 10
    return int(token) if is_one else -1


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal (RFC 6902 4.6): numbers by what they are worth, objects in any order."""
    if one is other:
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _levels(value: Any) -> int:
    """How many objects and arrays are inside each other, at most."""
    levels, level = 0, [value]
    while level := [each for each in level if type(each) in (dict, list)]:
        levels += 1
        level = [inner for each in level for inner in (each.values() if type(each) is dict else each)]
    return levels


def merge(target: Any, patch: Any) -> Any:
    """MergePatch of RFC 7396, section 2. Neither argument is changed."""
    if type(patch) is not dict:
        return patch
    result = dict(target) if type(target) is dict else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge(result.get(name), value)
    return result


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
