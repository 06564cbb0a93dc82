"""What is at hand where something is shown; rows that are shown as a whole; and what an expression in a template
shows, as it is written: objects, a row by its name, rows of a page, or a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows
from ninefold.checked.resources import Field, Resource
from ninefold.checks.findings import Findings, reads_database
from ninefold.checks.model import Vocabulary
from ninefold.checks.nulls import is_always_there, marked, null_shown, says_null, unmarked
from ninefold.diagnostics.codes import SAYS_NOTHING
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import (
    Ast,
    Conditional,
    Invocation,
    ListLiteral,
    MapLiteral,
    Member,
    Name,
    counts_items,
    every,
    is_items,
    parts,
    variables_of,
)
from ninefold.expressions.check import check
from ninefold.expressions.forms import MACROS, OF_TEMPLATES
from ninefold.expressions.functions import overloads
from ninefold.expressions.rows import is_as_it_was
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Select, Typed, Variable, free_variables, substitute
from ninefold.language.fact import Gap, Proposal, value_of
from ninefold.language.resources import View
from ninefold.values import Array as ArrayType
from ninefold.values import Row


@dataclass(frozen=True)
class Showing:
    """What is at hand while a content is checked. `listed`: the resource of `page.items`, for a list; `tokens`: the
    fields of the row acted on whose tokens are made, for an endpoint. By resource and name: `made`: the views that have
    been checked, None where something is wrong; `depths`: how many views stand in each other in one that shows others;
    `within`: those that stand around what is checked."""

    resources: Mapping[str, Resource]
    vocabulary: Vocabulary
    findings: Findings
    listed: str | None = None
    tokens: Collection[str] = ()
    made: dict[tuple[str, str], Content | None] = dataclasses.field(default_factory=dict)
    depths: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)
    within: tuple[tuple[str, str], ...] = ()

    def views(self, resource: str) -> dict[str, View]:
        stated = self.findings.contract.resources_by_name.get(resource)
        return {} if stated is None else {view.name: view for view in value_of(stated.views) or ()}

    def views_are_open(self, resource: str) -> bool:
        """Whether a name that is no view of the resource may be one that is not shown."""
        stated = self.findings.contract.resources_by_name.get(resource)
        return resource in self.findings.unknown or (stated is not None and isinstance(stated.views, Gap | Proposal))

    def may_be_made(self, resource: str, field: str) -> bool:
        """Whether a question is open of what gives a field its value."""
        stated = self.findings.contract.resources_by_name.get(resource)
        fields = () if stated is None else value_of(stated.fields) or ()
        given = (fact for each in fields if each.name == field for fact in (each.on_create, each.on_change))
        return any(isinstance(each, Gap | Proposal) for each in given)


def whole_row(resource: str, showing: Showing) -> Content:
    """Meaning "views and templates": all fields that are not `secret`, in written order; a reference is its
    primary key."""
    members = tuple(
        (each.called, field_shown(resource, each, showing))
        for each in showing.resources[resource].fields.values()
        if each.secret is None and each.called is not None and (each.seen is None or each.seen.instead is None)
    )
    return Object(members, named=resource)


def field_shown(resource: str, field: Field, showing: Showing) -> Leaf:
    """A field of the row that goes by its resource's name: in an older version, what it has in the field's place."""
    if field.seen is not None and field.seen.instead is not None:
        field = showing.resources[resource].fields[field.seen.instead]
    row = Variable(resource, Row(resource=resource))
    through = "field" if field.computed is None else "computed"
    return Leaf(Select(row, field.name, field.type, through), field.null_shown, (field.place,))  # type: ignore[arg-type]


def whole_of(rows: Typed, showing: Showing) -> Content:
    """The row that a reference leads to, as a whole, or each of those that refer back."""
    of = rows.type.items if isinstance(rows.type, ArrayType) else rows.type
    assert isinstance(of, Row)
    whole = whole_row(of.resource, showing)
    return Each(rows, of.resource, whole) if isinstance(rows.type, ArrayType) else of_row(rows, whole, showing)


def of_row(row: Typed, content: Content, showing: Showing) -> Content:
    """The content of a resource's own row, over another row of it. A row that may not be there shows nothing."""
    resource = row.type.resource if isinstance(row.type, Row) else ""
    if isinstance(row, Variable) and row.name == resource:
        return content
    there = moved(content, resource, row)
    if isinstance(row, Variable):
        return there  # one of several that are there and seen
    if is_as_it_was(row) and not row.type.nullable:
        return there
    # A row reached through a reference may be hidden from the caller, whatever the reference says.
    if isinstance(there, Object):
        return replace(there, present=row, null_shown=null_shown(row, showing.resources))
    return _where_there(there, row) if isinstance(there, Choice) else there


def _where_there(content: Content, row: Typed) -> Content:
    """The objects between which a condition chooses, where the row is there."""
    match content:
        case Choice(yes=yes, no=no):
            return replace(content, yes=_where_there(yes, row), no=_where_there(no, row))
        case Object(present=None):
            return replace(content, present=row)
        case _:
            return content


def moved(content: Content, resource: str, row: Typed) -> Content:
    """The content with another row in the place of the resource's own."""
    match content:
        case Leaf():
            return replace(content, expression=substitute(content.expression, resource, row))
        case Object():
            members = tuple((name, moved(each, resource, row)) for name, each in content.members)
            present = None if content.present is None else substitute(content.present, resource, row)
            return replace(content, members=members, present=present)
        case Array():
            return replace(content, items=tuple(moved(each, resource, row) for each in content.items))
        case Rows():
            return content
        case Each(range=range_, variable=variable, item=item):
            if variable in free_variables(row) and variable != resource:
                # The name would stand for another row within.
                other = f"{variable}'"
                item = moved(item, variable, Variable(other, range_.type.items))  # type: ignore[union-attr]
                variable = other
            item = item if variable == resource else moved(item, resource, row)
            return replace(content, range=substitute(range_, resource, row), variable=variable, item=item)
        case Choice(condition=asked, yes=yes, no=no):
            asked = substitute(asked, resource, row)
            return replace(content, condition=asked, yes=moved(yes, resource, row), no=moved(no, resource, row))


