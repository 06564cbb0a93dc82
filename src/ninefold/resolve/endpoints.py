"""Part 4: endpoints."""

from __future__ import annotations

import re

from ninefold.contract.endpoints import Body, CrossOrigin, Endpoint, Endpoints, with_values
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import leaves, shapes
from ninefold.language.actions import apart, deeds
from ninefold.language.check import GUARDS, Check
from ninefold.language.codes import CONTRADICTION, NOT_IN_FORM, WITHOUT_GUARD, WRONG_SHAPE
from ninefold.language.declaration import One
from ninefold.language.endpoints import Expansion, Projection, Requests, Sorts, read_filters, read_functions
from ninefold.language.errors import Shape, condition_name
from ninefold.language.expressions import assignments, expression, header_values, template
from ninefold.language.fact import Fact, Gap, Name, Proposal, Shown, StatedNone
from ninefold.language.json_schema import TYPES
from ninefold.language.limits import Pages
from ninefold.language.quantities import duration
from ninefold.language.reading import Level, Reading, Slot, collected, quoted, spoken
from ninefold.language.records import of_records
from ninefold.language.schemas import BODY_OF_A_RESOURCE, type_reference
from ninefold.resolve import cases, responses, routes
from ninefold.resolve.effects import effects
from ninefold.resolve.parameters import header_parameters, parameters, path_parameters
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Scalar, Sequence, Style


def endpoints(r: Reading, part: Part) -> Endpoints:
    said = spoken(part)
    if said is not None:
        return Endpoints(None, None, None, None, said)
    level = r.level(part.facts, 4, "", "")
    named = tuple(entry for entry in level.named if routes.is_meant(r, entry.key))
    written = [(entry, found) for entry in named if (found := routes.route(r, entry.key)) is not None]
    routes.distinct(r, [(entry.key, found) for entry, found in written])
    by_key = {entry.name: found for entry, found in written}
    return Endpoints(
        base=level.fact("base", leaves.path),
        requests=level.fact("requests", of_records(One(Requests))),
        response_media_type=response_media_type(r, level),
        cross_origin=level.fact("cross origin", cross_origin),
        functions=level.fact("calls", read_functions),
        endpoints=each_case(
            collected(r, named, part.facts.span, lambda entry: in_cases(r, entry, by_key.get(entry.name)))
        ),
    )


def response_media_type(r: Reading, level: Level) -> Fact[Name] | None:
    """`responses: {media type: …}`, whose one fact it is."""
    entry = level.known.get("responses")
    if entry is None:
        return None
    if isinstance(entry.value, Scalar) and (entry.value.says("none") or entry.value.says("not shown")):
        return level.fact("responses", leaves.media_type)
    below = r.level(entry.value, 4, "responses", "responses")
    with r.proposing(entry.proposed or entry.value.proposed):
        return below.fact("media type", leaves.media_type)


_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::[0-9]{1,5})?")
"""An origin as browsers write it: scheme, host and port, in lower case and without a path (RFC 6454 6.2)."""


def cross_origin(r: Reading, node: Node, slot: Slot) -> CrossOrigin | None:
    level = r.level(node, 4, "cross origin", "cross origin")
    origins = level.known.get("origins")
    is_list = origins is None or isinstance(origins.value, Sequence)
    any_ = not is_list and level.inner("origins", leaves.word) is not None
    named = level.inner("origins", leaves.names) or () if is_list else ()
    for each in named:
        _check_origin(r, each)
    found = CrossOrigin(
        origins=None if any_ else named,
        headers=level.inner("headers", leaves.headers) or (),
        exposed=level.inner("exposed", leaves.headers) or (),
        credentials=level.inner("credentials", leaves.boolean) or False,
        kept=level.inner("kept", duration),
    )
    return found if isinstance(node, Mapping) else None


