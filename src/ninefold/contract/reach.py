"""Which resources an expression, a template or an endpoint reaches: through references, back-references,
computed fields and views.

Expressions are not typed yet here, and may be wrong; what is not understood reaches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from ninefold.contract.shared_types import closure, types_in
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import (
    MAKING_ARRAYS,
    Ast,
    Binary,
    Conditional,
    Index,
    Invocation,
    ListLiteral,
    MapLiteral,
    Member,
    Name,
    every,
    parts,
    variables_of,
)
from ninefold.language.expressions import Items, Leaf, Members, Template, leaves
from ninefold.language.fact import Gap, StatedNone, candidate_of, is_open, text_of, value_of
from ninefold.language.resources import Field, Resource
from ninefold.language.verbs import LOG, SUBSCRIPTION

SAME_ITEMS = ("distinct", "sort", "reverse", "first")
"""The functions of an array that give its own items again, or one of them."""


@dataclass(frozen=True)
class Graph:
    """The resources of a contract and how they refer to each other. `fields[R][F]`; `inverse[R][NAME]` is the
    resource whose rows refer back to a row of R under that name, be it only proposed: what reads them waits for it.
    `unshown`: the resources whose rows may refer back to others, each with the target and the name; None: not shown."""

    resources: Mapping[str, Resource]
    fields: Mapping[str, Mapping[str, Field]]
    inverse: Mapping[str, Mapping[str, str]]
    unshown: tuple[tuple[str, str | None, str | None], ...] = ()

    @property
    def log(self) -> str | None:
        """What the log of events is called as a resource; None: the contract has a resource of that name."""
        return None if LOG in self.resources else LOG

    @property
    def subscription(self) -> str | None:
        """What subscriptions to events are called as a resource; None: the contract has a resource of that name."""
        return None if SUBSCRIPTION in self.resources else SUBSCRIPTION

    @cached_property
    def of_types(self) -> Mapping[str, frozenset[str]]:
        """For each shared type, the resources whose fields refer to it."""
        found: dict[str, set[str]] = {}
        for resource, fields in self.fields.items():
            for each in fields.values():
                schema = value_of(each.schema)
                for name in () if schema is None else types_in(schema.json):
                    found.setdefault(name, set()).add(resource)
        return {name: frozenset(resources) for name, resources in found.items()}

    @cached_property
    def referring(self) -> Mapping[str, tuple[tuple[str, Field], ...]]:
        """For each resource, the fields that refer to its rows, each with the resource that has it."""
        found: dict[str, list[tuple[str, Field]]] = {}
        for name, fields in self.fields.items():
            for each in fields.values():
                if (target := value_of(each.references)) is not None:
                    found.setdefault(target.text, []).append((name, each))
        return {target: tuple(fields) for target, fields in found.items()}

    def referring_to(self, resources: frozenset[str]) -> frozenset[str]:
        """The resources whose rows refer to rows of these, or may, and say so: they decide whether these may go."""
        of_any = self._of_any if resources else ()
        known = {name for each in resources for name, _ in self.referring.get(each, ())}
        return frozenset(known | {name for name, to in of_any if to is None or to in resources})

    @cached_property
    def _of_any(self) -> tuple[tuple[str, str | None], ...]:
        """Those with a reference that states `on delete` and no target, each with the target that is proposed."""
        own = ((name, each) for name, fields in self.fields.items() for each in fields.values())
        said = ((name, each.references) for name, each in own if value_of(each.on_delete) and is_open(each.references))
        return tuple((name, None if (to := candidate_of(of)) is None else to.text) for name, of in said)

    def with_targets(self, resources: frozenset[str]) -> frozenset[str]:
        """With the resources that their fields refer to or are computed from: rows cannot be kept without."""
        if resources not in self._closures:
            self._closures[resources] = closure(resources, self._targets)
        return self._closures[resources]

    @cached_property
    def _closures(self) -> dict[frozenset[str], frozenset[str]]:
        return {}

    @cached_property
    def _targets(self) -> Mapping[str, frozenset[str]]:
        targets = {}
        for resource, fields in self.fields.items():
            walk = Walk(self)
            for name in fields:
                walk.step(resource, name)
            targets[resource] = walk.finish()
        return targets

    def same(self, resource: str) -> Mapping[str, str]:
        """What says of a row of the resource to which row a field of it refers, as the field does: the primary key of
        what it refers to (`room.id`), by the field."""
        found: dict[str, str] = {}
        for name, own in self.fields.get(resource, {}).items():
            target = self.resources.get(text_of(own.references) or "")
            key = () if target is None else value_of(target.primary_key) or ()
            if len(key) == 1:
                found[f"{name}.{key[0].text}"] = name
        return found

    def is_one_row(self, resource: str | None) -> bool:
        """Whether it is stated that there is one row of a resource."""
        found = self.resources.get(resource or "")
        return found is not None and isinstance(found.primary_key, StatedNone)

    def expires(self, resource: str) -> bool:
        """Whether rows of a resource end by themselves, be it through a cascade."""
        return any(
            each.expires is not None and resource in self.falling_with(each.name) for each in self.resources.values()
        )

    def falling_with(self, resource: str) -> frozenset[str]:
        return closure({resource}, self._cascades)

    @cached_property
    def _cascades(self) -> Mapping[str, frozenset[str]]:
        """For each resource, those whose rows are deleted with the row that they refer to."""
        found: dict[str, set[str]] = {}
        for name, fields in self.fields.items():
            for each in fields.values():
                target, word = value_of(each.references), value_of(each.on_delete)
                if target is not None and word is not None and word.text == "cascade":
                    found.setdefault(target.text, set()).add(name)
        return {target: frozenset(names) for target, names in found.items()}


def graph_of(resources: tuple[Resource, ...]) -> Graph:
    named = {resource.name: resource for resource in resources}
    fields = {name: {f.name: f for f in value_of(resource.fields) or ()} for name, resource in named.items()}
    inverse: dict[str, dict[str, str]] = {name: {} for name in named}
    unshown: list[tuple[str, str | None, str | None]] = [
        (name, None, None) for name, resource in named.items() if is_open(resource.fields)
    ]
    for name, own in fields.items():
        for reference in own.values():
            target, called = candidate_of(reference.references), candidate_of(reference.inverse)
            if target and called and target.text in inverse:
                inverse[target.text][called.text] = name
            elif _may_refer_back(reference):
                unshown.append((name, None if target is None else target.text, None if called is None else called.text))
    return Graph(named, fields, inverse, tuple(unshown))


def _may_refer_back(own: Field) -> bool:
    """Whether it is not shown what a field refers to, or what its rows are called there."""
    if candidate_of(own.references) is not None:
        return isinstance(own.inverse, Gap)
    return isinstance(own.references, Gap) or isinstance(own.schema, Gap) or own.inverse is not None


TOLD = "events tell of them"
"""Why an endpoint sees rows that it neither finds nor shows: who sees a row is told of what has happened to it."""


@dataclass(frozen=True)
class Reach:
    """`touches`: the resources whose gaps concern an endpoint: those that it acts on, reads or judges by, those
    that its callers are rows of, and those that any of these refer to. `sees`: those among them whose row rules decide
    what it shows or finds; a resource of which it only shows the row that it has just created is not among
    them."""

    touches: frozenset[str]
    sees: frozenset[str]
    why: Mapping[str, str]
    """In what it first meets each of those, in words."""


@dataclass
class Walk:
    """A walk through expressions that collects the resources whose rows they read. The row that stands at a
    root (`order` in an endpoint that acts on orders) is not counted: whoever starts the walk knows it.

    Computed fields and views are walked once and one after another, in `finish`: they may refer to each other, in
    chains of any length. `narrowed`: what is wanted are the rows that row rules narrow, and computed fields, which read
    all rows, are met and not entered.
    """

    graph: Graph
    reached: set[str] = field(default_factory=set)
    narrowed: bool = False
    now: str = ""
    """What is walked, in words: "its response"."""
    why: dict[str, str] = field(default_factory=dict)
    """Of what is reached, in what it first was."""
    met: dict[tuple[str, str], None] = field(default_factory=dict)
    """The computed fields (`user`, `following`) and views (`user`, `profile()`) that were met."""

    def finish(self) -> frozenset[str]:
        """All that is reached, by what was met on the way too."""
        done = 0
        while done < len(self.met):
            waiting = list(self.met)[done:]
            done = len(self.met)
            for resource, name in waiting:
                self._enter(resource, name)
        return frozenset(self.reached)

    def reach(self, resource: str) -> None:
        self.reached.add(resource)
        self.why.setdefault(resource, self.now)

    def _enter(self, resource: str, name: str) -> None:
        own = self.graph.fields[resource].get(name)
        if own is not None and (computed := value_of(own.computed)) is not None and not self.narrowed:
            self.read(computed.ast, {resource: resource})
        views = {f"{view.name}()": view for view in value_of(self.graph.resources[resource].views) or ()}
        if name in views:
            self.show(views[name].template, {resource: resource}, resource)
        elif name == f"{resource}()":
            self.show_all(resource)

    def show(self, template: Template, roots: Mapping[str, str], row: str | None = None) -> None:
        """A response, a payload or a view. `row` is the resource whose fields a list of bare names means."""
        match template:
            case Leaf(expression):
                whole = self.read(expression.ast, roots)
                if whole is not None and not _is_reference(expression.ast):
                    self.show_all(whole)
            case Members(members):
                for member in members:
                    self.show(member.value, roots, row)
            case Items(items):
                for item in items:
                    if isinstance(item, Leaf) and isinstance(item.expression.ast, Name) and row is not None:
                        self.step(row, item.expression.ast.name)
                    else:
                        self.show(item, roots, row)

    def show_all(self, resource: str) -> None:
        """A resource's own name as a response: all its fields that are not secret."""
        for name, each in self.graph.fields.get(resource, {}).items():
            if each.secret is None:
                self.step(resource, name)

    def step(self, resource: str, name: str) -> str | None:
        """From a row to what a name of it leads to: the resource there, if it leads to rows."""
        target = self.graph.inverse.get(resource, {}).get(name)
        if target is not None:
            self.reach(target)
            return target
        own = self.graph.fields.get(resource, {}).get(name)
        if own is None:
            if (there := self.graph.resources.get(resource)) is None or is_open(there.fields):
                return None  # the name may be a field of its own, which is asked for already
            for referring, target, called in self.graph.unshown:
                if target in (None, resource) and called in (None, name):
                    self.reach(referring)
            return None
        if own.computed is not None:
            self.met[resource, name] = None
        if (references := value_of(own.references)) is not None:
            self.reach(references.text)
            return references.text
        return None

    def read(self, ast: Ast, roots: Mapping[str, str]) -> str | None:
        """Walks an expression; the resource of the row or rows that it gives, if it gives rows."""
        match ast:
            case Name(name):
                return roots.get(name)
            case Member(Name("caller" | "before"), name) if name in self.graph.resources:
                return name
            case Member(Name("page"), "items"):
                return roots.get("page.items")
            case Member(operand, name):
                resource = self.read(operand, roots)
                if resource is None:
                    return None
                if isinstance(operand, Member) and operand.operand == _root(operand, "caller"):
                    self.reach(resource)
                return self.step(resource, name)
            case Index(operand, index):
                self.read(index, roots)
                return self.read(operand, roots)
            case Invocation():
                return self.invoke(ast, roots)
            case ListLiteral(items):
                return self.each(items, roots)
            case Conditional(condition, yes, no):
                self.read(condition, roots)
                return self.each((yes, no), roots)
            case Binary("+", left, right):
                return self.each((left, right), roots)
            case MapLiteral(entries):
                self.each([value for _, value in entries], roots)
            case _:
                self.each(parts(ast), roots)
        return None

    def each(self, asts: Iterable[Ast], roots: Mapping[str, str]) -> str | None:
        found = [resource for ast in asts if (resource := self.read(ast, roots)) is not None]
        return found[0] if found else None

    def invoke(self, call: Invocation, roots: Mapping[str, str]) -> str | None:
        match call:
            case Invocation("all", None, (Name(resource),)) if resource in (*self.graph.resources, self.graph.log):
                self.reach(resource)
                return resource
            case Invocation(macro, target) if target is not None and (variables := variables_of(call)):
                rows, inner = self.read(target, roots), roots
                for each in variables:
                    inner = _without(inner, each.name)
                if rows is not None:
                    inner = {**inner, variables[-1].name: rows}
                result = self.each(call.arguments[len(variables) :], inner)
                return rows if macro in ("filter", "sortBy") else result if macro in MAKING_ARRAYS else None
            case Invocation(function, None, (argument,)):
                resource_of_argument = self.read(argument, roots)
                if resource_of_argument is not None and resource_of_argument in self.graph.resources:
                    self.met[resource_of_argument, f"{function}()"] = None  # a view, if there is one of that name
                return None
            case _:
                rows = self.read(call.target, roots) if call.target is not None else None
                self.each(call.arguments, roots)
                return rows if call.function in SAME_ITEMS else None


def body_names(template: Template, own: str | None) -> Iterator[tuple[tuple[str, ...], str, str, Span]]:
    """What the leaves of a body name: a field of the resource acted on, or a path `resource.field`; each with the names
    that lead to it, the resource, the field, and where it stands."""
    for pointer, expression in leaves(template):
        match expression.ast:
            case Name(name) if own is not None:
                yield pointer, own, name, expression.span
            case Member(Name(resource), name):
                yield pointer, resource, name, expression.span


def names_in(ast: Ast) -> Iterator[str]:
    """The names that stand free in an expression, be they roots or variables of a macro."""
    return (each.name for each in every(ast) if isinstance(each, Name))


def _root(member: Member, name: str) -> Ast | None:
    return member.operand if isinstance(member.operand, Name) and member.operand.name == name else None


def _without(roots: Mapping[str, str], variable: str) -> dict[str, str]:
    return {name: resource for name, resource in roots.items() if name != variable}


def _is_reference(ast: Ast) -> bool:
    """Whether rows are shown as primary keys: a reference is, a resource's own name and `page.items` are not."""
    match ast:
        case Name():
            return False
        case Member(Name("page"), "items"):
            return False
        case _:
            return True
