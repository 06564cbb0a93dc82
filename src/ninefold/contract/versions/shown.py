"""What callers see of a row: views, bodies, responses and errors with their headers, payloads, filters and orders.

A member of a template that shows a field alone, under the name that callers know the field by, is called as the field
is; where the field is not there, neither is the member, whatever it is called. So it is of the objects that an
expression makes: `paid ? {'at': order.paid_at} : null`, `order.lines.map(l, {'sku': l.sku})`.

Where an older version shows something in the place of a field, these expressions read that instead. All else (row
rules, permissions, guards, invariants, values that the contract gives) is the contract's own, and reads what is stored:
a rule holds in every version as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ninefold.contract.rows import PAGE, Graph, ReadAs, Rows, graph_of
from ninefold.contract.service import KINDS, Contract
from ninefold.contract.versions.way import each_in, in_fact
from ninefold.contract.writes import acted_on
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.expressions import ast
from ninefold.expressions.ast import Ast
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import ErrorCode
from ninefold.language.events import EventKind
from ninefold.language.expressions import Assignment, Items, Leaf, Member, Members, Template, with_leaves
from ninefold.language.fact import Fact, Name, Shown, value_of
from ninefold.language.orders import Offered, SortKey
from ninefold.language.parameters import Expanded, Parameter
from ninefold.language.resources import Resource, View
from ninefold.language.responses import Response

Shows: TypeAlias = Callable[[str], str | None]
"""From the name under which a field is shown to the older one; None: it is not shown."""


# ── Where a row is shown ──────────────────────────────────────────────────────────────────────────────────────


def in_what_is_shown(
    contract: Contract,
    rows: Rows,
    shown: Callable[[Template, Rows], Template],
    besides: Callable[[Endpoint, str | None, Rows], Endpoint],
) -> Contract:
    """The contract with `shown` made of each template in which rows are shown, and `besides` of what else an endpoint
    shows of the resource that it acts on. `rows`: the names that mean a row everywhere."""

    def view(each: View) -> View:
        return replace(each, template=shown(each.template, rows))

    def resource(each: Resource) -> Resource:
        return replace(each, views=each_in(each.views, view))

    def kind(each: EventKind) -> EventKind:
        return replace(each, payload=in_fact(each.payload, lambda template: shown(template, rows)))

    def endpoint(each: Endpoint) -> Endpoint:
        resource = acted_on(each)
        listed = rows if resource is None else {**rows, PAGE: resource}

        def response(one: Response) -> Response:
            if not isinstance(one.content, Shown) or isinstance(one.content.value, Name):
                return one
            return replace(one, content=replace(one.content, value=shown(one.content.value, listed)))

        def asked(one: Expanded) -> Expanded:
            return one if one.shows is None else replace(one, shows=shown(one.shows, listed))

        each = replace(
            each,
            responses=each_in(each.responses, response),
            query=each_in(each.query, lambda own: replace(own, expands=each_in(own.expands, asked))),
        )
        return besides(each, resource, listed)

    resources, endpoints, events = contract.resources, contract.endpoints, contract.events
    return replace(
        contract,
        resources=replace(resources, resources=each_in(resources.resources, resource)),
        endpoints=replace(endpoints, endpoints=each_in(endpoints.endpoints, endpoint)),
        events=replace(events, kinds=each_in(events.kinds, kind)),
    )


# ── A field under another name, or none ───────────────────────────────────────────────────────────────────────


def in_templates(contract: Contract, field: tuple[str, str], called: Shows) -> Contract:
    """The contract with every member that shows a field called as `called` says. `field`: a resource, and one of its
    fields."""
    graph = graph_of(contract)
    members = _Members(graph, field, called)

    def besides(each: Endpoint, resource: str | None, _: Rows) -> Endpoint:
        def gives(template: Template) -> Template:
            return members.template(template, graph.rows, resource)

        body = in_fact(
            each.body, lambda own: own if own.template is None else replace(own, template=gives(own.template))
        )
        return replace(each, body=body)

    return in_what_is_shown(contract, graph.rows, members.template, besides)


@dataclass(frozen=True, slots=True)
class _Members:
    """The members of templates, and of the objects that expressions make of what is shown."""

    graph: Graph
    field: tuple[str, str]
    called: Shows

    def template(self, template: Template, rows: Rows, own: str | None = None) -> Template:
        """`own`: the resource whose fields bare names are."""
        match template:
            case Members(members):
                found = (self.member(each, rows, own) for each in members)
                return replace(template, members=tuple(each for each in found if each is not None))
            case Items(items):
                return replace(template, items=tuple(self.template(item, rows, own) for item in items))
            case Leaf(expression):
                return Leaf(replace(expression, ast=self.within(expression.ast, rows)))

    def member(self, each: Member, rows: Rows, own: str | None) -> Member | None:
        if isinstance(each.value, Leaf) and self.is_field(each.value.expression.ast, rows, own):
            name = self.called(each.name)
            return None if name is None else replace(each, name=name)
        return replace(each, value=self.template(each.value, rows, own))

    def within(self, node: Ast, rows: Rows) -> Ast:
        match node:
            case ast.MapLiteral(entries=entries):
                found = (self.entry(key, value, rows) for key, value in entries)
                return replace(node, entries=tuple(each for each in found if each is not None))
            case ast.ListLiteral(items=items):
                return replace(node, items=tuple(self.within(item, rows) for item in items))
            case ast.Conditional(yes=yes, no=no):
                return replace(node, yes=self.within(yes, rows), no=self.within(no, rows))
            case ast.Invocation(function="map", target=target, arguments=(*asked, body)) if target and asked:
                return replace(node, arguments=(*asked, self.within(body, self.graph.within(node, rows))))
            case _:
                return node

    def entry(self, key: Ast, value: Ast, rows: Rows) -> tuple[Ast, Ast] | None:
        if isinstance(key, ast.Literal) and isinstance(key.value, str) and self.is_field(value, rows, None):
            name = self.called(key.value)
            return None if name is None else (replace(key, value=name), value)
        return key, self.within(value, rows)

    def is_field(self, node: Ast, rows: Rows, own: str | None) -> bool:
        """Whether an expression is the field, and nothing else."""
        match node:
            case ast.Name(name):
                return (own, name) == self.field
            case ast.Member(operand=operand, name=name):
                return (self.graph.row(operand, rows), name) == self.field
            case _:
                return False


def called_so(endpoint: Endpoint, own: str, called: Shows) -> Endpoint:
    """The endpoint with what a request chooses of it called as `called` says. `own`: the name that the field has."""

    def member(name: Name) -> Name | None:
        older = called(name.text) if name.text == own else name.text
        return None if older is None else replace(name, text=older)

    def asked(each: Expanded) -> Expanded | None:
        older = called(each.name) if each.name == own else each.name
        return None if older is None else replace(each, name=older)

    def chosen(own: Parameter) -> Parameter:
        selects, always = each_in(own.selects, member), each_in(own.always, member)
        return replace(own, selects=selects, always=always, expands=each_in(own.expands, asked))

    return replace(endpoint, query=each_in(endpoint.query, chosen))


# ── What is shown in the place of a field ─────────────────────────────────────────────────────────────────────


def with_shown(contract: Contract) -> Contract:
    """The contract with every expression of what is shown reading what an older version shows instead of a field."""
    instead = dict(pair for each in value_of(contract.resources.resources) or () for pair in _instead(each))
    return with_instead(contract, instead) if instead else contract


def with_instead(contract: Contract, instead: Mapping[tuple[str, str], str]) -> Contract:
    """The contract with every expression of what is shown reading other fields. `instead`: as in `ReadAs`."""
    graph = graph_of(contract)
    if KINDS in instead:
        graph = replace(graph, fields={**graph.fields, KINDS[0]: {}})
    reading = _Reading(ReadAs(graph, instead))
    found = in_what_is_shown(contract, graph.rows, reading.template, reading.endpoint)
    codes = each_in(found.errors.codes, lambda code: reading.code(code, graph.rows))
    return replace(found, errors=replace(found.errors, codes=codes))


def _instead(resource: Resource) -> list[tuple[tuple[str, str], str]]:
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
    read: ReadAs

    def code(self, each: ErrorCode, rows: Rows) -> ErrorCode:
        detail = in_fact(each.detail, lambda own: self.read.expression(own, rows))
        return replace(each, detail=detail, headers=self.headers(each.headers, rows))

    def headers(self, fact: Fact[tuple[Assignment, ...]] | None, rows: Rows) -> Fact[tuple[Assignment, ...]] | None:
        return each_in(fact, lambda own: replace(own, value=self.read.expression(own.value, rows)))

    def endpoint(self, each: Endpoint, resource: str | None, rows: Rows) -> Endpoint:
        def key(own: SortKey) -> SortKey:
            return replace(own, field=self.read.instead.get((resource or "", own.field), own.field))

        def order(own: Offered) -> Offered:
            return replace(own, keys=tuple(map(key, own.keys)))

        def parameter(own: Parameter) -> Parameter:
            where = in_fact(own.where, lambda condition: self.read.expression(condition, rows))
            return replace(own, where=where, sorts=each_in(own.sorts, order))

        return replace(
            each,
            headers=self.headers(each.headers, rows),
            query=each_in(each.query, parameter),
            sort=each_in(each.sort, key),
        )

    def template(self, template: Template, rows: Rows) -> Template:
        return with_leaves(template, lambda each: self.read.expression(each, rows))
