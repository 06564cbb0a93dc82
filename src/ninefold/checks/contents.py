"""What a response shows: templates, resources by their names, and views applied to rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ninefold.checked.endpoints import Array, Content, Leaf, Object, Rows
from ninefold.checked.resources import Field, Resource
from ninefold.checks.codes import NO_SUCH_VIEW, NOT_SHOWABLE
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.contract import expression as stated
from ninefold.contract.fact import Gap, Proposal, value_of
from ninefold.contract.resources import View
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.ast import Ast, Invocation, Member, Name
from ninefold.expressions.check import check
from ninefold.expressions.rewrite import substitute
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.values import Array as ArrayType
from ninefold.values import Digest, Row

DEEPEST = 8
"""How deep views may stand in each other; it ends views that show each other in a circle."""


@dataclass(frozen=True)
class Showing:
    """What is at hand while a content is checked. `listed`: the resource of `page.items`, for a list."""

    contract: Contract
    resources: Mapping[str, Resource]
    vocabulary: Vocabulary
    findings: Findings
    listed: str | None = None

    def views(self, resource: str) -> dict[str, View]:
        for each in value_of(self.contract.resources.resources) or ():
            if each.name == resource:
                return {view.name: view for view in value_of(each.views) or ()}
        return {}

    def views_are_open(self) -> bool:
        """Whether a name that is no view may be one that is not shown."""
        resources = value_of(self.contract.resources.resources) or ()
        return bool(self.findings.unknown) or any(isinstance(each.views, Gap | Proposal) for each in resources)


def check_content(template: stated.Template, scope: Scope, showing: Showing, depth: int = 0) -> Content | None:
    """The content that a template describes; None if something is wrong with it, and that has been said."""
    match template:
        case stated.Leaf(expression):
            return _leaf(expression, scope, showing, depth)
        case stated.Members(members):
            found = [(each.name, check_content(each.value, scope, showing, depth)) for each in members]
            complete = tuple((name, content) for name, content in found if content is not None)
            return Object(complete) if len(complete) == len(found) else None
        case stated.Items(items):
            several = [check_content(item, scope, showing, depth) for item in items]
            whole = tuple(content for content in several if content is not None)
            return Array(whole) if len(whole) == len(several) else None


def _leaf(expression: stated.Expression, scope: Scope, showing: Showing, depth: int) -> Content | None:
    ast = expression.ast
    if showing.listed is not None and _is_items(ast):
        return Rows(whole_row(showing.listed, showing))
    if isinstance(ast, Invocation) and ast.target is None and len(ast.arguments) == 1 and _is_view(ast, showing):
        return _applied(ast, expression, scope, showing, depth)
    if isinstance(ast, Invocation) and ast.target is None and showing.views_are_open():
        return None
    # A bare name is a row to be taken apart, or needs no database: several identifiers are no hindrance.
    found = typed(expression, scope, None, showing.findings, in_sql=not isinstance(ast, Name))
    if found is None:
        return None
    if isinstance(found.type, Row):
        if isinstance(found, Variable):
            return _of_row(found, whole_row(found.type.resource, showing), showing)
        return Leaf(found, _null_shown(found, showing))
    if isinstance(found.type, Digest):
        showing.findings.say(
            NOT_SHOWABLE, f"`{expression.text}` is a secret", Label(expression.span, "can be shown to nobody")
        )
        return None
    return Leaf(found, _null_shown(found, showing))


def _is_items(ast: Ast) -> bool:
    return (
        isinstance(ast, Member) and ast.name == "items" and isinstance(ast.operand, Name) and ast.operand.name == "page"
    )


def _is_view(call: Invocation, showing: Showing) -> bool:
    """Whether a call is a view applied: no function of the closed table has the name, or some resource does."""
    return any(call.function in showing.views(name) for name in showing.resources) or (
        _is_items(call.arguments[0]) and showing.listed is not None
    )


def _applied(
    call: Invocation, expression: stated.Expression, scope: Scope, showing: Showing, depth: int
) -> Content | None:
    """`full(order)`, `profile(article.author)`, `listed(page.items)`."""
    if _is_items(call.arguments[0]) and showing.listed is not None:
        content = _view(call, showing.listed, expression, showing, depth)
        return None if content is None else Rows(content)
    argument = replace(expression, ast=call.arguments[0])
    probed = check(argument.ast, scope).typed
    rows = probed.type.items if probed is not None and isinstance(probed.type, ArrayType) else None
    if isinstance(rows, Row):
        showing.findings.say(
            NO_SUCH_VIEW,
            f"`{call.function}` is applied to several rows",
            Label(expression.written.part(argument.ast.start, argument.ast.end), "a list of rows"),
            help=(f"rows are shown as objects by an endpoint that lists them: `does: list {rows.resource}`",),
        )
        return None
    row = typed(argument, scope, None, showing.findings, in_sql=not isinstance(argument.ast, Name))
    if row is None:
        return None
    if not isinstance(row.type, Row):
        showing.findings.say(
            NO_SUCH_VIEW, f"`{call.function}` is applied to something that is not a row", Label(expression.span)
        )
        return None
    content = _view(call, row.type.resource, expression, showing, depth)
    return None if content is None else _of_row(row, content, showing)


def _view(
    call: Invocation, resource: str, expression: stated.Expression, showing: Showing, depth: int
) -> Content | None:
    views = showing.views(resource)
    view = views.get(call.function)
    span = expression.written.part(call.name_start, call.name_end)
    if view is None and showing.views_are_open():
        return None
    if view is None:
        showing.findings.say(
            NO_SUCH_VIEW,
            f"`{resource}` has no view `{call.function}`",
            Label(span, "not a view"),
            help=did_you_mean(call.function, views),
        )
        return None
    if depth >= DEEPEST:
        showing.findings.say(NO_SUCH_VIEW, "views show each other in a circle", Label(span, "leads back here"))
        return None
    return view_of(view, resource, replace(showing, listed=None), depth + 1)


def view_of(view: View, resource: str, showing: Showing, depth: int = 0) -> Content | None:
    """A view's content over the row that goes by its resource's name. In a list of it, a bare name is a field."""
    scope = showing.vocabulary.scope(resource)
    if not isinstance(view.template, stated.Items):
        content = check_content(view.template, scope, showing, depth)
        return replace(content, named=f"{resource}.{view.name}") if isinstance(content, Object) else content
    members: list[tuple[str, Content]] = []
    complete = True
    for item in view.template.items:
        match item:
            case stated.Leaf(expression) if isinstance(expression.ast, Name):
                name = expression.ast.name
                field = showing.resources[resource].fields.get(name)
                if field is None:
                    complete = False
                    showing.findings.say(
                        NOT_SHOWABLE,
                        f"`{resource}` has no field `{name}`",
                        Label(expression.span, "not a field"),
                        help=did_you_mean(name, showing.resources[resource].fields),
                    )
                elif field.secret is not None:
                    complete = False
                    showing.findings.say(
                        NOT_SHOWABLE,
                        f"`{resource}.{name}` is a secret",
                        Label(expression.span, "can be shown to nobody"),
                        help=(f"a token that was just made is `issued.{name}`",) if field.secret == "token" else (),
                    )
                else:
                    members.append((name, _field(resource, field, showing)))
            case stated.Members(mappings):
                for each in mappings:
                    content = check_content(each.value, scope, showing, depth)
                    complete = complete and content is not None
                    if content is not None:
                        members.append((each.name, content))
            case _:
                complete = False
                showing.findings.say(
                    NOT_SHOWABLE, f"the view `{view.name}` lists something that is not a field", Label(view.span)
                )
    return Object(tuple(members), named=f"{resource}.{view.name}") if complete else None


def check_views(showing: Showing) -> None:
    """Every view, also one that no response applies."""
    for name in showing.resources:
        for view in showing.views(name).values():
            view_of(view, name, showing)


def whole_row(resource: str, showing: Showing) -> Content:
    """Fixed meaning 1: all fields that are not `secret`, in written order; a reference is its identifier."""
    fields = showing.resources[resource].fields.values()
    members = tuple((each.name, _field(resource, each, showing)) for each in fields if each.secret is None)
    return Object(members, named=resource)


def _field(resource: str, field: Field, showing: Showing) -> Leaf:
    row = Variable(resource, Row(resource=resource))
    through = "field" if field.computed is None else "computed"
    return Leaf(Select(row, field.name, field.type, through), field.null_shown)  # type: ignore[arg-type]


def _of_row(row: Typed, content: Content, showing: Showing) -> Content:
    """The content of a resource's own row, over another row of it. A row that may not be there shows nothing."""
    resource = row.type.resource if isinstance(row.type, Row) else ""
    if isinstance(row, Variable) and row.name == resource:
        return content
    moved = _moved(content, resource, row)
    # A row reached through a reference may be hidden from the caller, whatever the reference says.
    if isinstance(moved, Object):
        return replace(moved, present=row, null_shown=_null_shown(row, showing))
    return moved


def _moved(content: Content, resource: str, row: Typed) -> Content:
    match content:
        case Leaf():
            return replace(content, expression=substitute(content.expression, resource, row))
        case Object():
            members = tuple((name, _moved(each, resource, row)) for name, each in content.members)
            present = None if content.present is None else substitute(content.present, resource, row)
            return replace(content, members=members, present=present)
        case Array():
            return Array(tuple(_moved(each, resource, row) for each in content.items))
        case Rows():
            return content


def _null_shown(found: Typed, showing: Showing) -> bool:
    """Whether the schema of what is shown admits null: that of a field; anything else has no schema."""
    match found:
        case Select(operand=operand, name=name) if isinstance(operand.type, Row):
            field = showing.resources[operand.type.resource].fields.get(name)
            return field is not None and field.null_shown
        case _:
            return False
