"""What a request chooses of a response: members of the row that it shows, and references that are shown as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ninefold.checked.contents import Array, Choice, Content, Object, Response, Rows
from ninefold.checked.operations import Expansion, Projection
from ninefold.checked.resources import Resource
from ninefold.checks.contents import check_content
from ninefold.checks.model import request_type
from ninefold.checks.showing import Showing, stated_at, whole_of
from ninefold.diagnostics.codes import NO_SUCH_MEMBER, NOT_EXPANDED, NOT_ONE_ROW
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions import ast
from ninefold.expressions.check import check
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Typed
from ninefold.language import endpoints as stated
from ninefold.language.expressions import Leaf
from ninefold.language.fact import Name, value_of
from ninefold.language.parameters import Expanded, Parameter
from ninefold.language.verbs import kind_of
from ninefold.values import Array as ArrayType
from ninefold.values import Row


@dataclass(frozen=True)
class Selection:
    """A response of which a request chooses, and by which parameters."""

    response: Response
    projection: Projection | None = None
    expansion: Expansion | None = None


def check_selection(
    endpoint: stated.Endpoint, verb: str, resource: Resource | None, response: Response, showing: Showing
) -> Selection | None:
    """The response with what can be chosen of it; None if something of that is open or wrong, which has been said."""
    selecting, expanding = endpoint.by("selects"), endpoint.by("expands")
    if (selecting is None and expanding is None) or not kind_of(verb).reads_rows or resource is None:
        return Selection(response)  # that it says nothing of other verbs has been said
    row = _row(endpoint, verb, resource, response, showing)
    if row is None or response.content is None:
        return None
    shown, complete = row, True
    asked: Expansion | None = None
    projected: Projection | None = None
    if expanding is not None:
        offered = value_of(expanding.expands)
        scope = showing.vocabulary.scope(resource.name, request=request_type(endpoint, showing.findings.schemas))
        found = [(each, _expanded(each, resource, scope, showing)) for each in offered or ()]
        expanded = tuple((each.name, content) for each, content in found if content is not None)
        shown = replace(shown, expanded=expanded)
        complete = offered is not None and len(expanded) == len(found)
        asked = Expansion(expanding.name, tuple(name for name, _ in expanded))
    if selecting is not None:
        projected = _projection(endpoint, selecting, row, showing)
        complete = complete and projected is not None
        shown = shown if projected is None else replace(shown, optional=projected.members)
    if not complete:
        return None
    content = _with(response.content, lambda each: replace(shown, named=None) if each is row else None)
    return Selection(replace(response, content=content), projected, asked)


def _projection(endpoint: stated.Endpoint, selecting: Parameter, row: Object, showing: Showing) -> Projection | None:
    offered, always = value_of(selecting.selects), value_of(selecting.always) or ()
    if not _are_members(endpoint, (*(offered or ()), *always), row, showing) or offered is None:
        return None
    kept = {each.text for each in always}
    return Projection(
        parameter=selecting.name,
        offered=tuple(each.text for each in offered),
        members=tuple(name for name, _ in row.members if name not in kept),
    )


def _are_members(endpoint: stated.Endpoint, names: Iterable[Name], row: Object, showing: Showing) -> bool:
    members, whole = [name for name, _ in row.members], True
    for each in names:
        if each.text not in members:
            whole = False
            listed = ", ".join(f"`{name}`" for name in members)
            showing.findings.say(
                NO_SUCH_MEMBER,
                f"what `{endpoint.key}` shows of a row has no member `{each.text}`",
                Label(each.span, "not a member"),
                help=did_you_mean(each.text, members) or (f"its members are {listed}",),
            )
    return whole


# ── Which row it is of ────────────────────────────────────────────────────────────────────────────────────────


def _row(
    endpoint: stated.Endpoint, verb: str, resource: Resource, response: Response, showing: Showing
) -> Object | None:
    """The object that shows the row which is read, or each row that is listed."""
    content, kind = response.content, kind_of(verb)
    found = [] if content is None else _rows_within(content, resource.name, kind.reads_one)
    if not found and kind.reads_one and isinstance(content, Object):
        found = [content]
    if len(found) == 1:
        return found[0]
    several, what = len(found) > 1, "rows of the page" if kind.lists else f"`{resource.name}`"
    choosing = [(key, each) for key in ("selects", "expands") if (each := endpoint.by(key)) is not None]
    spans = [Label(each.span, f"`{key}` is of one") for key, each in choosing]
    shows = next((each.span for each in value_of(endpoint.responses) or ()), endpoint.span)
    showing.findings.say(
        NOT_ONE_ROW,
        f"the response of `{endpoint.key}` shows {what} " + ("more than once" if several else "by no object"),
        *spans[:1],
        Label(shows, f"{len(found)} objects show it" if several else "no object shows it"),
        help=("show it once: by the resource's name, a view or a template",),
    )
    return None


def _rows_within(content: Content, resource: str, at_row: bool) -> list[Object]:
    """The outermost objects that show the row that is read; where rows are listed, what each is shown as. `at_row`:
    the resource's own name is that row, and not one on the way to the list."""
    match content:
        case Object(named=str(name), present=None) if at_row and name.partition(".")[0] == resource:
            return [content]
        case Object(members=members):
            return [each for _, value in members for each in _rows_within(value, resource, at_row)]
        case Array(items=items):
            return [each for item in items for each in _rows_within(item, resource, at_row)]
        case Rows(item=item):
            return _rows_within(item, resource, True) or ([item] if isinstance(item, Object) else [])
        case Choice(yes=yes, no=no):
            return [each for branch in (yes, no) for each in _rows_within(branch, resource, at_row)]
        case _:
            return []


