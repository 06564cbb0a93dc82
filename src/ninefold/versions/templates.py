"""Templates in which a field is shown: views, bodies, responses and payloads.

A member that shows a field alone, under the name that callers know the field by, is called as the field is; where the
field is not there, neither is the member, whatever it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ninefold.contract.endpoints import Endpoint, Response
from ninefold.contract.events import EventKind
from ninefold.contract.expression import Items, Leaf, Member, Members, Template
from ninefold.contract.fact import Name, Shown, value_of
from ninefold.contract.resources import Resource
from ninefold.contract.service import Contract
from ninefold.expressions import ast
from ninefold.versions.chosen import showing

Shows: TypeAlias = Callable[[str], str | None]
"""From the name under which a field is shown to the older one; None: it is not shown."""

_Graph: TypeAlias = Mapping[str, Mapping[str, str | None]]
"""The resources, each with its fields and what these refer to."""


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

    def shown(template: Template, own: str | None) -> Template:
        match template:
            case Members(members):
                return replace(template, members=tuple(m for each in members if (m := member(each, own)) is not None))
            case Items(items):
                return replace(template, items=tuple(shown(item, own) for item in items))
            case Leaf():
                return template

    def member(each: Member, own: str | None) -> Member | None:
        if isinstance(each.value, Leaf):
            if _field(each.value.expression.ast, own, graph) != field:
                return each
            name = called(each.name)
            return None if name is None else replace(each, name=name)
        return replace(each, value=shown(each.value, own))

    def resource(each: Resource) -> Resource:
        if not isinstance(each.views, Shown):
            return each
        views = tuple(replace(view, template=shown(view.template, None)) for view in each.views.value)
        return replace(each, views=replace(each.views, value=views))

    def response(each: Response) -> Response:
        if not isinstance(each.content, Shown) or isinstance(each.content.value, Name):
            return each
        return replace(each, content=replace(each.content, value=shown(each.content.value, None)))

    def endpoint(each: Endpoint) -> Endpoint:
        acted_on = next((action.subject for action in value_of(each.does) or ()), None)
        body, responses = each.body, each.responses
        if isinstance(body, Shown) and body.value.template is not None:
            body = replace(body, value=replace(body.value, template=shown(body.value.template, acted_on)))
        if isinstance(responses, Shown):
            responses = replace(responses, value=tuple(map(response, responses.value)))
        return showing(replace(each, body=body, responses=responses), lambda template: shown(template, None))

    def kind(each: EventKind) -> EventKind:
        if not isinstance(each.payload, Shown):
            return each
        return replace(each, payload=replace(each.payload, value=shown(each.payload.value, None)))

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


def _field(node: ast.Ast, own: str | None, graph: _Graph) -> tuple[str, str] | None:
    """The field that an expression is, and nothing else. `own`: whose field a bare name is."""
    match node:
        case ast.Name(name) if own is not None and name in graph.get(own, {}):
            return own, name
        case ast.Member(operand=operand, name=name):
            row = _row(operand, graph)
            return (row, name) if row is not None and name in graph[row] else None
        case _:
            return None


def _row(node: ast.Ast, graph: _Graph) -> str | None:
    """The resource of the row that an expression is, where it is one that is named or referred to."""
    match node:
        case ast.Name(name):
            return name if name in graph else None
        case ast.Member(operand=ast.Name(name="caller" | "before"), name=name) if name in graph:
            return name
        case ast.Member(operand=operand, name=name):
            row = _row(operand, graph)
            target = None if row is None else graph[row].get(name)
            return target if target in graph else None
        case _:
            return None
