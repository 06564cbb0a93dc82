"""What a request to an endpoint may bring: which rows its path names, its body, its parameters and headers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator

from ninefold.contract.survey import actions, signs_out_caller
from ninefold.contract.writes import Constant, Given, constants, given, known_by
from ninefold.language.actions import Action
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, StatedNone, is_open, value_of
from ninefold.language.orders import Offered, SortKey
from ninefold.language.parameters import Parameter
from ninefold.language.resources import Field
from ninefold.language.routes import PathName, PathValue
from ninefold.language.shapes import FORM
from ninefold.language.verbs import TRANSITION, kind_of
from ninefold.tools.explain import resources
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.limits import pages
from ninefold.tools.explain.told import told


def deeds(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """What it does, and on which row."""
    first, further = actions(endpoint)[:1], actions(endpoint)[1:]
    items = [g.item(_deed(action, endpoint.outcomes), action.span, meanings=_meanings(action)) for action in first]
    words = "takes the transition `{}` of that `{}` after it"
    items += [
        g.item(words.format(each.verb, each.subject), each.span, meanings=("several operations",)) for each in further
    ]
    if endpoint.call is not None:
        called = [g.item(_deed(endpoint.call), endpoint.call.span, meanings=("functions",))]
        called += [
            g.item(f"with `{each.value.text}` for its `{each.name}`", each.value.span)
            for each in value_of(endpoint.called_with) or ()
        ]
        items = called + items
    items = items or g.fact("what it does", endpoint.does)
    items += g.fact("base", g.contract.endpoints.base, lambda base: f"`{base}` comes before its path", whole=True)
    items += path(g, endpoint)
    if any(signs_out_caller(endpoint, action) for action in actions(endpoint)):
        items.append(g.item("of the caller's own row", endpoint.span, meanings=("ended credentials",)))
    items += _known_by(g, endpoint)
    return items + told(g, endpoint, "where")


def _meanings(action: Action) -> tuple[str, ...]:
    return ("all rows",) if action.all else kind_of(action.verb).meanings


def _deed(action: Action, outcomes: Collection[str] = ()) -> str:
    """`outcomes`: those that have an answer."""
    if action.all:
        done = f"takes the transition `{action.verb}` of" if action.is_transition else kind_of(action.verb).word
        return f"{done} all rows of `{action.subject}` that are left by what follows"
    if action.is_transition:
        return TRANSITION.told.format(action.verb, action.subject)
    kind = kind_of(action.verb)
    is_without = bool(outcomes) and kind.outcomes[-1:] != () and kind.outcomes[-1] not in outcomes
    return ((is_without and kind.told_without) or kind.told).format(action.subject)


def _known_by(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """Of `put`, and of `delete` where there may be none: the fields that say which row is meant."""
    own = g.acted_on(endpoint)
    if own is None or not any(kind_of(each.verb).may_be_absent for each in actions(endpoint)):
        return []
    fields = [f"`{own}.{name}`" for name in known_by(g.survey, endpoint, own)]
    return (
        [g.item(f"the row is known by {' and '.join(fields)}", endpoint.span, meanings=("rows that may be there",))]
        if fields
        else []
    )


def path(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """Each name in the path, from the left, with the row that it names."""
    first = g.acted_on(endpoint)
    items = []
    for segment in endpoint.segments:
        if isinstance(segment, PathName):
            items.append(_path_name(g, endpoint, segment, first))
        elif isinstance(segment, PathValue):
            items.append(
                g.item(
                    f"`{{{segment.name}}}` is `request.path.{segment.name}`",
                    segment.span,
                    meanings=("values in paths",),
                )
            )
    if (
        endpoint.where is None
        and first is not None
        and not any(isinstance(each, PathName) for each in endpoint.segments)
    ):
        items.append(g.item("the path names no row", endpoint.span))
    return items


def _path_name(g: Grounds, endpoint: Endpoint, segment: PathName, first: str | None) -> Item:
    written = f"`{{{'.'.join(segment.names)}}}`"
    names = g.survey.led(first, segment)
    at, through = first, [first or ""]
    for name in names[:-1]:
        reference = g.fields(at).get(name)
        target = None if reference is None else value_of(reference.references)
        if target is None:
            return g.item(f"{written}: which row it names is not known", segment.span, meanings=("paths",))
        at = target.text
        through.append(name)
    own, key = g.resource(at), g.fields(at).get(names[-1])
    if own is None or key is None:
        return g.item(f"{written}: which row it names is not known", segment.span, meanings=("paths",))
    makes = any(kind_of(action.verb).makes for action in actions(endpoint))
    if len(through) == 1:
        words = f"{written}: the `{at}` whose `{names[-1]}` it is"
    elif makes and len(through) == 2:
        words = f"{written}: the `{at}` whose `{names[-1]}` it is; `{'.'.join(through)}` is set to it"
    else:
        words = f"{written}: the `{at}` whose `{names[-1]}` it is; `{'.'.join(through)}` has to be that one"
    return g.item(words, segment.span, (resources.field(g, own, key),), meanings=("paths",))


def body(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """The media type, each member with the rules of its field, and what happens to any other."""
    items: list[Item] = []
    stated = value_of(endpoint.body)
    if stated is None and endpoint.body is not None:
        meanings = ("bodies",) if isinstance(endpoint.body, StatedNone) else ()
        items += g.fact("body", endpoint.body, meanings=meanings)
    elif stated is None:
        return [g.item("no fact asks for a body", meanings=("bodies",))] if not is_open(endpoint.does) else []
    requests, of_all = g.contract.endpoints.requests_of(endpoint), g.contract.endpoints.requests
    if value_of(of_all) is None and endpoint.requests is None:
        items += g.fact("requests", of_all)
    types = [each.text.casefold() for each in value_of(requests.media_types) or ()]
    forms = [each for each in types if each.startswith(FORM)]
    if stated is not None and not (value_of(of_all) is None and endpoint.requests is None):
        items += g.names(
            "media type",
            requests.media_types,
            (*(("forms",) if forms else ()), *(("bodies",) if len(forms) < len(types) else ())),
        )
    items += g.fact(
        "patch",
        endpoint.patch,
        lambda word: f"{word.text}, by RFC {PATCHES.get(word.text, '')}",
        ("merge patches", "no value"),
    )
    items += [_member(g, each) for each in given(g.survey, endpoint)]
    if stated is not None and stated.template is not None:
        items += [_constant(g, each) for each in constants(stated.template)]
    if any(kind_of(action.verb).grants for action in actions(endpoint)):
        words = "`/grant_type` and `/scope` say what is asked for"
        items.append(g.item(words, endpoint.span, meanings=("granted tokens", "granted scopes")))
    if value_of(of_all) is not None or endpoint.requests is not None:
        items += told(g, requests, but=("media_types", "unknown_parameters"))
    if stated is not None and forms:
        items.append(g.item("a member of a form that is repeated is an array", meanings=("forms",)))
    if stated is not None and (not forms or len(forms) < len(types)):
        items.append(g.item("of a member that is given twice the last counts", meanings=("values",)))
    return items


def _constant(g: Grounds, each: Constant) -> Item:
    written = json.dumps(each.value, ensure_ascii=False)
    return g.item(f"`{'/'.join(('', *each.pointer))}` has to be `{written}`, and gives nothing", each.span)


PATCHES = {"merge": "7396", "json-patch": "6902"}


def _member(g: Grounds, each: Given) -> Item:
    pointer = "/".join(("", *each.pointer))
    own, field = g.resource(each.resource), g.fields(each.resource).get(each.field)
    if field is None and each.beside:
        return g.item(f"`{pointer}` is `request.body.{each.field}`", each.span, meanings=("members beside fields",))
    if own is None or field is None:
        return g.item(f"`{pointer}`: `{each.resource}.{each.field}`", each.span)
    meanings = ("references",) if field.references is not None else ()
    below = (resources.field(g, own, field),)
    return g.item(f"`{pointer}` gives `{each.resource}.{each.field}`", each.span, below, meanings=meanings)


def parameters(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """Query parameters, headers, orders and pages."""
    items = [*_parameters(g, "value in the path", endpoint.path)]
    items += _parameters(g, "query parameter", endpoint.query, g.acted_on(endpoint))
    items += _parameters(g, "header", endpoint.request_headers)
    items += _order(g, endpoint)
    if endpoint.lists:
        items += pages(g, endpoint.pages, g.contract.limits.pages)
    items += told(g, endpoint, "idempotency_key")
    if isinstance(endpoint.etag, StatedNone):
        items += g.fact("etag", endpoint.etag)
    elif endpoint.etag is not None:
        items += [each for words in _conditional(endpoint) for each in _told(g, endpoint, words)]
    requests = g.contract.endpoints.requests_of(endpoint)
    if value_of(g.contract.endpoints.requests) is not None or endpoint.requests is not None:
        items += told(g, requests, "unknown_parameters")
    return items


def _told(g: Grounds, endpoint: Endpoint, words: str) -> list[Item]:
    return g.fact("etag", endpoint.etag, lambda _: words, ("entity tags",), whole=True)


def _conditional(endpoint: Endpoint) -> Iterator[str]:
    if not all(kind_of(action.verb).writes for action in actions(endpoint)):
        yield "`If-None-Match` with the entity tag of what is shown is answered with 304 (RFC 9110, section 13.1.2)"
        yield "`If-Match` without the entity tag of what is shown is refused (RFC 9110, section 13.1.1)"
    else:
        yield "`If-Match` without the entity tag that GET gives is refused (RFC 9110, section 13.1.1)"
        yield "`If-None-Match` with the entity tag that GET gives is refused (RFC 9110, section 13.1.2)"


def _parameters(
    g: Grounds, kind: str, fact: Fact[tuple[Parameter, ...]] | None, acted_on: str | None = None
) -> Iterator[Item]:
    stated = value_of(fact)
    if stated is None:
        yield from g.fact(kind + "s", fact)
    for each in stated or ():
        own = told(
            g,
            each,
            sorts=lambda fact: g.fact("orders that can be chosen", fact, _offered(g, acted_on), ("ties",)),
        )
        yield g.together(f"the {kind} `{each.name}`", each.span, (*resources.asked(g, each.schema), *own))


def _order(g: Grounds, endpoint: Endpoint) -> list[Item]:
    return g.fact("order", endpoint.sort, _keys(g, g.acted_on(endpoint)), ("pages and filters", "ties"))


def _keys(g: Grounds, resource: str | None) -> Callable[[tuple[SortKey, ...]], str]:
    """How orders are told: each key by the name that callers know the field by."""
    fields = g.fields(resource)
    return lambda stated: ", ".join(_key(each, fields.get(each.field)) for each in stated)


def _offered(g: Grounds, resource: str | None) -> Callable[[tuple[Offered, ...]], str]:
    """The same of those that can be chosen: one of a name of its own with it."""
    tell = _keys(g, resource)

    def told(each: Offered) -> str:
        return tell(each.keys) if each.name is None else f"`{each.name}` ({tell(each.keys)})"

    return lambda stated: ", ".join(map(told, stated))


def _key(key: SortKey, field: Field | None) -> str:
    called = key.field if field is None else field.called or key.field
    return f"`{called}` {'descending' if key.descending else 'ascending'}"