def or_null(content: Content, span: Span, showing: Showing) -> Content:
    """The content of `nullable(…)`, shown as `null` where it has no value."""
    if not isinstance(content, Array | Rows) and not is_always_there(content):
        return replace(content, null_shown=True)
    message = "`nullable` says nothing of what always has a value"
    help = ("show it without `nullable`",)
    showing.findings.say(SAYS_NOTHING, message, Label(span, "is never null"), help=help)
    return content


def stated_at(content: Content, showing: Showing, *spans: Span) -> Content:
    """The same content, which is also stated there."""
    places = (*map(showing.findings.place, spans), *content.trace)
    return replace(content, trace=tuple(dict.fromkeys(places)))


# ── As it is written ─────────────────────────────────────────────────────────────────────────────────────────────────


def binds(ast: Ast, name: str) -> bool:
    """Whether a macro gives a variable this name."""
    return any(variable.name == name for each in every(ast) for variable in variables_of(each))


def reads_items(ast: Ast) -> bool:
    """Whether an expression reads the rows of the page, and not only how many there are."""
    return is_items(ast) or (not counts_items(ast) and any(map(reads_items, parts(ast))))


def shows_page(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether an expression shows each row of the page, or is made of parts that do."""
    match ast:
        case Invocation(function="map", target=target, arguments=(Name(), body)) if target is not None:
            return is_items(target) and not reads_items(body)
        case Invocation(target=None, arguments=(argument,)):
            return is_items(argument)
        case MapLiteral() | ListLiteral():
            return is_template(ast, scope, showing)
        case Conditional(condition=asked):
            return is_template(ast, scope, showing) and not reads_items(asked)
        case _:
            return False


def is_template(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether an expression makes objects: it then is a template within a template."""
    match ast:
        case MapLiteral():
            return True
        case ListLiteral(items=items):
            return any(marked(item) is not None or is_template(item, scope, showing) for item in items)
        case Invocation(function="map", target=target, arguments=(Name(), *bodies)) if target is not None and bodies:
            return is_template(bodies[-1], scope, showing)
        case Invocation(target=None, arguments=(_,)):
            return is_view(ast, showing)
        case Conditional(yes=yes, no=no):
            return any(
                is_template(each, scope, showing) or is_whole(each, scope, showing) or is_meant_as_view(each)
                for each in (yes, no)
            )
        case _:
            return False


def is_whole(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether an expression names what is shown as a whole: a row that goes by a name, or the rows of the page."""
    if showing.listed is not None and is_items(ast):
        return True
    if isinstance(ast, Name):
        return ast.name not in scope.items and isinstance(scope.variables.get(ast.name), Row)
    found = check(ast, scope).typed if isinstance(ast, Member) else None
    return found is not None and isinstance(found.type, Row) and is_as_it_was(found)


def is_meant_as_view(ast: Ast) -> bool:
    """Whether it is a call of one argument and of nothing that is a function."""
    return (
        isinstance(ast, Invocation)
        and ast.target is None
        and len(ast.arguments) == 1
        and ast.function not in (*MACROS, *OF_TEMPLATES)
        and not overloads(ast.function)
    )


def chooses(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether one of several templates is chosen within, or a member says `null`, but for the items of an array: those
    are an expression where no row has a part in them."""
    match ast:
        case Conditional():
            return is_template(ast, scope, showing)
        case MapLiteral(entries=entries):
            return any(says_null(value) or chooses(value, scope, showing) for _, value in entries)
        case ListLiteral(items=items):
            return any(marked(item) is not None or chooses(item, scope, showing) for item in items)
        case _:
            return False


def is_of_the_request(ast: Ast, scope: Scope) -> bool:
    """Whether an expression makes its objects of what comes with the request: no row has a part in it."""
    found = check(unmarked(ast), scope).typed
    return found is not None and not reads_database(found, scope)


def is_view(call: Invocation, showing: Showing) -> bool:
    """Whether a call is a view applied, or a resource's own name, which shows the row as a whole. A view comes before a
    function of the closed table, and that before a resource."""
    if call.target is not None or len(call.arguments) != 1:
        return False
    return (
        any(call.function in showing.views(name) for name in showing.resources)
        or (call.function in showing.resources and not overloads(call.function))
        or (is_items(call.arguments[0]) and showing.listed is not None and call.function not in OF_TEMPLATES)
    )


def in_nullable(ast: Ast, showing: Showing) -> Ast | None:
    """What stands in `nullable(…)`, where no view is called so; None: it is something else."""
    return None if isinstance(ast, Invocation) and is_view(ast, showing) else marked(ast)


def is_applied_to_rows(call: Invocation, scope: Scope) -> bool:
    """Whether a call of what is no function is applied to rows, and so is meant to be a view."""
    if not is_meant_as_view(call):
        return False
    found = check(call.arguments[0], scope).typed
    type_ = None if found is None else found.type
    return isinstance(type_.items if isinstance(type_, ArrayType) else type_, Row)


def may_be_a_view(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether a call of what is no function, on what nobody knows, may be a view that is not shown."""
    if not isinstance(ast, Invocation) or not is_meant_as_view(ast) or check(ast.arguments[0], scope).typed is not None:
        return False
    return any(map(showing.views_are_open, {*showing.findings.contract.resources_by_name, *showing.findings.unknown}))