def _check_origin(r: Reading, written: Name) -> None:
    if _ORIGIN.fullmatch(written.text):
        return
    meant = re.match(r"[a-z][a-z0-9+.-]*://[^/?#\s]+", written.text.lower())
    r.say(
        NOT_IN_FORM,
        f"{quoted(written.text)} is not an origin",
        Label(written.span),
        help=("write `origins: any`",)
        if written.text == "*"
        else (f"write `{meant[0]}`" if meant else "an origin is a scheme and a host: `https://shop.example`",),
    )


def endpoint(r: Reading, entry: Entry, route: routes.Route | None) -> Endpoint:
    """An endpoint. Where its key cannot be read it has no segments; its facts are read all the same."""
    return _endpoint(r, r.level(entry.value, 4, "ENDPOINT", entry.name), entry, route)


def in_cases(r: Reading, entry: Entry, route: routes.Route | None) -> tuple[Endpoint, ...]:
    """The same, once for each of its cases."""
    level = r.level(entry.value, 4, "ENDPOINT", entry.name)
    return cases.in_cases(r, level, _endpoint(r, level, entry, route), _in_a_case)


def _in_a_case(r: Reading, level: Level) -> dict[str, object]:
    """What a case states, in the place of what its endpoint states."""
    return {
        "body": level.fact("body", body),
        "sets": level.fact("sets", assignments),
        "guards": guards(r, level),
        "responses": level.fact("responses", responses.responses),
        "headers": level.fact("headers", header_values),
        "then": level.fact("then", effects(4, "ENDPOINT.cases.CASE.then")),
    }


def each_case(fact: Fact[tuple[tuple[Endpoint, ...], ...]] | None) -> Fact[tuple[Endpoint, ...]] | None:
    def flat(several: tuple[tuple[Endpoint, ...], ...]) -> tuple[Endpoint, ...]:
        return tuple(each for one in several for each in one)

    match fact:
        case Shown():
            return Shown(flat(fact.value), fact.span, fact.proposed)
        case Proposal(candidate=Shown() as shown):
            return Proposal(Shown(flat(shown.value), shown.span, shown.proposed), fact.span)
        case Proposal(candidate=StatedNone() as none):
            return Proposal(none, fact.span)
        case None | StatedNone() | Gap():
            return fact
        case Proposal(span=span):
            return Gap(span)


def _endpoint(r: Reading, level: Level, entry: Entry, route: routes.Route | None) -> Endpoint:
    path = level.fact("path", path_parameters)
    call, does = apart(r, level.fact("does", deeds(entry.name, level.known), main=True))
    return Endpoint(
        key=entry.name,
        method=route.method if route is not None else "",
        segments=with_values(route.segments, path) if route is not None else (),
        span=entry.key.span,
        does=does,
        call=call,
        called_with=level.fact("with", assignments),
        row=level.fact("row", expression),
        body=level.fact("body", body),
        query=level.fact("query", parameters),
        request_headers=level.fact("request headers", header_parameters),
        filters=level.fact("filters", read_filters),
        where=level.fact("where", expression),
        sorts=level.fact("sorts", of_records(One(Sorts))),
        pages=level.fact("pages", of_records(One(Pages))),
        sets=level.fact("sets", assignments),
        guards=guards(r, level),
        patch=level.fact("patch", leaves.word),
        validators=level.fact("validators", leaves.word),
        idempotency_key=level.fact("idempotency key", leaves.word),
        issues=level.fact("issues", leaves.name),
        ends=level.fact("ends", leaves.word),
        requests=level.fact("requests", of_records(One(Requests))),
        error_shape=level.fact("error shape", of_records(One(Shape))),
        errors=level.fact("errors", errors),
        responses=level.fact("responses", responses.responses),
        headers=level.fact("headers", header_values),
        then=level.fact("then", effects(4, "ENDPOINT.then")),
        projection=level.fact("projection", of_records(One(Projection))),
        expand=level.fact("expand", of_records(One(Expansion))),
        path=path,
    )


