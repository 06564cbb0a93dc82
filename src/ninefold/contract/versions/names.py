"""What an older version calls otherwise, does not have, has besides, or in which something differs, but fields:
endpoints with their parameters, kinds of event, error codes, and views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from ninefold.contract.service import Contract
from ninefold.contract.versions.way import Way, each_in, holding, in_fact
from ninefold.diagnostics.codes import NEWER_LINE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.language.authentication import Permission
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.check import Check
from ninefold.language.declaration import members
from ninefold.language.endpoints import BEFORE_THE_CASE, Endpoint
from ninefold.language.errors import ErrorCode
from ninefold.language.events import EventKind
from ninefold.language.expressions import Expression
from ninefold.language.fact import Name, Shown, value_of
from ninefold.language.parameters import Parameter
from ninefold.language.resources import Resource
from ninefold.language.routes import Segment, shape_of, with_values
from ninefold.language.schemas import Schema
from ninefold.language.uses import renamed
from ninefold.language.versioning import OF_CASE, OF_ENDPOINT, Change
from ninefold.syntax.nodes import Mapping, Scalar, Sequence

_OF_ENDPOINT = tuple(
    each.name for each in fields(Endpoint) if each.name not in ("key", "method", "segments", "span", "case")
)
"""What an endpoint states beside its key."""


def change_endpoint(way: Way, change: Change) -> None:
    key, known = change.subject.text, {each.key: each for each in way.endpoints()}
    found = known.get(key)
    if found is None and change.verb != "add":
        way.not_there(change, "an endpoint", known)
        return
    if not way.only(change, (), "an endpoint"):
        return
    match change.verb:
        case "add":
            _add(way, change)
        case "change":
            if change.endpoint is None:
                way.refuse(change, f"how `{key}` was different is not said", ("write it beside: `was: {…}`",))
                return
            said = {name: value for name in _OF_ENDPOINT if (value := getattr(change.endpoint, name)) is not None}
            assert found is not None
            cases = [each for each in way.endpoints() if each.key == key and each.case is not None]
            if any(getattr(each, name) != getattr(found, name) for name in said for each in cases):
                help = (f"say it of each case: `{{change: {key}.cases.{cases[0].called}, …}}`",)
                way.refuse(change, f"what a case of `{key}` was is not said by what all of them were", help)
                return
            way.with_endpoints(_with(each, said) if each.key == key else each for each in way.endpoints())
        case "remove":
            way.with_endpoints(each for each in way.endpoints() if each.key != key)
            _called(way, key, None)
        case _:
            assert found is not None
            _rename(way, change, found)


def change_case(way: Way, change: Change) -> None:
    """`POST /payments.cases.card`: what one case was, in the keys that a case may have."""
    named = OF_CASE.fullmatch(change.subject.text)
    assert named is not None
    key, name = named.groups()
    cases = {each.case.called: each for each in way.endpoints() if each.key == key and each.case is not None}
    if name not in cases:
        way.not_there(change, "a case", [f"{key}.cases.{each}" for each in cases])
        return
    if change.verb != "change":
        way.refuse(change, "a case is changed, and nothing else: every version has the same cases")
        return
    if not way.only(change, (), "a case"):
        return
    if change.endpoint is None:
        way.refuse(change, f"how `{key}` was different in that case is not said")
        return
    said = {each: value for each in _OF_ENDPOINT if (value := getattr(change.endpoint, each)) is not None}
    for each in members(Endpoint):
        if each.attribute in said and each.attribute in BEFORE_THE_CASE:
            way.refuse(change, f"`{each.name}` holds before the case is known: it is of the whole endpoint")
            return
    changed = _with(cases[name], said)
    way.with_endpoints(changed if each is cases[name] else each for each in way.endpoints())


def _with(endpoint: Endpoint, said: dict[str, object]) -> Endpoint:
    """An endpoint of which some keys were different."""
    if "does" in said:
        said = {"call": None, **said}
    changed = replace(endpoint, **said)  # type: ignore[arg-type]
    return replace(changed, segments=with_values(changed.segments, changed.path))


def _add(way: Way, change: Change) -> None:
    key = change.subject.text
    if change.endpoint is None:
        way.refuse(change, f"what `{key}` was is not said", ("write it beside: `was: {does: …}`",))
        return
    if _is_taken(way, change.subject, change.endpoint.method, change.endpoint.segments, None):
        return
    way.with_endpoints((*way.endpoints(), change.endpoint))
    _permit(way, change.subject)


def with_lines(contract: Contract) -> Contract:
    """A contract with those lines of part 5 that name endpoints of its own: others name some of older versions."""
    part, known = contract.authentication, contract.endpoints_by_key

    def line(permission: Permission) -> Permission | None:
        return permission if permission.endpoint.text in (*known, ALL_OTHERS) else None

    return replace(contract, authentication=replace(part, permissions=each_in(part.permissions, line)))


def _permit(way: Way, added: Name) -> None:
    """Who may call an endpoint that there was: the line of part 5 that names it says it, and `all others` does of none
    that only older versions have."""
    key, part = added.text, way.contract.authentication
    line = way.newest.permissions_by_endpoint.get(key)
    if key in way.keys:
        said = line or way.newest.permissions_by_endpoint.get(ALL_OTHERS)
        message = f"whoever may call `{key}` of a newer version may call that of the version `{way.version.name}` too"
        beside = () if said is None else (Label(said.endpoint.span, "of both"),)
        way.say(NEWER_LINE, message, Label(added.span, "another endpoint"), *beside)
    way.keys.add(key)
    if line is None and key in way.newest.endpoints_by_key:
        return
    own = line or Permission(added, None)
    permissions = in_fact(part.permissions, lambda lines: (*lines, own))
    way.contract = replace(way.contract, authentication=replace(part, permissions=permissions))


def _rename(way: Way, change: Change, found: Endpoint) -> None:
    if change.to is None or change.route is None:
        return
    method, segments = change.route.method, change.route.segments
    if _is_taken(way, change.to, method, segments, found):
        return
    key = change.to.text

    def moved(each: Endpoint) -> Endpoint:
        own = with_values(segments, each.path)
        return replace(each, key=key, method=method, segments=own) if each.key == found.key else each

    way.with_endpoints(map(moved, way.endpoints()))
    way.moved[key] = way.moved.pop(found.key, found.key)
    _called(way, found.key, key)


def _is_taken(way: Way, at: Name, method: str, segments: tuple[Segment, ...], but: Endpoint | None) -> bool:
    """Whether another endpoint has the same method, and a path of the same form."""
    for each in way.endpoints():
        if (but is None or each.key != but.key) and (each.method, _form(each.segments)) == (method, _form(segments)):
            way.taken(at.text, at.span, "an endpoint for", each.span)
            return True
    return False


def _form(segments: tuple[Segment, ...]) -> tuple[str, ...]:
    return tuple(map(shape_of, segments))


def _called(way: Way, key: str, to: str | None) -> None:
    """What names an endpoint, with its older key; without it, where there is none."""

    def named(name: Name) -> tuple[Name, ...]:
        if name.text != key:
            return (name,)
        return () if to is None else (replace(name, text=to),)

    def line(permission: Permission) -> Permission | None:
        return next((replace(permission, endpoint=name) for name in named(permission.endpoint)), None)

    authentication = way.contract.authentication
    authentication = replace(authentication, permissions=each_in(authentication.permissions, line))
    contract = replace(way.contract, authentication=authentication)
    way.contract = replace(contract, **{name: renamed(part, "an endpoint", named) for name, part in contract.parts})


# ── What belongs to an endpoint ───────────────────────────────────────────────────────────────────────────────


def change_parameter(way: Way, change: Change) -> None:
    """`GET /orders.query.status`, `GET /orders.request headers.Prefer`."""
    named = OF_ENDPOINT.fullmatch(change.subject.text)
    assert named is not None
    key, kind, name = named.groups()
    endpoint = next((each for each in way.endpoints() if each.key == key), None)
    if endpoint is None:
        way.not_there(change, "part of an endpoint", [each.key for each in way.endpoints()])
        return
    fact = endpoint.query if kind == "query" else endpoint.request_headers
    there = {each.name: each for each in value_of(fact) or ()}
    if change.verb != "add" and name not in there:
        way.not_there(change, f"one of the {kind}", [f"{key}.{kind}.{each}" for each in there])
        return
    if change.verb not in ("rename", "remove"):
        help = (f"say what the endpoint was: `{{change: {key}, was: {{{kind}: {{…}}}}}}`",)
        way.refuse(change, f"`{change.verb}` is of the whole endpoint", help)
        return
    if not way.only(change, (), "a parameter"):
        return
    to = change.to
    if change.verb == "rename":
        if to is None:
            return
        if to.text in there:
            way.taken(to.text, to.span, "a parameter", there[to.text].span)
            return

    def parameter(each: Parameter) -> Parameter | None:
        if each.name != name:
            return each
        return None if to is None else each.renamed(to.text)

    query, headers = endpoint.query, endpoint.request_headers
    if kind == "query":
        query = each_in(query, parameter)
    else:
        headers = each_in(headers, parameter)
    changed = [
        replace(each, query=query, request_headers=headers) if each.key == key else each for each in way.endpoints()
    ]
    way.with_endpoints(changed)


# ── Kinds of event, and error codes ───────────────────────────────────────────────────────────────────────────

_OF_CODE = tuple(each.attribute for each in members(ErrorCode))

T = TypeVar("T", bound=EventKind | ErrorCode)


def change_kind(way: Way, change: Change) -> None:
    kinds = value_of(way.contract.events.kinds) or ()

    def renamed(kind: EventKind, name: str) -> EventKind:
        return replace(kind, name=name, origin=kind.origin or kind.name)

    def differing(kind: EventKind, said: EventKind) -> EventKind | None:
        if said.upon is None and said.where is None:
            return replace(kind, payload=said.payload or kind.payload)
        help = ("an event arises once, for all versions: say its `payload` alone",)
        way.refuse(change, f"what `{kind.name}` arises upon is the same in every version", help)
        return None

    words = ("a kind of event", "write it beside: `was: {payload: …}`")
    changed = _changed(way, change, words, kinds, lambda each: each.name, change.kind, renamed, differing)
    if changed is not None:
        events = replace(way.contract.events, kinds=holding(way.contract.events.kinds, changed))
        way.contract = replace(way.contract, events=events)


def change_code(way: Way, change: Change) -> None:
    codes = value_of(way.contract.errors.codes) or ()

    def renamed(code: ErrorCode, name: str) -> ErrorCode:
        return replace(code, called=name)

    def differing(code: ErrorCode, said: ErrorCode) -> ErrorCode:
        return replace(code, **{key: value for key in _OF_CODE if (value := getattr(said, key)) is not None})

    words = ("an error code", "write it beside: `was: {status: …}`")
    changed = _changed(way, change, words, codes, lambda each: each.known_as, change.code, renamed, differing)
    if changed is None:
        return
    if change.verb == "remove":
        _without(way, next(each.name for each in codes if each not in changed))
    errors = replace(way.contract.errors, codes=holding(way.contract.errors.codes, changed))
    way.contract = replace(way.contract, errors=errors)


def _changed(
    way: Way,
    change: Change,
    words: tuple[str, str],
    above: tuple[T, ...],
    called: Callable[[T], str],
    said: T | None,
    renamed: Callable[[T, str], T],
    differing: Callable[[T, T], T | None],
) -> tuple[T, ...] | None:
    """What there was in the place of those that the version above has; None if the change is not one of them. `words`:
    what one is, and how it is written what one was."""
    what, advice = words
    name = change.subject.text
    found = next((each for each in above if called(each) == name), None)
    if found is None and change.verb != "add":
        way.not_there(change, what, map(called, above))
        return None
    if not way.only(change, (), what):
        return None
    older: T | None
    match change.verb:
        case "remove":
            return tuple(each for each in above if each is not found)
        case "add" if found is not None:
            way.taken(name, change.subject.span, what, found.span)
            return None
        case "rename":
            if change.to is None or found is None:
                return None
            other = next((each for each in above if called(each) == change.to.text), None)
            if other is not None:
                way.taken(change.to.text, change.to.span, what, other.span)
                return None
            older = renamed(found, change.to.text)
        case _ if said is None:
            way.refuse(change, f"what `{name}` was is not said", (advice,))
            return None
        case _:
            older = said if found is None else differing(found, said)
    if older is None:
        return None
    return (*above, older) if found is None else tuple(older if each is found else each for each in above)


def _without(way: Way, code: str) -> None:
    """What ends in a code that is not there ends in that of its condition."""
    contract = way.contract
    way.contract = replace(
        contract,
        resources=_dropped(contract.resources, code),
        states=_dropped(contract.states, code),
        endpoints=_dropped(contract.endpoints, code),
    )


def _dropped(facts: Any, code: str) -> Any:
    """Facts without the code: every `else`, and each line of `errors`."""
    if isinstance(facts, tuple):
        if len(facts) == 2 and isinstance(facts[0], Name) and isinstance(facts[1], Name):
            return None if facts[1].text == code else facts
        return tuple(each for item in facts if (each := _dropped(item, code)) is not None)
    if not is_dataclass(facts) or isinstance(facts, Expression | Schema | Mapping | Scalar | Sequence | Name):
        return facts
    changed = {}
    for field in fields(facts):
        value = getattr(facts, field.name)
        if isinstance(facts, Check) and isinstance(value, Name):
            changed[field.name] = None if value.text == code else value
        else:
            changed[field.name] = _dropped(value, code)
    return replace(facts, **changed)


# ── Views ─────────────────────────────────────────────────────────────────────────────────────────────────────


def change_view(way: Way, change: Change, resource: Resource, name: str) -> None:
    views = value_of(resource.views) or ()
    found = next((each for each in views if each.name == name), None)
    if change.verb != "add" and found is None:
        way.not_there(change, f"a view of `{resource.name}`", [f"{resource.name}.views.{each.name}" for each in views])
        return
    if not way.only(change, (), "a view"):
        return
    if change.verb not in ("add", "change"):
        way.refuse(change, f"no caller sees that a view is called `{name}`", ("say what it showed: `was: …`",))
        return
    if change.verb == "add" and found is not None:
        way.taken(name, change.subject.span, f"a view of `{resource.name}` called", found.span)
        return
    if change.view is None:
        way.refuse(change, f"what `{change.subject.text}` showed is not said", ("write it beside: `was: …`",))
        return
    older = replace(change.view, name=name)
    kept = tuple(older if each is found else each for each in views) + (() if found is not None else (older,))

    def one(each: Resource) -> Resource:
        if each.name != resource.name:
            return each
        return replace(each, views=Shown(kept, older.span))

    way.with_resources(one)
