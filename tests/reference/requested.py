"""What a request says, part by part: the values of its path, what it accepts, its parameters, its page, the case that
it is of, and its body. What is wrong with it goes to the failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.reference import (
    bodies,
    cases,
    chosen,
    credentials,
    idempotency,
    lists,
    media_types,
    patches,
    writes,
)
from tests.reference.asking import Asking
from tests.reference.failures import Broken as Refused
from tests.reference.failures import Failure, invalid
from tests.reference.lists import Page
from tests.reference.operations import pages_of
from tests.reference.values import Broken, alike, broken_rules, from_text, parsed, read

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.operations import Ensure, PathName, PathValue
from ninefold.checked.resources import Resource
from ninefold.language.verbs import GRANT
from ninefold.values import Array


def split(text: str) -> list[str]:
    return text.split(",")


def split_header(text: str) -> list[str]:
    """RFC 9110 5.6.1: white space may stand around the items."""
    return [each.strip(" \t") for each in text.split(",")]


def path_values(asking: Asking, texts: list[str]) -> dict[str, Any] | None:
    """Meaning "paths": what is not of the field's type is missing. None: then no row is addressed."""
    assert asking.endpoint is not None
    values: dict[str, Any] = {}
    for name, text in zip(_in_braces(asking), texts, strict=True):
        if isinstance(name, PathValue):
            continue
        try:
            field = asking.checked.resources[name.resource].fields[name.field]
            values[name.text] = bodies.of_text(text, name.type, field)
            put = asking.endpoint.operation
            if isinstance(put, Ensure) and "created" in put.outcomes and not name.through:
                broken = (rule for _, rule in broken_rules(field.schema, values[name.text], ()))
                misfits = [invalid("path", name.text, rule) for rule in broken]
                asking.failures += misfits
                asking.path_fits = asking.path_fits and not misfits
        except Broken:
            asking.failures.append(Failure("not found", name.resource))
    return values if len(values) == len({name.text for name in asking.endpoint.names}) else None


def _in_braces(asking: Asking) -> list[PathName | PathValue]:
    assert asking.endpoint is not None
    return [each for each in asking.endpoint.segments if not isinstance(each, str)]


def in_path(asking: Asking, texts: list[str]) -> None:
    """Meaning "values in paths": what is no such value is `not found`, of the resource and of the value."""
    assert asking.endpoint is not None
    declared = {each.name: each for each in asking.endpoint.takes.path}
    for name, text in zip(_in_braces(asking), texts, strict=True):
        if isinstance(name, PathValue) and name.text in declared:
            for _ in _declared(asking, declared[name.text], [text], asking.names["request"]["path"]):
                asking.misread = True
                asking.failures += [Failure("not found", each) for each in (name.resource, f"path.{name.text}")]


def case(asking: Asking, every: Sequence[Endpoint], admission: Admission | None, is_well: bool) -> Endpoint | None:
    """The case that the request is of; None: nobody knows, or of none, and what is wrong with that is said.
    `is_well`: its parameters are as they are declared."""
    first = every[0].case
    reading = next((each for each in every if each.takes.body is not None), None)
    if first is not None and first.member is None:
        if admission is None or not is_well:
            asking.failures += [] if reading is None else _unreadable(asking, reading)
            return None
        found = cases.by_request(every, asking.all())
        if found is None:
            asking.failures.append(Failure("forbidden", cases.whole(every).resource))
        return found
    if reading is None or (wrong := _unreadable(asking, reading)):
        asking.failures += [] if reading is None else wrong
        return None
    chosen_ = cases.by_body(every, bodies.came(asking.request, reading, asking.checked))
    if isinstance(chosen_, Failure):
        asking.failures.append(chosen_)
        return None
    return chosen_


def _unreadable(asking: Asking, endpoint: Endpoint) -> list[Failure]:
    """What is wrong with a body as a whole."""
    document = bodies.document_of(asking.request, endpoint, asking.checked)
    refused = isinstance(document, list) and bool(document) and isinstance(document[0], Failure)
    return document if refused else []


def accept(asking: Asking, every: Sequence[Endpoint]) -> None:
    """Whether the client takes what is written here."""
    produces = "text/event-stream" if every[0].verb == "stream event" else asking.of.produces
    ways = (one for each in every for one in (each.response, *each.operation.ends_well))
    if every[0].verb != "stream event" and all(one.content is None for one in ways):
        return
    if produces is not None and not media_types.is_accepted(asking.request.headers.get("accept", "*/*"), produces):
        asking.failures.append(Failure("not acceptable"))


def parameters(asking: Asking, every: Sequence[Endpoint]) -> None:
    endpoint = every[0]
    known = {each.name for each in endpoint.takes.query}.union(*map(lists.names, every))
    known |= {"last-event-id"} if endpoint.verb == "stream event" else set()
    known |= {scheme.parameter for scheme in asking.checked.schemes if scheme.where == "query"}
    known |= set() if asking.of.version_parameter is None else {asking.of.version_parameter}
    if asking.checked.requests_of(endpoint).said.get("unknown parameters") != "ignored":
        asking.failures += [invalid("query", name, "unknown") for name in asking.query if name not in known]
    for place, declared in (("query", endpoint.takes.query), ("headers", endpoint.takes.headers)):
        for each in declared:
            header = asking.request.headers.get(each.name.lower())
            texts = asking.query.get(each.name) if place == "query" else None if header is None else [header]
            where = "query" if place == "query" else "header"
            items = split if place == "query" else split_header
            for path, rule in _declared(asking, each, texts, asking.names["request"][place], items):
                asking.misread = True
                asking.failures.append(invalid(where, each.name, rule, path, declared=True))
    asking.failures += [invalid("header", "Idempotency-Key", rule) for rule in idempotency.broken_key(asking, endpoint)]


