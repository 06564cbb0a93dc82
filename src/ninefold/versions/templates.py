"""Templates in which a field is shown: views, bodies, responses and payloads.

A member that shows a field alone, under the name that callers know the field by, is called as the field is; where the
field is not there, neither is the member, whatever it is called. So it is of the objects that an expression makes:
`paid ? {'at': order.paid_at} : null`, `order.lines.map(l, {'sku': l.sku})`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar

from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions import ast
from ninefold.language.endpoints import Endpoint
from ninefold.language.events import EventKind
from ninefold.language.expressions import Items, Leaf, Member, Members, Template
from ninefold.language.fact import Fact, Name, Shown, value_of
from ninefold.language.requests import Expanded
from ninefold.language.resources import Resource
from ninefold.language.responses import Response

T = TypeVar("T")

Called = Callable[[str], str | None]
"""From the name that a field has to the older one; None: it is not shown."""


def called_so(endpoint: Endpoint, own: str, called: Called) -> Endpoint:
    """The endpoint with what it offers called as `called` says. `own`: the name that the field has."""

    def member(name: Name) -> Name | None:
        if name.text != own:
            return name
        older = called(name.text)
        return None if older is None else replace(name, text=older)

    def asked(each: Expanded) -> Expanded | None:
        if each.name != own:
            return each
        older = called(each.name)
        return None if older is None else replace(each, name=older)

    projection, expand = endpoint.projection, endpoint.expand
    if isinstance(projection, Shown):
        stated = projection.value
        stated = replace(stated, offered=_each(stated.offered, member), always=_each(stated.always, member))
        projection = replace(projection, value=stated)
    if isinstance(expand, Shown):
        expand = replace(expand, value=replace(expand.value, offered=_each(expand.value.offered, asked)))
    return replace(endpoint, projection=projection, expand=expand)


def showing(endpoint: Endpoint, shown: Callable[[Template], Template]) -> Endpoint:
    """The endpoint with `shown` made of each template that it shows on request."""

    def asked(each: Expanded) -> Expanded:
        return each if each.shows is None else replace(each, shows=shown(each.shows))

    expand = endpoint.expand
    if isinstance(expand, Shown):
        expand = replace(expand, value=replace(expand.value, offered=_each(expand.value.offered, asked)))
    return replace(endpoint, expand=expand)


def _each(fact: Fact[tuple[T, ...]] | None, change: Callable[[T], T | None]) -> Fact[tuple[T, ...]] | None:
    if not isinstance(fact, Shown):
        return fact
    changed = (change(each) for each in fact.value)
    return replace(fact, value=tuple(each for each in changed if each is not None))


Shows: TypeAlias = Callable[[str], str | None]
"""From the name under which a field is shown to the older one; None: it is not shown."""

_Graph: TypeAlias = Mapping[str, Mapping[str, str | None]]
"""The resources, each with its fields and what these refer to."""

_Rows: TypeAlias = Mapping[str, str]
"""Names of rows that are no resources', each with its resource; `page.items` has that of a list."""


def in_templates(contract: Contract, field: tuple[str, str], called: Shows) -> Contract:
    """The contract with every such member called as `called` says. `field`: a resource, and one of its fields."""
    resources = value_of(contract.resources.resources) or ()
    graph = {
        each.name: {
            own.name: None if (target := value_of(own.refers_to)) is None else target.text
            for own in value_of(each.fields) or ()
        }
        for each in resources
    }
    back = {
        (to, known_as.text): each.name
        for each in resources
        for own in value_of(each.fields) or ()
        if (to := graph[each.name][own.name]) is not None and (known_as := value_of(own.back)) is not None
    }
    objects = _Objects(graph, back, field, called)

    def shown(template: Template, own: str | None, rows: _Rows) -> Template:
        match template:
            case Members(members):
                found = (member(each, own, rows) for each in members)
                return replace(template, members=tuple(each for each in found if each is not None))
            case Items(items):
                return replace(template, items=tuple(shown(item, own, rows) for item in items))
            case Leaf(expression):
                return Leaf(replace(expression, ast=objects.within(expression.ast, rows)))

    def member(each: Member, own: str | None, rows: _Rows) -> Member | None:
        if isinstance(each.value, Leaf) and _field(each.value.expression.ast, own, graph, rows) == field:
            name = called(each.name)
            return None if name is None else replace(each, name=name)
        return replace(each, value=shown(each.value, own, rows))

    def resource(each: Resource) -> Resource:
        if not isinstance(each.views, Shown):
            return each
        views = tuple(replace(view, template=shown(view.template, None, {})) for view in each.views.value)
        return replace(each, views=replace(each.views, value=views))

    def response(each: Response, rows: _Rows) -> Response:
        if not isinstance(each.content, Shown) or isinstance(each.content.value, Name):
            return each
        return replace(each, content=replace(each.content, value=shown(each.content.value, None, rows)))

    def endpoint(each: Endpoint) -> Endpoint:
        acted_on = next((action.subject for action in value_of(each.does) or ()), None)
        rows = {} if acted_on is None else {_PAGE: acted_on}
        body, responses = each.body, each.responses
        if isinstance(body, Shown) and body.value.template is not None:
            body = replace(body, value=replace(body.value, template=shown(body.value.template, acted_on, {})))
        if isinstance(responses, Shown):
            responses = replace(responses, value=tuple(response(one, rows) for one in responses.value))
        return showing(replace(each, body=body, responses=responses), lambda template: shown(template, None, rows))

    def kind(each: EventKind) -> EventKind:
        if not isinstance(each.payload, Shown):
            return each
        return replace(each, payload=replace(each.payload, value=shown(each.payload.value, None, {})))

    parts = contract.resources, contract.endpoints, contract.events
    stated, endpoints, kinds = parts[0].resources, parts[1].endpoints, parts[2].kinds
    if isinstance(stated, Shown):
        stated = replace(stated, value=tuple(map(resource, stated.value)))
    if isinstance(endpoints, Shown):
        endpoints = replace(endpoints, value=tuple(map(endpoint, endpoints.value)))
    if isinstance(kinds, Shown):
        kinds = replace(kinds, value=tuple(map(kind, kinds.value)))
    return replace(
        contract,
        resources=replace(parts[0], resources=stated),
        endpoints=replace(parts[1], endpoints=endpoints),
        events=replace(parts[2], kinds=kinds),
    )


