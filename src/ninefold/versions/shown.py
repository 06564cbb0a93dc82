"""What an older version shows in the place of a field: its expressions of what is shown read that instead.

Views, responses with their headers, payloads, filters and orders are what callers see of a row. All else (row rules,
permissions, guards, invariants, values that the contract gives) is the contract's own, and reads what is stored: a rule
holds in every version as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions import ast
from ninefold.expressions.ast import Ast
from ninefold.language.endpoints import Endpoint
from ninefold.language.events import EventKind
from ninefold.language.expressions import Assignment, Expression, Items, Leaf, Members, Template
from ninefold.language.fact import Name, Shown, value_of
from ninefold.language.requests import Filter, Sorts
from ninefold.language.resources import Resource
from ninefold.language.responses import Response
from ninefold.versions.templates import showing

_OVER_ITEMS = frozenset({"map", "filter", "all", "exists", "exists_one", "flatMap"})
"""Functions whose first argument is a name for each item in turn."""

_Rows = Mapping[str, str]
"""Names of rows, each with its resource."""


def with_shown(contract: Contract) -> Contract:
    """The contract with every such expression reading what is shown."""
    resources = value_of(contract.resources.resources) or ()
    reading = _Reading(
        refers={
            (each.name, field.name): target.text
            for each in resources
            for field in value_of(each.fields) or ()
            if (target := value_of(field.refers_to)) is not None
        },
        back={
            (target.text, called.text): each.name
            for each in resources
            for field in value_of(each.fields) or ()
            if (target := value_of(field.refers_to)) is not None and (called := value_of(field.back)) is not None
        },
        shown=dict(pair for each in resources for pair in _shown(each)),
        own={each.name: each.name for each in resources},
    )
    return contract if not reading.shown else reading.of(contract)


def _shown(resource: Resource) -> list[tuple[tuple[str, str], str]]:
    fields = value_of(resource.fields) or ()
    names = {field.name for field in fields}
    found = []
    for field in fields:
        if field.seen is not None and field.seen.instead is not None:
            found.append(((resource.name, field.name), field.seen.instead))
        elif field.called is not None and field.seen is not None and field.seen.place_of is None:
            if field.is_older and field.called not in names:
                found.append(((resource.name, field.called), field.name))
    return found


@dataclass(frozen=True, slots=True)
class _Reading:
    """`refers` and `back`: where fields and back-references lead; `shown`: what is read instead of a field."""

    refers: Mapping[tuple[str, str], str]
    back: Mapping[tuple[str, str], str]
    shown: Mapping[tuple[str, str], str]
    own: _Rows

    def of(self, contract: Contract) -> Contract:
        resources, endpoints, events = contract.resources, contract.endpoints, contract.events
        stated, served, kinds = resources.resources, endpoints.endpoints, events.kinds
        if isinstance(stated, Shown):
            stated = replace(stated, value=tuple(map(self.resource, stated.value)))
        if isinstance(served, Shown):
            served = replace(served, value=tuple(map(self.endpoint, served.value)))
        if isinstance(kinds, Shown):
            kinds = replace(kinds, value=tuple(map(self.kind, kinds.value)))
        return replace(
            contract,
            resources=replace(resources, resources=stated),
            endpoints=replace(endpoints, endpoints=served),
            events=replace(events, kinds=kinds),
        )

    def resource(self, each: Resource) -> Resource:
        if not isinstance(each.views, Shown):
            return each
        views = tuple(replace(view, template=self.template(view.template, self.own)) for view in each.views.value)
        return replace(each, views=replace(each.views, value=views))

    def kind(self, each: EventKind) -> EventKind:
        if not isinstance(each.payload, Shown):
            return each
        return replace(each, payload=replace(each.payload, value=self.template(each.payload.value, self.own)))

    def endpoint(self, each: Endpoint) -> Endpoint:
        resource = next((action.subject for action in value_of(each.does) or ()), None)
        rows = self.own if resource is None else {**self.own, "page.items": resource}
        responses, headers, filters, sorts = each.responses, each.headers, each.filters, each.sorts
        if isinstance(responses, Shown):
            responses = replace(responses, value=tuple(self.response(r, rows) for r in responses.value))
        if isinstance(headers, Shown):
            headers = replace(headers, value=tuple(self.assignment(h, rows) for h in headers.value))
        if isinstance(filters, Shown):
            filters = replace(filters, value=tuple(self.filter(f, rows) for f in filters.value))
        if isinstance(sorts, Shown) and resource is not None:
            sorts = replace(sorts, value=self.sorts(sorts.value, resource))
        each = showing(each, lambda template: self.template(template, rows))
        return replace(each, responses=responses, headers=headers, filters=filters, sorts=sorts)

    def response(self, each: Response, rows: _Rows) -> Response:
        if not isinstance(each.content, Shown) or isinstance(each.content.value, Name):
            return each
        return replace(each, content=replace(each.content, value=self.template(each.content.value, rows)))

    def assignment(self, each: Assignment, rows: _Rows) -> Assignment:
        return replace(each, value=self.expression(each.value, rows))

    def filter(self, each: Filter, rows: _Rows) -> Filter:
        if not isinstance(each.condition, Shown):
            return each
        return replace(each, condition=replace(each.condition, value=self.expression(each.condition.value, rows)))

    def sorts(self, each: Sorts, resource: str) -> Sorts:
        changed = {}
        for name in ("default", "offered"):
            keys = getattr(each, name)
            if isinstance(keys, Shown):
                by = tuple(replace(k, field=self.shown.get((resource, k.field), k.field)) for k in keys.value)
                changed[name] = replace(keys, value=by)
        return replace(each, **changed)

    def template(self, template: Template, rows: _Rows) -> Template:
        match template:
            case Members(members):
                shown = tuple(replace(each, value=self.template(each.value, rows)) for each in members)
                return replace(template, members=shown)
            case Items(items):
                return replace(template, items=tuple(self.template(item, rows) for item in items))
            case Leaf(expression):
                return Leaf(self.expression(expression, rows))

    def expression(self, expression: Expression, rows: _Rows) -> Expression:
        return replace(expression, ast=self.ast(expression.ast, rows))

    # Expressions

    def ast(self, node: Ast, rows: _Rows) -> Ast:
        match node:
            case ast.Member(operand=operand, name=name):
                row = self.row(operand, rows)
                instead = name if row is None else self.shown.get((row, name), name)
                return replace(node, operand=self.ast(operand, rows), name=instead)
            case ast.Invocation(function=function, target=target, arguments=arguments):
                inside = rows
                if target is not None and function in _OVER_ITEMS and arguments and isinstance(arguments[0], ast.Name):
                    item = self.items(target, rows)
                    inside = {name: row for name, row in rows.items() if name != arguments[0].name}
                    inside |= {} if item is None else {arguments[0].name: item}
                return replace(
                    node,
                    target=None if target is None else self.ast(target, rows),
                    arguments=tuple(self.ast(each, inside) for each in arguments),
                )
            case ast.Index(operand=operand, index=index):
                return replace(node, operand=self.ast(operand, rows), index=self.ast(index, rows))
            case ast.ListLiteral(items=items):
                return replace(node, items=tuple(self.ast(item, rows) for item in items))
            case ast.MapLiteral(entries=entries):
                return replace(node, entries=tuple((key, self.ast(value, rows)) for key, value in entries))
            case ast.Unary(operand=operand):
                return replace(node, operand=self.ast(operand, rows))
            case ast.Binary(left=left, right=right):
                return replace(node, left=self.ast(left, rows), right=self.ast(right, rows))
            case ast.Conditional(condition=condition, yes=yes, no=no):
                parts = (self.ast(each, rows) for each in (condition, yes, no))
                return replace(node, condition=next(parts), yes=next(parts), no=next(parts))
            case ast.Literal() | ast.Name():
                return node

    def row(self, node: Ast, rows: _Rows) -> str | None:
        """The resource of the row that an expression is."""
        match node:
            case ast.Name(name):
                return rows.get(name)
            case ast.Member(operand=ast.Name(name="caller" | "before"), name=name):
                return self.own.get(name)
            case ast.Member(operand=operand, name=name):
                row = self.row(operand, rows)
                return None if row is None else self.refers.get((row, name))
            case _:
                return None

    def items(self, node: Ast, rows: _Rows) -> str | None:
        """The resource of the rows that an expression is a list of."""
        match node:
            case ast.Member(operand=ast.Name(name="page"), name="items"):
                return rows.get("page.items")
            case ast.Member(operand=operand, name=name):
                row = self.row(operand, rows)
                return None if row is None else self.back.get((row, name))
            case ast.Invocation(function="all", target=None, arguments=(ast.Name(name),)):
                return self.own.get(name)
            case ast.Invocation(function="filter" | "sort" | "distinct", target=target) if target is not None:
                return self.items(target, rows)
            case _:
                return None