def page(asking: Asking, endpoint: Endpoint) -> Page:
    given = asking.names["request"]["query"]
    asking.chosen = chosen.asked(endpoint, given)
    return lists.asked(endpoint, asking.query, given, asking.failures)


def _declared(
    asking: Asking,
    each: Any,
    texts: list[str] | None,
    values: dict[str, Any],
    items: Callable[[str], list[str]] = split,
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if texts is None:
        if each.default:
            values[each.name] = read(each.type, each.default[0])
        elif each.required:
            yield (), "required"
        return
    is_list = isinstance(each.type, Array) and not each.is_json
    if len(texts) > 1 and not (is_list and each.explode):
        yield (), "repeated"
        return
    unread: list[tuple[tuple[str | int, ...], str]] = []
    try:
        if each.is_json:
            value: Any = parsed(texts[0].encode("utf-8", "surrogateescape"))
        elif is_list:
            value = []
            for index, text in enumerate(texts if each.explode else items(texts[0])):
                try:
                    value.append(from_text(each.type.items, text))
                except Broken as broken:
                    value.append(text.encode("utf-8", "backslashreplace").decode())
                    unread.append(((index,), broken.rule))
        else:
            value = from_text(each.type, texts[0])
    except Broken as broken:
        yield (), broken.rule
        return
    except ValueError:
        yield (), "type"
        return
    found = list(broken_rules(each.schema, value))
    if ((), "maxItems") in found:  # what is too large is not looked into
        yield from found
        return
    places = {path for path, _ in unread}
    found = [(path, rule) for path, rule in found if path[:1] not in places]
    if each.is_json and not found:
        try:
            value = read(each.type, value)
        except Broken as broken:
            found = [(broken.path, broken.rule)]
    if not unread and not (each.is_json and found):
        values[each.name] = value
    yield from sorted([*unread, *found], key=lambda one: one[0][:1]) if unread else found


def cursor(asking: Asking, endpoint: Endpoint, page: Page) -> None:
    pages = pages_of(endpoint)
    if page.cursor is not None and pages is not None:
        stands_for = asking.of.cursors.get(page.cursor)
        assert endpoint.resource is not None
        order = lists.whole_order(page.order, asking.checked.resources[endpoint.resource].primary_key)
        if stands_for is None or stands_for[:4] != (endpoint.key, endpoint.called, asking.caller.who, order):
            asking.failures.append(invalid("query", pages.at or "", "format"))
        else:
            page.after = stands_for[4]


def body(asking: Asking, endpoint: Endpoint, work: writes.Work) -> bodies.Given:
    """What the body gives. Objects are merged into the row only for whoever may change it."""
    takes = endpoint.takes
    if not takes.members and takes.whole is None if endpoint.resource is None else takes.body is None:
        return bodies.Given()
    if bodies.is_none(endpoint) and asking.checked.requests_of(endpoint).unknown_members == "ignored":
        return bodies.Given()
    document = bodies.document_of(asking.request, endpoint, asking.checked)
    if isinstance(document, list) and document and isinstance(document[0], Failure):
        asking.failures += document
        return bodies.Given(readable=False)
    resource = None if endpoint.resource is None else asking.checked.resources[endpoint.resource]
    if endpoint.verb == GRANT and resource is not None:
        document = credentials.with_client(asking.request, document)
        if isinstance(document, list) and document and isinstance(document[0], Failure):
            asking.failures += document
            return bodies.Given(readable=False)
        of_grant = credentials.given(document, endpoint, resource, asking.checked.requests_of(endpoint).unknown_members)
        asking.failures += of_grant.failures
        asking.asked_for = document
        return of_grant
    by_form, cleared = bodies.is_form(asking.request, endpoint, asking.checked), set[str]()
    if bodies.edits(endpoint):
        assert resource is not None
        edited = _edited(asking, endpoint, resource, document, work.mergeable)
        if edited is None:
            return bodies.Given(failures=asking.failures[-1:])
        document, cleared = edited
    whole = bodies.ABSENT if asking.edited is None else asking.edited.value
    given = bodies.given(
        document, endpoint, resource, asking.checked, work.mergeable, by_form, asking.of.becomes, cleared, whole
    )
    asking.failures += given.failures
    asking.names["request"]["body"] = given.others
    return given


def _edited(
    asking: Asking, endpoint: Endpoint, resource: Resource, patch: Any, was: Mapping[str, Any] | None
) -> tuple[Any, set[str]] | None:
    """Meaning "JSON patches": the fields that a patch changes, as a body would give them, and those that it leaves
    without a value. None: what keeps it from being done is said."""
    if broken := [Refused("body", path, rule) for path, rule in patches.no_patch(patch)]:
        asking.failures.append(Failure("invalid", resource.name, fields=tuple(broken)))
        return None
    if was is None:
        return {}, set()
    leaves = endpoint.takes.body or ()
    before = patches.before(leaves, resource.fields, was)
    edited = patches.done(before, patch, resource.name)
    if isinstance(edited, Failure):
        asking.failures.append(edited)
        return None
    asking.edited, after, cleared = edited, edited.value, set[str]()
    for leaf in leaves:
        around, last = bodies.at(after, leaf.pointer[:-1]), leaf.pointer[-1]
        old = bodies.at(before, leaf.pointer)
        if not isinstance(around, dict) or old is bodies.ABSENT:
            continue
        if last not in around and old is not None:
            cleared.add(leaf.field)
        elif last in around and alike(old, around[last]):
            del around[last]
    return bodies.texts_read(after, endpoint, asking.checked), cleared
