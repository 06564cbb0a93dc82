"""What is at hand where something is shown, and rows that are shown as a whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows
from ninefold.checked.resources import Field, Resource
from ninefold.checks.findings import Findings
from ninefold.checks.model import Vocabulary
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.rows import is_as_it_was
from ninefold.expressions.tree import Select, Typed, Variable, free_variables, substitute
from ninefold.language.fact import Gap, Proposal, value_of
from ninefold.language.resources import View
from ninefold.values import Array as ArrayType
from ninefold.values import Row


@dataclass(frozen=True)
class Showing:
    """What is at hand while a content is checked. `listed`: the resource of `page.items`, for a list. By
    resource and name: `made`: the views that have been checked, None where something is wrong; `depths`: how many views
    stand in each other in one that shows others; `within`: those that stand around what is checked."""

    contract: Contract
    resources: Mapping[str, Resource]
    vocabulary: Vocabulary
    findings: Findings
    listed: str | None = None
    made: dict[tuple[str, str], Content | None] = dataclasses.field(default_factory=dict)
    depths: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)
    within: tuple[tuple[str, str], ...] = ()

    def views(self, resource: str) -> dict[str, View]:
        stated = self.contract.resources_by_name.get(resource)
        return {} if stated is None else {view.name: view for view in value_of(stated.views) or ()}

    def views_are_open(self) -> bool:
        """Whether a name that is no view may be one that is not shown."""
        resources = value_of(self.contract.resources.resources) or ()
        return bool(self.findings.unknown) or any(isinstance(each.views, Gap | Proposal) for each in resources)


def whole_row(resource: str, showing: Showing) -> Content:
    """Fixed meaning 1: all fields that are not `secret`, in written order; a reference is its identifier."""
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
        return replace(there, present=row, null_shown=null_shown(row, showing))
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


def null_shown(found: Typed, showing: Showing) -> bool:
    """Whether the schema of what is shown admits null: that of a field; anything else has no schema."""
    match found:
        case Select(operand=operand, name=name) if isinstance(operand.type, Row):
            field = showing.resources[operand.type.resource].fields.get(name)
            return field is not None and field.null_shown
        case _:
            return False


def stated_at(content: Content, showing: Showing, *spans: Span) -> Content:
    """The same content, which is also stated there."""
    places = (*map(showing.findings.place, spans), *content.trace)
    return replace(content, trace=tuple(dict.fromkeys(places)))
