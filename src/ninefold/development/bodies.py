"""Bodies for the author's eyes: whole, but for what the contract calls `secret` or `sensitive`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ninefold.expressions.tree import Select, Typed, Variable, walk
from ninefold.plan.operations import Compute, List, Read, Stream, Sweep
from ninefold.plan.responses import ArrayOf, ChoiceOf, Content, EachOf, EachRow, FromColumn, FromExpression, ObjectOf
from ninefold.plan.routes import Served, bodies
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import ResultColumn
from ninefold.plan.writes import Write

MASK = "***"

LONGEST = 2_000
"""Characters of a body that are shown."""


class Bodies:
    """What may be shown of the bodies of a service."""

    def __init__(self, plan: ServicePlan) -> None:
        self._routes = {route.key: route for route in plan.routes if isinstance(route, Served)}
        self._hidden = {each.resource: {*each.secrets, *each.sensitive} for each in plan.operator_operations}
        self._names = frozenset().union(*self._hidden.values())

    def sent(self, key: str | None, content: bytes) -> str:
        """The body of a request."""
        route = self._routes.get(key or "")
        if not content or route is None or route.body is None:
            return _size(content)
        try:
            document = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            # Where it ends nobody can tell, and so not where a secret in it would.
            return _size(content) if self._names else _short(content.decode("utf-8", "replace"))
        hidden = self._hidden.get(self._resource(route), set())
        for field in (field for body in bodies(route) for field in body.fields):
            if field.field in hidden:
                _mask_at(document, field.pointer)
        # A member that the endpoint does not know may be one that was meant.
        return _short(_text(_without_names(document, self._names)))

    def answered(self, key: str | None, status: int, body: bytes, who: str) -> str:
        """The body of a response."""
        route = self._routes.get(key or "")
        if not body:
            return ""
        try:
            document = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            return _size(body)
        if route is not None and status < 400:
            # Of which case the answer is nobody knows here: what any of them hides is hidden.
            for operation in (each.operation for each in route.admissions if each.who == who):
                if not isinstance(operation, Stream):
                    for content in _contents(operation, status):
                        document = self._masked(document, content, *_columns(operation))
        return _short(_text(document))

    def _resource(self, route: Served) -> str:
        operation = route.admissions[0].operation if route.admissions else None
        return operation.resource if isinstance(operation, Read | List | Write | Sweep) else ""

    def _masked(
        self,
        document: Any,
        content: Content,
        columns: Sequence[ResultColumn],
        of_rows: Sequence[ResultColumn] = (),
    ) -> Any:
        """`of_rows`: the columns of the rows of a page."""
        match content:
            case FromColumn(column=index):
                return MASK if document is not None and self._hides(columns[index].name) else document
            case FromExpression(expression=expression):
                return MASK if document is not None and self._tells(expression) else document
            case ObjectOf(members=members, expanded=asked) if isinstance(document, dict):
                known = dict(members)
                # What is shown as a row was asked for.
                known |= {name: value for name, value in asked if isinstance(document.get(name), dict | list)}
                return {
                    name: self._masked(value, known[name], columns, of_rows) if name in known else value
                    for name, value in document.items()
                }
            case ArrayOf(items=items) if isinstance(document, list) and len(items) == len(document):
                pairs = zip(document, items, strict=True)
                return [self._masked(value, item, columns, of_rows) for value, item in pairs]
            case ArrayOf() if isinstance(document, list):
                # Members without a value are left out: which these are cannot be told.
                return [MASK for _ in document] if self._names else document
            case EachRow(item=item) if isinstance(document, list):
                return [self._masked(value, item, of_rows) for value in document]
            case EachOf(item=item, columns=within) if isinstance(document, list):
                return [self._masked(value, item, within) for value in document]
            case ChoiceOf(yes=yes, no=no):
                # Which of them is shown cannot be told: what either hides is hidden.
                return self._masked(self._masked(document, yes, columns, of_rows), no, columns, of_rows)
            case _:
                return document

    def _tells(self, expression: Typed) -> bool:
        """Whether an expression over the request tells a secret, or something sensitive of the caller."""
        for node in walk(expression):
            match node:
                case Variable(name="issued" | "operator"):
                    return True
                case Select(operand=Variable(name="caller"), name="credential"):
                    return True
                case Select(name=name) if name in self._names:
                    return True
                case _:
                    pass
        return False

    def _hides(self, column: str) -> bool:
        """A column is called as the path to its field; one that is computed may be made of anything."""
        if not self._names:
            return False
        return column.rpartition(".")[2] in self._names or column.startswith("column ")


def _contents(operation: Read | List | Write | Sweep | Compute, status: int) -> Iterator[Content]:
    """What may be shown with a status: two good ends may share one."""
    ends = operation.ends_well if isinstance(operation, Write) else (operation.response,)
    for end in ends:
        if end.content is not None and (len(ends) == 1 or end.status == status):
            yield end.content


def _columns(
    operation: Read | List | Write | Sweep | Compute,
) -> tuple[Sequence[ResultColumn], Sequence[ResultColumn]]:
    """Those of what is shown, and those of the rows of a page."""
    match operation:
        case Write():
            return operation.results, ()
        case Compute():
            return () if operation.select is None else operation.select.columns, ()
        case Read():
            return operation.select.columns, ()
        case List():
            return () if operation.head is None else operation.head.columns, operation.select.columns
        case Sweep(items=items, head=head):
            return () if head is None else head.columns, () if items is None else items.columns


def _mask_at(document: Any, pointer: Sequence[str]) -> None:
    for name in pointer[:-1]:
        document = document.get(name) if isinstance(document, dict) else None
    if pointer and isinstance(document, dict) and document.get(pointer[-1]) is not None:
        document[pointer[-1]] = MASK


def _without_names(document: Any, names: frozenset[str]) -> Any:
    match document:
        case dict():
            return {
                name: MASK if name in names and value is not None else _without_names(value, names)
                for name, value in document.items()
            }
        case list():
            return [_without_names(value, names) for value in document]
        case _:
            return document


def _text(document: Any) -> str:
    return msgspec.json.encode(document).decode()


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def _size(body: bytes) -> str:
    return f"({len(body):,} bytes)" if body else ""


def lines(sent: str, answered: str) -> Iterator[str]:
    """What went in and what came out, where there was something."""
    if sent:
        yield "> " + sent
    if answered:
        yield "< " + answered