_PAGE = "page.items"


@dataclass(frozen=True, slots=True)
class _Objects:
    """The objects that expressions make, where what is shown is made of them. `back`: of a resource and a
    back-reference, the resource of the rows."""

    graph: _Graph
    back: Mapping[tuple[str, str], str]
    field: tuple[str, str]
    called: Shows

    def within(self, node: ast.Ast, rows: _Rows) -> ast.Ast:
        match node:
            case ast.MapLiteral(entries=entries):
                found = (self.entry(key, value, rows) for key, value in entries)
                return replace(node, entries=tuple(each for each in found if each is not None))
            case ast.ListLiteral(items=items):
                return replace(node, items=tuple(self.within(item, rows) for item in items))
            case ast.Conditional(yes=yes, no=no):
                return replace(node, yes=self.within(yes, rows), no=self.within(no, rows))
            case ast.Invocation(function="map", target=target, arguments=(ast.Name(name), *asked, body)) if target:
                of = self.items(target, rows)
                inside = {each: row for each, row in rows.items() if each != name}
                inside |= {} if of is None else {name: of}
                return replace(node, arguments=(node.arguments[0], *asked, self.within(body, inside)))
            case _:
                return node

    def entry(self, key: ast.Ast, value: ast.Ast, rows: _Rows) -> tuple[ast.Ast, ast.Ast] | None:
        if isinstance(key, ast.Literal) and isinstance(key.value, str):
            if _field(value, None, self.graph, rows) == self.field:
                name = self.called(key.value)
                return None if name is None else (replace(key, value=name), value)
        return key, self.within(value, rows)

    def items(self, node: ast.Ast, rows: _Rows) -> str | None:
        """The resource of the rows that an expression is a list of."""
        match node:
            case ast.Member(operand=ast.Name(name="page"), name="items"):
                return rows.get(_PAGE)
            case ast.Member(operand=operand, name=name):
                row = _row(operand, self.graph, rows)
                return None if row is None else self.back.get((row, name))
            case ast.Invocation(function="all", target=None, arguments=(ast.Name(name),)):
                return name if name in self.graph else None
            case ast.Invocation(function="filter" | "sortBy" | "distinct", target=target) if target is not None:
                return self.items(target, rows)
            case _:
                return None


def _field(node: ast.Ast, own: str | None, graph: _Graph, rows: _Rows) -> tuple[str, str] | None:
    """The field that an expression is, and nothing else. `own`: whose field a bare name is."""
    match node:
        case ast.Name(name) if own is not None and name in graph.get(own, {}):
            return own, name
        case ast.Member(operand=operand, name=name):
            row = _row(operand, graph, rows)
            return (row, name) if row is not None and name in graph[row] else None
        case _:
            return None


def _row(node: ast.Ast, graph: _Graph, rows: _Rows) -> str | None:
    """The resource of the row that an expression is, where it is one that is named or referred to."""
    match node:
        case ast.Name(name):
            return rows.get(name, name if name in graph else None)
        case ast.Member(operand=ast.Name(name="caller" | "before"), name=name) if name in graph:
            return name
        case ast.Member(operand=operand, name=name):
            row = _row(operand, graph, rows)
            target = None if row is None else graph[row].get(name)
            return target if target in graph else None
        case _:
            return None