def _with(content: Content, change: Callable[[Content], Content | None]) -> Content:
    """A content in which one object is another."""
    changed = change(content)
    if changed is not None:
        return changed
    match content:
        case Object():
            return replace(content, members=tuple((name, _with(value, change)) for name, value in content.members))
        case Array():
            return replace(content, items=tuple(_with(item, change) for item in content.items))
        case Rows():
            return replace(content, item=_with(content.item, change))
        case Choice():
            return replace(content, yes=_with(content.yes, change), no=_with(content.no, change))
        case _:
            return content


# ── What is shown on request ──────────────────────────────────────────────────────────────────────────────────


def _expanded(each: Expanded, resource: Resource, scope: Scope, showing: Showing) -> Content | None:
    rows = _rows_of(each.field, resource, scope)
    if each.shows is not None and not _is_whole(each, rows):
        content = check_content(each.shows, scope, showing)
    elif rows is not None:
        content = whole_of(rows, showing)
    else:
        content = None
        if not showing.findings.unknown and not showing.findings.more_back_references:
            _not_a_reference(each, resource, scope, showing)
    return None if content is None else stated_at(content, showing, each.span)


def _is_whole(each: Expanded, rows: Typed | None) -> bool:
    """Whether `customer: customer` names the resource that the reference leads to."""
    if rows is None or not isinstance(each.shows, Leaf):
        return False
    named = each.shows.expression.ast
    return isinstance(named, ast.Name) and named.name == _resource(rows)


def _rows_of(field: str, resource: Resource, scope: Scope) -> Typed | None:
    """The row or rows that a field of the resource leads to; None: it leads to none."""
    if not field.isidentifier():
        return None
    found = check(ast.Member(ast.Name(resource.name, 0, 0), field, 0, 0, 0), scope).typed
    return found if found is not None and _resource(found) is not None else None


def _resource(rows: Typed) -> str | None:
    type_ = rows.type.items if isinstance(rows.type, ArrayType) else rows.type
    return type_.resource if isinstance(type_, Row) else None


def _not_a_reference(each: Expanded, resource: Resource, scope: Scope, showing: Showing) -> None:
    shape = showing.vocabulary.model[resource.name]
    leading = [name for name in (*shape.fields, *shape.inverse) if _rows_of(name, resource, scope) is not None]
    listed = " and ".join(f"`{name}`" for name in leading)
    showing.findings.say(
        NOT_EXPANDED,
        f"`{resource.name}.{each.field}` leads to no rows"
        if each.field in shape.fields
        else f"`{resource.name}` has no reference `{each.field}`",
        Label(each.span, "not a reference"),
        help=did_you_mean(each.field, leading) or ((f"what leads to rows: {listed}",) if leading else ()),
    )
