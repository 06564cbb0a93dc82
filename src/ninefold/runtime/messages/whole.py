"""What is asked of a body as a whole, and what it gives that has no name of its own."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from ninefold.plan import routes as plan
from ninefold.runtime.messages.named import members_named
from ninefold.runtime.messages.schemas import Node, Schemas
from ninefold.runtime.messages.violations import Broken
from ninefold.values import Invalid, Value, json_reader

_ANY: Final[Node] = {"additionalProperties": True}


class Whole:
    """What a plan says of a whole body, made ready. `edits`: the body is a JSON Patch, which edits fields alone."""

    def __init__(self, whole: plan.WholeBody, edits: bool) -> None:
        self.schemas = Schemas(whole.schema)
        # Where nothing says which members there are, all are.
        is_free = not self.schemas.says_members(whole.schema)
        self.names: tuple[Node, ...] = (whole.schema, *([_ANY] if is_free else []))
        self._at_times = frozenset(whole.at_times)
        self._others = None if whole.others is None or edits else json_reader(whole.others)

    def without_others(self, document: Any, whole: Any) -> Any:
        """The document without the members that are such at times, and not in this one."""
        if not self._at_times or type(document) is not dict or type(whole) is not dict:
            return document
        given = self._at_times & document.keys()
        lost = given - members_named(self.schemas, whole, given) if given else given
        return {name: value for name, value in document.items() if name not in lost} if lost else document

    def give(self, document: Any, values: dict[str, Value], known: Collection[str]) -> list[Broken]:
        """Put the values of a valid body that have no name of their own beside those that have; and what of them is
        none."""
        wrong: list[Broken] = []
        read = self._others
        if read is None:
            return wrong
        for name in document.keys() - known:
            try:
                values[name] = read(document[name])
            except Invalid as failure:
                wrong.append(((name, *failure.path), failure.rule))
        return wrong
