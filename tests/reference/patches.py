"""JSON Patch (RFC 6902), to the letter: what the edits of a patch make of a row, and which of them a value is of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.reference.failures import Broken, Failure
from tests.reference.values import Path, alike

from ninefold.checked.bodies import BodyLeaf
from ninefold.checked.resources import Field

NAMES: Final = {"add": ("path", "value"), "replace": ("path", "value"), "test": ("path", "value")} | {
    "remove": ("path",),
    "move": ("path", "from"),
    "copy": ("path", "from"),
}
"""What an edit needs besides `op` (RFC 6902 4)."""

POINTER: Final = re.compile(r"(/([^~/]|~[01])*)*")
INDEX: Final = re.compile(r"0|[1-9][0-9]*")


class Undone(Exception):
    """An edit cannot be done: the failure that answers it, but for what it is about."""

    def __init__(self, condition: str, member: str, rule: str) -> None:
        super().__init__(condition)
        self.condition, self.member, self.rule = condition, member, rule


class Node:
    """A value on its way. `put`: the place in the patch by which it, or a value around it, was put where it is;
    `changed`: that by which something within was put or taken away last; `gone`: those by which members were."""

    def __init__(self, value: Any, put: Path | None) -> None:
        self.put, self.changed, self.gone = put, put, dict[str, Path]()
        self.inner: Any = value
        if isinstance(value, dict):
            self.inner = {name: Node(each, beyond(put, (name,))) for name, each in value.items()}
        elif isinstance(value, list):
            self.inner = [Node(each, beyond(put, (index,))) for index, each in enumerate(value)]

    @property
    def value(self) -> Any:
        if isinstance(self.inner, dict):
            return {name: each.value for name, each in self.inner.items()}
        return [each.value for each in self.inner] if isinstance(self.inner, list) else self.inner

    def step(self, token: str, member: str) -> Node:
        if isinstance(self.inner, dict) and token in self.inner:
            return self.inner[token]  # type: ignore[no-any-return]
        if isinstance(self.inner, list) and INDEX.fullmatch(token) and int(token) < len(self.inner):
            return self.inner[int(token)]  # type: ignore[no-any-return]
        raise Undone("conflict", member, "there")


def beyond(put: Path | None, path: Path) -> Path | None:
    """Of what an edit brings itself, each value has its own place."""
    return put if put is None or put[1] != "value" else (*put, *path)


class Edited:
    """A row that is edited: the member `""` of `around`."""

    def __init__(self, document: Any) -> None:
        self.around = Node({"": document}, None)

    @property
    def value(self) -> Any:
        return self.around.value[""]

    def do(self, index: int, edit: Mapping[str, Any]) -> None:
        path, by = _tokens(edit["path"]), (index, "path")
        match edit["op"]:
            case "add":
                self._add(path, Node(edit["value"], (index, "value")), by)
            case "remove" if path == [""]:
                raise Undone("conflict", "path", "whole")
            case "remove":
                self._remove(path, by)
            case "replace":
                self._remove(path, by)
                self._add(path, Node(edit["value"], (index, "value")), by)
            case "copy":
                self._add(path, Node(self._at(_tokens(edit["from"]), "from")[-1].value, by), by)
            case "test" if not alike(self._at(path, "path")[-1].value, edit["value"]):
                raise Undone("different", "value", "test")
            case "move":
                taken = _tokens(edit["from"])
                if len(path) > len(taken) and path[: len(taken)] == taken:
                    raise Undone("conflict", "path", "inside")
                found = self._remove(taken, (index, "from"))
                self._add(path, Node(found.value, by), by)

    def _at(self, path: Sequence[str], member: str) -> list[Node]:
        """All that leads to a place, and what is there."""
        found = [self.around]
        for token in path:
            found.append(found[-1].step(token, member))
        return found

    def _add(self, path: Sequence[str], node: Node, by: Path) -> None:
        above, last = self._at(path[:-1], "path"), path[-1]
        within = above[-1]
        if isinstance(within.inner, dict):
            within.inner[last] = node
            within.gone.pop(last, None)
        elif isinstance(within.inner, list):
            if last != "-" and not (INDEX.fullmatch(last) and int(last) <= len(within.inner)):
                raise Undone("conflict", "path", "there")
            within.inner.insert(len(within.inner) if last == "-" else int(last), node)
        else:
            raise Undone("conflict", "path", "there")
        for each in above:
            each.changed = by

    def _remove(self, path: Sequence[str], by: Path) -> Node:
        *above, found = self._at(path, str(by[1]))
        within = above[-1]
        if isinstance(within.inner, dict):
            del within.inner[path[-1]]
            within.gone[path[-1]] = by
        else:
            del within.inner[int(path[-1])]
        for each in above:
            each.changed = by
        return found

    def came(self, path: Path) -> Path:
        """The place in the patch that a place of the row is told of; of what no edit is about, the whole patch."""
        node = self.around
        for depth, token in enumerate(("", *map(str, path))):
            try:
                node = node.step(token, "path")
            except Undone:
                return node.gone.get(token) or beyond(node.put, path[depth - 1 :]) or ()
        return node.changed or ()


def _tokens(pointer: str) -> list[str]:
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")]


def no_patch(document: Any) -> Iterator[tuple[Path, str]]:
    """What keeps a document from being a patch."""
    if not isinstance(document, list):
        yield (), "type"
        return
    for index, edit in enumerate(document):
        if not isinstance(edit, dict):
            yield (index,), "type"
            continue
        op = edit.get("op")
        needed = NAMES.get(op) if isinstance(op, str) else None
        # Member by member, as RFC 6902 speaks of them: the two that every edit has come first.
        for name in ("op", "path", "from", "value"):
            if name not in edit:
                if name in ("op", "path", *(needed or ())):
                    yield (index, name), "required"
            elif name == "op":
                if needed is None:
                    yield (index, name), "enum"
            elif name != "value" and not isinstance(edit[name], str):
                yield (index, name), "type"
            elif name != "value" and not POINTER.fullmatch(edit[name]):
                yield (index, name), "pattern"


def before(leaves: Sequence[BodyLeaf], fields: Mapping[str, Field], was: Mapping[str, Any]) -> dict[str, Any]:
    """The row as the body would give it."""
    document: dict[str, Any] = {}
    for leaf in leaves:
        field, around = fields[leaf.field], document
        for name in leaf.pointer[:-1]:
            around = around.setdefault(name, {})
        value = was.get(leaf.field)
        if field.secret is None and (value is not None or "null" in field.schema.get("type", ())):
            around[leaf.pointer[-1]] = value
    return document


def done(document: Any, patch: Sequence[Mapping[str, Any]], resource: str) -> Edited | Failure:
    """What becomes of a document; or the failure of the first edit that cannot be done."""
    edited = Edited(document)
    for index, edit in enumerate(patch):
        try:
            edited.do(index, edit)
        except Undone as undone:
            place = (index, undone.member)
            return Failure(undone.condition, resource, fields=(Broken("body", place, undone.rule),))
    return edited
