"""What an endpoint answers with when all goes well: each member, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.expressions.ast import Ast, Conditional, Invocation, Member, Name, is_items
from ninefold.expressions.functions import overloads
from ninefold.language.endpoints import Endpoint, shows_content
from ninefold.language.expressions import Expression, Items, Leaf, Members, Template
from ninefold.language.fact import Shown, StatedNone, value_of
from ninefold.language.parameters import Expanded
from ninefold.language.resources import View
from ninefold.language.responses import Response
from ninefold.language.verbs import BUILT_IN
from ninefold.tools.explain import resources
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import told

DEEPEST = 8
"""How deep views are followed into each other."""


def content(g: Grounds, template: Template) -> Iterator[Item]:
    """The members of a template that shows no row of its own: of an error, of an event."""
    return _content(g, template, "", None, None, 0)


ENDS = {
    "presented": "the credential that the request presents ends",
    "others": "all credentials end that were issued to the row, but the one that the request presents",
    "all": "all credentials end that were issued to the row",
}


def responses(g: Grounds, endpoint: Endpoint) -> list[Item]:
    items = [_response(g, endpoint, each) for each in value_of(endpoint.responses) or ()]
    items = items or g.fact("responses", endpoint.responses)
    if shows_content(endpoint):
        items += g.word("media type", g.contract.endpoints.produces, ("views and templates",))
    items += [
        g.item(f"the header `{each.name}` is `{each.value.text}`", each.span)
        for each in value_of(endpoint.headers) or ()
    ] or g.fact("headers", endpoint.headers)
    if isinstance(endpoint.etag, Shown):
        words = "the header `ETag` is the entity tag of what GET shows"
        items += g.fact("etag", endpoint.etag, lambda _: words, ("entity tags",), whole=True)
    if isinstance(endpoint.issues, Shown):
        words = f"`caller.credential` is one of `{endpoint.issues.value.text}`, which is made for the row"
        items += g.fact("issues", endpoint.issues, lambda _: words, ("issued credentials",), whole=True)
    else:
        items += g.fact("issues", endpoint.issues)
    if isinstance(endpoint.ends, Shown):
        words = ENDS.get(endpoint.ends.value.text, "")
        items += g.fact("ends", endpoint.ends, lambda _: words, ("ended credentials",), whole=True)
    else:
        items += g.fact("ends", endpoint.ends)
    items += told(g, g.contract.endpoints, "cors")
    return items


def _response(g: Grounds, endpoint: Endpoint, each: Response) -> Item:
    outcome = f" where it is {each.outcome.text}" if each.outcome is not None else ""
    head = f"{each.status}{outcome}"
    content = each.content
    if isinstance(content, StatedNone):
        return g.together(f"{head}, with no body", each.span, ())
    template = value_of(content)
    if template is None or not isinstance(template, Leaf | Members | Items):
        return g.together(head, each.span, g.fact("body", content))
    first = g.acted_on(endpoint)
    listed = first if endpoint.lists or endpoint.of_all_rows else None
    shown = [*_content(g, template, "", first, listed, 0)]
    shown += [_expanded(g, asked, first) for asked in _on_request(endpoint)]
    return g.item(f"{head}, with the body", each.span, shown, ("views and templates", "no value"))


def _on_request(endpoint: Endpoint) -> Iterator[Expanded]:
    """What a request may ask for beside what is stated of the response."""
    include = endpoint.by("expands")
    yield from () if include is None else value_of(include.expands) or ()


def _expanded(g: Grounds, each: Expanded, first: str | None) -> Item:
    """What a row shows where a request asks for it."""
    words = f"`{each.name}`, where it is asked for"
    if each.shows is None or (isinstance(each.shows, Leaf) and isinstance(each.shows.expression.ast, Name)):
        whole = f"{words}: every field of what `{first}.{each.field}` leads to"
        return g.item(whole, each.span, meanings=("views and templates", "choices"))
    return g.item(words, each.span, _content(g, each.shows, f"/{each.name}", first, None, 0), ("choices",))


def _content(
    g: Grounds, template: Template, at: str, own: str | None, listed: str | None, depth: int
) -> Iterator[Item]:
    """Items for the members under the JSON Pointer `at`. `own`: the resource whose fields bare names mean in a view;
    `listed`: that of `page.items`."""
    match template:
        case Members(members):
            for member in members:
                if isinstance(member.value, Leaf):
                    yield _leaf(g, member.value.expression, f"{at}/{member.name}", listed, depth)
                else:
                    below = _content(g, member.value, f"{at}/{member.name}", own, listed, depth)
                    yield g.item(f"`{at}/{member.name}`", member.span, below)
        case Items(items):
            for number, item in enumerate(items):
                if isinstance(item, Leaf):
                    yield _leaf(g, item.expression, f"{at}/{number}", listed, depth)
                else:
                    yield from _content(g, item, f"{at}/{number}", own, listed, depth)
        case Leaf(expression):
            yield _leaf(g, expression, at, listed, depth)


def _leaf(
    g: Grounds, expression: Expression, at: str, listed: str | None, depth: int, branch: Ast | None = None
) -> Item:
    """`branch`: what is shown in one case, of an expression that says when."""
    called = f"`{at}`" if at else "it"
    ast = branch or expression.ast
    text = expression.text if branch is None else expression.text[branch.start : branch.end]
    if is_items(ast) and listed is not None:
        below = _whole(g, listed, f"{at}/0")
        return g.item(
            f"{called} lists the rows of the page, each with", expression.span, below, ("views and templates",)
        )
    if isinstance(ast, Name) and (g.resource(ast.name) is not None or ast.name == g.survey.graph.log):
        return g.item(
            f"{called} is the `{ast.name}`, with", expression.span, _whole(g, ast.name, at), ("views and templates",)
        )
    if isinstance(ast, Invocation) and ast.target is None and len(ast.arguments) == 1:
        (argument,) = ast.arguments
        resource = listed if is_items(argument) else None
        found = list(_views(g, ast.function, resource))
        if len(found) == 1 and depth < DEEPEST:
            name, view = found[0]
            words = f"{called} is `{text}`, by the view `{view.name}` of `{name}`"
            each = f"{at}/0" if is_items(argument) else at
            shown = g.item(f"the view `{view.name}`", view.span, _view(g, name, view, each, depth + 1))
            return g.item(words, expression.span, (shown,))
        if not found and g.resource(ast.function) is not None and not overloads(ast.function):
            each = f"{at}/0" if is_items(argument) else at
            whole = _whole(g, ast.function, each)
            return g.item(
                f"{called} is `{text}`, the whole row, with", expression.span, whole, ("views and templates",)
            )
    if isinstance(ast, Conditional) and (_says_more(g, ast.yes) or _says_more(g, ast.no)):
        asked = expression.text[ast.condition.start : ast.condition.end]
        branches = [
            g.item(words, expression.span, (_leaf(g, expression, at, listed, depth, each),))
            for words, each in ((f"where `{asked}`", ast.yes), ("where that is not true", ast.no))
        ]
        return g.item(f"{called} is `{text}`", expression.span, branches, ("views and templates",))
    return g.item(f"{called} is `{text}`", expression.span, _source(g, ast))


def _says_more(g: Grounds, ast: Ast) -> bool:
    """Whether an expression is a resource by its name, a view applied, the rows of a page, or a choice of these."""
    match ast:
        case Conditional(yes=yes, no=no):
            return _says_more(g, yes) or _says_more(g, no)
        case Name(name):
            return g.resource(name) is not None
        case Invocation(function=function, target=None, arguments=(_,)):
            return g.resource(function) is not None or any(_views(g, function, None))
        case _:
            return is_items(ast)


def _views(g: Grounds, called: str, resource: str | None) -> Iterator[tuple[str, View]]:
    for name, own in g.survey.graph.resources.items():
        for view in value_of(own.views) or ():
            if view.name == called and resource in (None, name):
                yield name, view


def _view(g: Grounds, resource: str, view: View, at: str, depth: int) -> Iterator[Item]:
    own = g.resource(resource)
    if not isinstance(view.template, Items):
        yield from _content(g, view.template, at, resource, None, depth)
        return
    for item in view.template.items:
        if isinstance(item, Leaf) and isinstance(item.expression.ast, Name):
            name = item.expression.ast.name
            field = g.fields(resource).get(name)
            if field is not None and field.called is None:
                continue
            source = () if own is None or field is None else (resources.field(g, own, field),)
            called = name if field is None else field.called
            yield g.item(f"`{at}/{called}` is `{resource}.{name}`", item.expression.span, source)
        else:
            yield from _content(g, item, at, resource, None, depth)


def _whole(g: Grounds, resource: str, at: str) -> Iterator[Item]:
    """Every field that is not secret."""
    if resource == g.survey.graph.log:
        for name in BUILT_IN[resource]:
            yield g.item(f"`{at}/{name}`: `{resource}.{name}`", meanings=("the log of events",))
    for name, field in g.fields(resource).items():
        if field.secret is not None or field.called is None or (field.seen is not None and field.seen.instead):
            continue
        if field.is_older and (worked_out := value_of(field.computed)) is not None:
            yield g.item(f"`{at}/{field.called}`: worked out, `{worked_out.text}`", field.span)
            continue
        what = "the primary key of its row, " if field.references is not None else ""
        source = "computed, " if field.computed is not None else ""
        yield g.item(f"`{at}/{field.called}`: {what}{source}`{resource}.{name}`", field.span)


def _source(g: Grounds, ast: Ast) -> list[Item]:
    """The field that an expression `resource.field` shows."""
    if isinstance(ast, Member) and isinstance(ast.operand, Name):
        own, field = g.resource(ast.operand.name), g.fields(ast.operand.name).get(ast.name)
        if own is not None and field is not None:
            return [resources.field(g, own, field)]
    return []