def body(r: Reading, node: Node, slot: Slot) -> Body | None:
    if isinstance(node, Mapping) and len(node.entries) == 1 and node.entries[0].name == "$ref":
        reference = type_reference(r, node.entries[0].value, BODY_OF_A_RESOURCE)
        return None if reference is None else Body(None, reference, node.span)
    if isinstance(node, Mapping) and _is_schema(node):
        help = ("a body lists fields: `[NAME, …]`; what they are, and which are required, part 2 says",)
        r.say(WRONG_SHAPE, "`body` is a schema, not what a body gives", Label(node.span), help=help)
        return None
    if isinstance(node, Scalar):
        field = node.text.rpartition(".")[2]
        said = f"list its fields: `[{field}]`" if field.isidentifier() else "list its fields, or name its members"
        r.wrong_shape(node, slot, help=(f"a body is an object; {said}",))
        return None
    found = template(r, node, slot)
    return None if found is None else Body(found, None, node.span)


def _says_type(node: Node) -> bool:
    said = node.get("type") if isinstance(node, Mapping) else None
    return (
        said is not None
        and isinstance(said.value, Scalar)
        and said.value.style is Style.PLAIN
        and said.value.text in TYPES
    )


def _is_schema(node: Mapping) -> bool:
    """Whether a body is told as JSON Schema would: `type: object`, `properties` or members of schemas, `required` of
    what stands beside it."""
    type_, properties, required = (node.get(name) for name in ("type", "properties", "required"))
    if type_ is not None and isinstance(type_.value, Scalar) and type_.value.says("object"):
        return True
    if properties is not None and isinstance(properties.value, Mapping):
        inner = [each.value for each in properties.value.entries if isinstance(each.value, Mapping)]
        return any(each.get("type") or each.get("$ref") for each in inner)
    if any(_says_type(each.value) for each in node.entries):
        return True
    if required is None or not isinstance(required.value, Sequence):
        return False
    beside = {each.name for each in node.entries}
    return all(isinstance(each, Scalar) and each.text in beside for each in required.value.items)


def errors(r: Reading, node: Node, slot: Slot) -> tuple[tuple[Name, Name], ...] | None:
    """Conditions, each with the code that it has on this endpoint."""
    entries = r.entries(node, slot)
    if entries is None or not isinstance(node, Mapping):
        return None
    (key,) = r.keys_under(4, "ENDPOINT.errors")
    for entry in node.entries:
        r.is_no_answer(key, entry.value)
    found = []
    for entry in entries:
        condition = condition_name(r, entry.key, "errors")
        code = leaves.name(r, entry.value, Slot(entry.name, shapes.Name("an error code")))
        if condition is not None and code is not None:
            found.append((Name(entry.name, entry.key.span), code))
    return tuple(found)


def guards(r: Reading, level: Level) -> Fact[tuple[Check, ...]] | None:
    """`when` and `otherwise` are one guard; `guards` lists several."""
    when, otherwise, several = (level.known.get(name) for name in ("when", "otherwise", "guards"))
    if several is not None and (beside := when or otherwise) is not None:
        r.say(
            CONTRADICTION,
            f"`{beside.name}` stands beside `guards`",
            Label(beside.key.span),
            Label(several.key.span, "several guards"),
            help=("write it as one of the `guards`",),
        )
    if several is not None:
        return level.fact("guards", of_records(GUARDS))
    if when is None:
        if otherwise is not None:
            r.say(
                WITHOUT_GUARD,
                "`otherwise` stands without `when`",
                Label(otherwise.key.span, "no request ends so"),
                help=("write the guard: `when: …`",),
            )
        return None

    def one(r: Reading, node: Node, slot: Slot) -> tuple[Check, ...] | None:
        condition = expression(r, node, slot)
        code = level.inner("otherwise", leaves.name)
        return None if condition is None else (Check(node.span, condition, code),)

    return level.fact("when", one)
