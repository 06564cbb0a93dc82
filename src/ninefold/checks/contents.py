"""What a response shows: templates, resources by their names, and views applied to rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows, expressions_of
from ninefold.checks.findings import Findings, condition, meant, reads_database, several, typed
from ninefold.checks.nulls import is_null, null_shown, unmarked, with_nulls
from ninefold.checks.showing import (
    Showing,
    binds,
    chooses,
    field_shown,
    in_nullable,
    is_applied_to_rows,
    is_of_the_request,
    is_template,
    is_view,
    may_be_a_view,
    moved,
    of_row,
    or_null,
    reads_items,
    shows_page,
    stated_at,
    whole_row,
)
from ninefold.diagnostics.codes import (
    NAME_TAKEN,
    NO_SUCH_VIEW,
    NOT_A_VALUE,
    NOT_SHOWABLE,
    VALUE_TOO_LARGE,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.ast import Ast, Conditional, Invocation, ListLiteral, Literal, MapLiteral, Name, is_items
from ninefold.expressions.check import check
from ninefold.expressions.reads import as_shown
from ninefold.expressions.rows import as_value, is_as_it_was, is_reference
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Typed, Variable
from ninefold.language import expressions as stated
from ninefold.language.resources import View
from ninefold.values import Array as ArrayType
from ninefold.values import Digest, Row

DEEPEST = 16
"""How deep views may stand in each other: each is a statement within a statement."""

MOST_PARTS = 1_000
"""Values that one view shows, with the views that it shows in their places."""


def check_content(template: stated.Template, scope: Scope, showing: Showing) -> Content | None:
    """The content that a template describes; None if something is wrong with it, and that has been said."""
    match template:
        case stated.Leaf(expression):
            return _leaf(expression, scope, showing)
        case stated.Members(members):
            found = [(each, check_content(each.value, scope, showing)) for each in members]
            complete = tuple(
                (each.name, stated_at(content, showing, each.span)) for each, content in found if content is not None
            )
            return Object(complete) if len(complete) == len(found) else None
        case stated.Items(items):
            several = [check_content(item, scope, showing) for item in items]
            whole = tuple(content for content in several if content is not None)
            return Array(whole) if len(whole) == len(several) else None


def _leaf(expression: stated.Expression, scope: Scope, showing: Showing) -> Content | None:
    content = _shown(expression, scope, showing)
    return None if content is None else stated_at(content, showing, expression.span)


def _shown(expression: stated.Expression, scope: Scope, showing: Showing) -> Content | None:
    ast = expression.ast
    if (inner := in_nullable(ast, showing)) is not None:
        content = _shown(replace(expression, ast=inner), scope, showing)
        return None if content is None else or_null(content, expression.span, showing)
    if showing.listed is not None and binds(ast, showing.listed):
        # A row of the page may be called as the resource is; then nothing else is.
        scope = replace(scope, variables={k: v for k, v in scope.variables.items() if k != showing.listed})
    if showing.listed is not None and is_items(ast):
        return Rows(whole_row(showing.listed, showing))
    if showing.listed is not None and reads_items(ast) and not shows_page(ast, scope, showing):
        say_rows_are_shown(
            expression, "write `page.items`, a view applied to it, or `page.items.map(x, …)`", showing.findings
        )
        return None
    if (
        showing.listed is not None
        and isinstance(ast, Invocation)
        and ast.function == "map"
        and shows_page(ast, scope, showing)
    ):
        return _taken_apart(ast, expression, scope, showing)
    if isinstance(ast, Invocation) and (is_view(ast, showing) or is_applied_to_rows(ast, scope)):
        return _applied(ast, expression, scope, showing)
    if may_be_a_view(ast, scope, showing):
        return None
    if is_template(ast, scope, showing) and (chooses(ast, scope, showing) or not is_of_the_request(ast, scope)):
        return _taken_apart(ast, expression, scope, showing)
    # A bare name is a row to be taken apart, or needs no database: several primary keys are no hindrance.
    bare = isinstance(ast, Name) and ast.name not in scope.items
    found = typed(replace(expression, ast=unmarked(ast)), scope, None, showing.findings, in_sql=not bare)
    if found is None:
        return None
    found = with_nulls(found, ast)
    if isinstance(found.type, Row):
        if (isinstance(found, Variable) and bare) or is_as_it_was(found):
            return of_row(found, whole_row(found.type.resource, showing), showing)
        return _identifier(found, expression, showing)
    if isinstance(found.type, Digest):
        showing.findings.say(
            NOT_SHOWABLE, f"`{expression.text}` is a secret", Label(expression.span, "can be shown to nobody")
        )
        return None
    return Leaf(as_shown(found), null_shown(found, showing.resources))


def _identifier(row: Typed, expression: stated.Expression, showing: Showing) -> Leaf | None:
    """A row as a value: its primary key, if that is one field."""
    model = showing.vocabulary.model
    value = as_value(row, model)
    shape = model.get(value.type.resource) if isinstance(value.type, Row) and not is_reference(value) else None
    if shape is None:
        return Leaf(value, null_shown(row, showing.resources))
    showing.findings.say(
        NOT_A_VALUE, shape.is_no_value, Label(expression.span), help=("show its fields, or apply a view",)
    )
    return None


def say_rows_are_shown(expression: stated.Expression, instead: str, findings: Findings) -> None:
    """Says that of the rows of a page something else is made than what shows each of them."""
    message = "the rows of the page are shown one after another, and nothing else is made of them"
    help = (instead, "how many there are is `page.items.size()`")
    findings.say(NOT_SHOWABLE, message, Label(expression.span, "reads `page.items`"), help=help)


def _taken_apart(ast: Ast, expression: stated.Expression, scope: Scope, showing: Showing) -> Content | None:
    """`{'sku': line.sku, 'item': short(line.item)}`, `order.lines.map(l, {…})`, `[{…}, {…}]`."""

    def inner(part: Ast) -> Content | None:
        return _leaf(replace(expression, ast=part), scope, showing)

    match ast:
        case MapLiteral(entries=entries):
            members: dict[str, Content | None] = {}
            for key, value in entries:
                if not isinstance(key, Literal) or not isinstance(key.value, str) or key.value in members:
                    # What is wrong with its names, expressions say of every object.
                    nothing = Literal(None, ast.start, ast.start)
                    names = replace(ast, entries=tuple((each, nothing) for each, _ in entries))
                    typed(replace(expression, ast=names), scope, None, showing.findings)
                    return None
                members[key.value] = inner(value)
            complete = tuple((name, content) for name, content in members.items() if content is not None)
            return Object(complete) if len(complete) == len(members) else None
        case ListLiteral(items=items):
            several_ = [content for item in items if (content := inner(item)) is not None]
            return Array(tuple(several_)) if len(several_) == len(items) else None
        case Conditional(condition=asked, yes=yes, no=no):
            holds = condition(replace(expression, ast=asked), scope, showing.findings)
            one, other = (_chosen(_part(each, expression, scope, showing)) for each in (yes, no))
            return None if holds is None or one is None or other is None else Choice(holds, one, other)
        case Invocation(target=target, arguments=(Name() as variable, *conditions, body)) if target is not None:
            return _each(ast, variable, conditions, body, expression, scope, showing)
        case _:
            return None


def _chosen(content: Content | None) -> Content | None:
    """A `null` that a condition chooses shows nothing."""
    return replace(content, null_shown=False) if isinstance(content, Leaf) and is_null(content.expression) else content


def _part(ast: Ast, expression: stated.Expression, scope: Scope, showing: Showing) -> Content | None:
    """What stands where there is no member and no item of its own: what is chosen, and what is shown of each item."""
    part = replace(expression, ast=ast)
    if in_nullable(ast, showing) is not None:
        typed(part, scope, None, showing.findings)  # which says where `nullable` stands
        return None
    return _leaf(part, scope, showing)


def _each(
    call: Invocation,
    variable: Name,
    conditions: list[Ast],
    body: Ast,
    expression: stated.Expression,
    scope: Scope,
    showing: Showing,
) -> Content | None:
    """`order.lines.map(l, {…})`, `order.lines.map(l, l.open, line(l))`: the items of an array, each a template."""
    assert call.target is not None
    if variable.name in scope.variables:
        showing.findings.say(
            NAME_TAKEN,
            f"`{variable.name}` is already the name of something else here",
            Label(expression.written.part(variable.start, variable.end)),
        )
        return None
    if showing.listed is not None and is_items(call.target) and not conditions:
        row = Variable(showing.listed, Row(resource=showing.listed))
        within = replace(scope, variables={**scope.variables, variable.name: row.type})
        item = _part(body, expression, within, replace(showing, listed=None))
        return None if item is None else Rows(moved(item, variable.name, row))
    chosen: Ast = call.target
    if conditions:
        chosen = replace(call, function="filter", arguments=(variable, *conditions))
    range_ = several(replace(expression, ast=chosen), scope, showing.findings)
    if range_ is None:
        return None
    if "error" in scope.variables and not reads_database(range_, scope):
        # What an error shows of its fields no database gives: it is one expression, and what is wrong with it is said.
        typed(replace(expression, ast=call), scope, None, showing.findings)
        return None
    if not isinstance(range_.type, ArrayType):
        typed(replace(expression, ast=replace(call, arguments=(variable, variable))), scope, None, showing.findings)
        return None
    within = replace(
        scope,
        variables={**scope.variables, variable.name: range_.type.items},
        items=(*scope.items, variable.name),
    )
    item = _part(body, expression, within, replace(showing, listed=None))
    return None if item is None else Each(range_, variable.name, item)


def _applied(call: Invocation, expression: stated.Expression, scope: Scope, showing: Showing) -> Content | None:
    """`full(order)`, `profile(article.author)`, `listed(page.items)`."""
    if is_items(call.arguments[0]) and showing.listed is not None:
        content = _view(call, showing.listed, expression, showing)
        return None if content is None else Rows(content)
    argument = replace(expression, ast=call.arguments[0])
    probed = check(argument.ast, scope).typed
    rows = probed.type.items if probed is not None and isinstance(probed.type, ArrayType) else None
    if isinstance(rows, Row):
        found = several(argument, scope, showing.findings)
        content = None if found is None else _view(call, rows.resource, expression, showing)
        return None if found is None or content is None else Each(found, rows.resource, content)
    # Of a name that is none the advice is a row, and no text.
    a_row = next((each for each in scope.variables.values() if probed is None and isinstance(each, Row)), None)
    row = typed(argument, scope, a_row, showing.findings, in_sql=not isinstance(argument.ast, Name))
    if row is None:
        return None
    if not isinstance(row.type, Row):
        showing.findings.say(
            NO_SUCH_VIEW, f"`{call.function}` is applied to something that is not a row", Label(expression.span)
        )
        return None
    content = _view(call, row.type.resource, expression, showing)
    return None if content is None else of_row(row, content, showing)


def _view(call: Invocation, resource: str, expression: stated.Expression, showing: Showing) -> Content | None:
    views = showing.views(resource)
    view = views.get(call.function)
    span = expression.written.part(call.name_start, call.name_end)
    if view is None and call.function == resource:
        return whole_row(resource, showing)
    if view is None and showing.views_are_open(resource):
        return None
    if view is None:
        showing.findings.say(
            NO_SUCH_VIEW,
            f"`{resource}` has no view `{call.function}`",
            Label(span, "not a view"),
            help=did_you_mean(call.function, [*views, resource]),
        )
        return None
    return _made(view, resource, span, showing)


def _made(view: View, resource: str, span: Span, showing: Showing) -> Content | None:
    """A view where it is applied. However often that is, it is checked once."""
    key = (resource, view.name)
    if key in showing.within:
        showing.findings.say(NO_SUCH_VIEW, "views show each other in a circle", Label(span, "leads back here"))
        return None
    if len(showing.within) >= DEEPEST:
        message = f"views show each other at most {DEEPEST} deep"
        showing.findings.say(VALUE_TOO_LARGE, message, Label(span, "shows another one too many"))
        return None
    if key not in showing.made:
        showing.made[key] = view_of(view, resource, replace(showing, listed=None))
    for outer in showing.within[-1:]:
        showing.depths[outer] = max(showing.depths.get(outer, 1), 1 + showing.depths.get(key, 1))
    return showing.made[key]


def view_of(view: View, resource: str, showing: Showing) -> Content | None:
    """A view's content over the row that goes by its resource's name. In a list of it, a bare name is a field."""
    key = (resource, view.name)
    content = _content_of(view, resource, replace(showing, within=(*showing.within, key)))
    if content is None:
        return None
    if showing.depths.get(key, 1) > DEEPEST:
        message = f"views show each other at most {DEEPEST} deep"
        showing.findings.say(VALUE_TOO_LARGE, message, Label(view.span, "shows another one too many"))
        return None
    if next(islice(expressions_of(content), MOST_PARTS, None), None) is not None:
        message = f"with the views that it shows, `{view.name}` of `{resource}` shows more than {MOST_PARTS:,} values"
        showing.findings.say(VALUE_TOO_LARGE, message, Label(view.span, "too many in one row"))
        return None
    return content


def _content_of(view: View, resource: str, showing: Showing) -> Content | None:
    scope = showing.vocabulary.scope(resource)
    if not isinstance(view.template, stated.Items):
        content = check_content(view.template, scope, showing)
        if content is None:
            return None
        content = stated_at(content, showing, view.span)
        return replace(content, named=f"{resource}.{view.name}") if isinstance(content, Object) else content
    members: list[tuple[str, Content]] = []
    complete = _one_of_a_name(view, view.template, showing)
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
                        help=meant(name, showing.resources[resource].fields),
                    )
                elif field.secret is not None:
                    complete = False
                    showing.findings.say(
                        NOT_SHOWABLE,
                        f"`{resource}.{name}` is a secret",
                        Label(expression.span, "can be shown to nobody"),
                        help=(f"a token that was just made is `issued.{name}`",) if field.secret == "token" else (),
                    )
                elif field.called is not None:
                    leaf = field_shown(resource, field, showing)
                    members.append((field.called, stated_at(leaf, showing, expression.span)))
            case stated.Members(mappings):
                for each in mappings:
                    if item.span == each.span and each.name in showing.resources[resource].fields:
                        message = f"`{each.name}` is a field of `{resource}`, and the name of a term"
                        help = (f"the term is shown as a member with a name of its own: `{{NAME: {each.name}}}`",)
                        showing.findings.say(NOT_SHOWABLE, message, Label(item.span), help=help)
                    content = check_content(each.value, scope, showing)
                    complete = complete and content is not None
                    if content is not None:
                        members.append((each.name, stated_at(content, showing, each.span)))
            case _:
                complete = False
                showing.findings.say(
                    NOT_SHOWABLE, f"the view `{view.name}` lists something that is not a field", Label(view.span)
                )
    if not complete:
        return None
    return stated_at(Object(tuple(members), named=f"{resource}.{view.name}"), showing, view.span)


def _one_of_a_name(view: View, listed: stated.Items, showing: Showing) -> bool:
    """Whether a view's list names no member twice, be it as a field or in a mapping."""
    first: dict[str, Span] = {}
    for name, span in _names_of(listed):
        if name in first:
            message = f"the view `{view.name}` has the member `{name}` twice"
            labels = Label(span, "again"), Label(first[name], "here it is said first")
            showing.findings.say(NOT_SHOWABLE, message, *labels)
            return False
        first[name] = span
    return True


def _names_of(listed: stated.Items) -> Iterator[tuple[str, Span]]:
    for item in listed.items:
        match item:
            case stated.Leaf(stated.Expression(ast=Name(name=name), span=span)):
                yield name, span
            case stated.Members(members):
                yield from ((each.name, each.span) for each in members)


def check_views(showing: Showing) -> None:
    """Every view, also one that no response applies."""
    for name in showing.resources:
        for view in showing.views(name).values():
            if (name, view.name) not in showing.made:
                showing.made[name, view.name] = view_of(view, name, showing)
