"""Where the values that rows have are felt: in what is shown, in what is told, in what is asked of requests; as far as
they go on from field to field, by what is computed of them, given on create or set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from ninefold.contract.rows import PAGE, graph_of
from ninefold.contract.service import Contract
from ninefold.contract.writes import acted_on
from ninefold.diff.changes import Change
from ninefold.expressions import ast
from ninefold.language.effects import Effect
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression, Template, expressions_in, leaves
from ninefold.language.fact import Name, value_of
from ninefold.language.key import Side
from ninefold.language.resources import Resource, View
from ninefold.language.verbs import kind_of

OfField: TypeAlias = tuple[str, str]
"""A resource, and a field of it."""


_COUNTING: Final = frozenset(("size", "exists", "exists_one", "sum", "min", "max", "contains", "has"))
"""Functions of which nobody sees the rows that they are called with."""


class Flows:
    """`direct`: the sides on which a field is read where somebody sees, or is asked for, what comes of it."""

    def __init__(self, contract: Contract) -> None:
        self.contract, self.graph = contract, graph_of(contract)
        self.resources = {each.name: each for each in value_of(contract.resources.resources) or ()}
        self.views: dict[str, list[tuple[str, View]]] = {}
        for name, each in self.resources.items():
            for view in value_of(each.views) or ():
                self.views.setdefault(view.name, []).append((name, view))
        self.direct: dict[OfField, set[Side]] = {}
        for side, field in self._read():
            self.direct.setdefault(field, set()).add(side)
        self._all: dict[OfField, set[Side]] | None = None

    def of(self, change: Change) -> frozenset[Side] | None:
        """Where the values are felt that it gives a field; None: it gives no field values."""
        fields = {*self._given_by(change)}
        # What a request gives is held to its rules, and to what is unique, as it is normalised.
        asked: frozenset[Side] = frozenset(("takes",) if "normalise" in change.names[3:4] else ())
        return asked.union(*(self.felt(*each) for each in fields)) if fields else None

    def _given_by(self, change: Change) -> Iterator[OfField]:
        names = change.names
        match change.part, names:
            case 2, (resource, "fields", field, "on create" | "on change" | "computed" | "normalise", *_):
                yield from ((name, field) for name, each in self.resources.items() if _has(each, resource, field))
            case 3, (resource, "initial") | (resource, "transitions", _, "to") | (resource, "states", _) if (
                names[1] != "states" or change.how == "renamed"
            ):
                yield from ((resource, each) for each in self.states_of(resource))
            case 3, (resource, "transitions", _, "sets", field, *_):
                yield resource, field
            case 4, (key, "sets", field, *_) if key in self.contract.endpoints_by_key:
                of = acted_on(self.contract.endpoints_by_key[key])
                if of is not None:
                    yield of, field

    def felt(self, resource: str, field: str) -> frozenset[Side]:
        """Also by way of other fields."""
        if self._all is None:
            self._all = self._closed()
        return frozenset(self._all.get((resource, field), ()))

    def admitting(self) -> Iterator[str]:
        """The resources whose rows say who somebody is, or what of another resource they may see or do."""
        part = self.contract.authentication
        for scheme in value_of(part.schemes) or ():
            found = value_of(scheme.matches)
            yield from () if found is None else (found.text.partition(".")[0],)
        lines: list[tuple[str | None, Any]] = []
        for permission in value_of(part.permissions) or ():
            endpoint = self.contract.endpoints_by_key.get(permission.endpoint.text)
            lines.append((None if endpoint is None else acted_on(endpoint), permission))
        rules = value_of(part.rows)
        lines += [(each.resource.text, each) for each in rules] if isinstance(rules, tuple) else []
        for own, line in lines:
            for said in expressions_in(line):
                yield from (resource for resource, _ in self._of(said, own) if resource != own)

    def _closed(self) -> dict[OfField, set[Side]]:
        found = {field: set(sides) for field, sides in self.direct.items()}
        flows = [(of, {*self._of(said, of[0], this)}) for of, said, this in self._given()]
        grows = True
        while grows:
            grows = False
            for of, read in flows:
                for each in read:
                    sides = found.setdefault(each, set())
                    more = found.get(of, set()) - sides
                    sides |= more
                    grows = grows or bool(more)
        return found

    def _given(self) -> Iterator[tuple[OfField, Expression, str | None]]:
        """Each field with the expressions that its values are made of, and the resource of which `this` is a row."""
        for name, resource in self.resources.items():
            for field in value_of(resource.fields) or ():
                for fact in (field.on_create, field.on_change, field.computed, field.normalise):
                    yield from (((name, field.name), each, None) for each in expressions_in(fact))
        for endpoint in value_of(self.contract.endpoints.endpoints) or ():
            of = acted_on(endpoint)
            yield from (((of, one.name), one.value, None) for one in value_of(endpoint.sets) or () if of is not None)
            yield from self._effects(value_of(endpoint.also) or (), of)
        for machine in value_of(self.contract.states.machines) or ():
            moves = value_of(machine.machine)
            for transition in () if moves is None else value_of(moves.transitions) or ():
                sets = value_of(transition.sets) or ()
                yield from (((machine.resource.text, one.name), one.value, None) for one in sets)
                yield from self._effects(value_of(transition.also) or (), machine.resource.text)

    def _effects(self, of: tuple[Effect, ...], this: str | None) -> Iterator[tuple[OfField, Expression, str | None]]:
        for each in of:
            yield from (((each.subject, one.name), one.value, this) for one in each.sets)

    def _read(self) -> Iterator[tuple[Side, OfField]]:
        contract = self.contract
        for each in value_of(contract.endpoints.endpoints) or ():
            yield from self._endpoint(each)
        for code in value_of(contract.errors.codes) or ():
            yield from (("gives", of) for said in expressions_in(code) for of in self._of(said, None))
        for kind in value_of(contract.events.kinds) or ():
            payload = value_of(kind.payload)
            if payload is not None:
                yield from (("tells", of) for of in self.template(payload, dict(self.graph.rows), None))
            yield from (("tells", of) for said in expressions_in(kind.where) for of in self._of(said, None))
        yield from (("tells", of) for each in expressions_in(contract.events.delivery) for of in self._of(each, None))
        yield from (("guards", of) for each in expressions_in(contract.authentication) for of in self._of(each, None))
        for name, resource in self.resources.items():
            yield from (("takes", of) for said in expressions_in(resource.check) for of in self._of(said, name))
            yield from self._by_the_clock(resource.expires, name, None)
        for machine in value_of(contract.states.machines) or ():
            name, moves = machine.resource.text, value_of(machine.machine)
            for transition in () if moves is None else value_of(moves.transitions) or ():
                yield from (("takes", of) for said in expressions_in(transition.check) for of in self._of(said, name))
                yield from self._by_the_clock(transition.after, name, transition.name)
            if moves is not None and moves.transitions is not None:
                yield from (("takes", (name, each)) for each in self.states_of(name))

    def _by_the_clock(self, fact: Any, resource: str, verb: str | None) -> Iterator[tuple[Side, OfField]]:
        """What says when the service does something by itself: readers meet what comes of it, and who is told of it."""
        sides: tuple[Side, ...] = ("gives", "tells") if is_told(self.contract, verb, resource) else ("gives",)
        yield from ((side, of) for said in expressions_in(fact) for of in self._of(said, resource) for side in sides)

    def states_of(self, resource: str) -> Iterator[str]:
        """The field that shows the state of its rows."""
        found = self.resources.get(resource)
        for each in () if found is None else value_of(found.fields) or ():
            if value_of(each.state):
                yield each.name

    def _endpoint(self, endpoint: Endpoint) -> Iterator[tuple[Side, OfField]]:
        of = acted_on(endpoint)
        here = dict(self.graph.rows) if of is None else {**self.graph.rows, PAGE: of}
        for response in value_of(endpoint.responses) or ():
            content = value_of(response.content)
            if content is not None and not isinstance(content, Name):
                yield from (("gives", each) for each in self.template(content, here, None))
        sides: tuple[tuple[Side, Any], ...] = (
            ("gives", (endpoint.headers, endpoint.query)), ("takes", endpoint.check), ("guards", endpoint.where),
        )  # fmt: skip
        for side, facts in sides:
            for said in expressions_in(facts):
                yield from ((side, each) for each in self._of(said, of))
        yield from (("gives", (of, each.field)) for each in value_of(endpoint.sort) or () if of is not None)

    # What an expression reads.

    def template(self, said: Template, rows: dict[str, str], own: str | None) -> Iterator[OfField]:
        for _, expression in leaves(said):
            yield from self.read(expression.ast, rows, own, whole=True)

    def _of(self, said: Expression, own: str | None, this: str | None = None) -> Iterator[OfField]:
        rows = dict(self.graph.rows) if this is None else {**self.graph.rows, "this": this}
        yield from self.read(said.ast, rows, own, whole=False)

    def read(self, node: ast.Ast, rows: dict[str, str], own: str | None, *, whole: bool) -> Iterator[OfField]:
        """`own`: the resource whose fields have no name before them; `whole`: a row is shown with all that it has."""
        match node:
            case ast.Name(name) if name in rows:
                own = rows[name]
                yield from ((own, each) for each in (self.graph.fields.get(own, ()) if whole else self._key(own)))
            case ast.Name(name) if own is not None and name in self.graph.fields.get(own, ()):
                yield own, name
            case ast.Member(operand=operand, name=name):
                of, row = self.graph.row(operand, rows), self.graph.row(node, rows)
                if of is not None and name in self.graph.fields.get(of, ()):
                    yield of, name
                if row is not None:
                    is_list = whole and self.graph.items(node, rows) is not None
                    yield from ((row, each) for each in (self.graph.fields.get(row, ()) if is_list else self._key(row)))
                elif not isinstance(operand, ast.Name):
                    yield from self.read(operand, rows, own, whole=False)
            case ast.Invocation(function=function, target=None, arguments=arguments) if function in self.views:
                for argument in arguments:
                    row = self.graph.row(argument, rows)
                    for of, view in self.views[function]:
                        if row in (None, of):
                            yield from self._of_view(of, view, rows)
            case ast.Invocation(function=function, target=target):
                within = dict(self.graph.within(node, rows))
                whole = whole and function not in _COUNTING and (function != "all" or target is None)
                for part in (*node.arguments, *(() if node.target is None else (node.target,))):
                    yield from self.read(part, within, own, whole=whole)
            case _:
                inner = whole and isinstance(node, ast.Conditional | ast.ListLiteral | ast.MapLiteral | ast.Index)
                for part in ast.parts(node):
                    yield from self.read(part, rows, own, whole=inner)

    def _of_view(self, of: str, view: View, rows: dict[str, str]) -> Iterator[OfField]:
        yield from self.template(view.template, {**rows, of: of}, of)

    def _key(self, resource: str) -> Iterator[str]:
        found = self.resources.get(resource)
        for each in () if found is None else value_of(found.primary_key) or ():
            yield each.text


def is_told(contract: Contract, verb: str | None, resource: str) -> bool:
    """Whether events arise upon what is done; None: rows are removed."""
    kinds = value_of(contract.events.kinds) or ()
    verbs = (each.verb for kind in kinds for each in value_of(kind.upon) or () if each.subject == resource)
    return any(kind_of(each).removes if verb is None else each == verb for each in verbs)


def _has(resource: Resource, name: str, field: str) -> bool:
    """Whether what is said of a field is said of one that the resource has: its own, or one that it includes."""
    own = any(each.name == field for each in value_of(resource.fields) or ())
    return own and (resource.name == name or name in {each.text for each in value_of(resource.includes) or ()})
