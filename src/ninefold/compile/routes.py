"""Part 4: routes, bodies and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ninefold.checked import endpoints as checked_endpoints
from ninefold.checked import operations as checked_operations
from ninefold.checked.contents import Response
from ninefold.checked.endpoints import Argument, Endpoint, Stopped
from ninefold.checked.operations import Delete, Ensure, Mutation, PathName, PathValue, Update
from ninefold.checked.operations import Parameter as CheckedParameter
from ninefold.checked.said import Saying
from ninefold.checked.service import Checked, Places
from ninefold.compile import endpoints
from ninefold.compile.bodies import body
from ninefold.compile.cases import chosen, common, read_first
from ninefold.compile.effects import with_effects, with_further
from ninefold.compile.endpoints.held import left_out, may_be_unmade, of_request, says_no_more_than, way_of
from ninefold.compile.errors import error_shape
from ninefold.compile.granting import challenge
from ninefold.compile.perspective import Perspective
from ninefold.compile.sweep import sweep
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Constant, Typed, parts
from ninefold.language import endpoints as language
from ninefold.language import requests
from ninefold.language.authentication import ANYONE
from ninefold.language.conditions import CONDITIONS, subject_of
from ninefold.language.declaration import headers, members
from ninefold.plan import calls as plan
from ninefold.plan.events import SERVER_SENT_EVENTS
from ninefold.plan.held import Held, Origin
from ninefold.plan.operations import Operation
from ninefold.plan.problems import location
from ninefold.plan.responses import Carried
from ninefold.plan.routes import (
    Admission,
    Blocked,
    Case,
    Cors,
    Parameter,
    PathParameter,
    Requests,
    Rule,
    Segment,
    Served,
)
from ninefold.sql.dialect import Dialect
from ninefold.values import Text

EVENT_STREAM = "text/event-stream"
"""WHATWG HTML 9.2."""


def served(cases: Sequence[Endpoint], checked: Checked, dialect: Dialect) -> Served:
    """One operation for each kind of caller that can be told in this build, in each of the endpoint's cases."""
    endpoint = common(cases)
    several = () if endpoint.case is None else cases
    responses = [each for case in cases for each in case.operation.ends_well]
    return Served(
        key=endpoint.key,
        method=endpoint.method,
        segments=_segments(endpoint.segments, checked),
        admissions=tuple(
            each
            for number, case in enumerate((endpoint, *several))
            for each in _admissions(case, number, checked, dialect)
        ),
        schemes=tuple(admission.who for admission in endpoint.admissions if admission.who != ANYONE),
        body=read_first(cases, checked) if several else body(endpoint, checked),
        cases=chosen(several, [_case(each, endpoint, checked) for each in several], checked) if several else None,
        stored=tuple(_stored(endpoint, checked)),
        path=tuple(_parameter(each, endpoint, "path", checked) for each in endpoint.takes.path),
        offers=_offers(endpoint, responses, checked),
        query=tuple(_parameter(each, endpoint, "query", checked) for each in endpoint.takes.query),
        headers=tuple(_parameter(each, endpoint, "request headers", checked) for each in endpoint.takes.headers),
        requests=Requests(said=dict(checked.requests_of(endpoint).said)),
        said=dict(endpoint.said),
        challenge=challenge(endpoint, checked),
        error_shape=None if endpoint.error_shape is None else error_shape(endpoint.error_shape),
        carries=carried(language.Endpoint, endpoint, endpoint.place, checked.places, ("endpoints", endpoint.key)),
        errors=dict(endpoint.errors),
        places=_places(endpoint, [key for case in cases for key in case.said], checked),
        trace=(endpoint.place,),
    )


def _case(case: Endpoint, endpoint: Endpoint, checked: Checked) -> Case:
    """A case, and what of it is not as in the endpoint."""
    assert case.case is not None
    segments, stored = _segments(case.segments, checked), tuple(_stored(case, checked))
    errors = dict(case.errors)
    own = ("endpoints", case.key, "cases", case.case.called), ("endpoints", case.key)
    return Case(
        name=case.case.name,
        body=body(case, checked),
        trace=(case.case.place,),
        segments=None if segments == _segments(endpoint.segments, checked) else segments,
        stored=None if stored == tuple(_stored(endpoint, checked)) else stored,
        errors=None if errors == dict(endpoint.errors) else errors,
        said=None if case.said == endpoint.said else dict(case.said),
        carries=carried(language.Endpoint, case, case.case.place, checked.places, *own),
        places=_of_case(case, case.case.called, checked.places),
    )


def carried(record: type, of: Saying, place: Place, places: Places, *at: tuple[str, ...]) -> tuple[Carried, ...]:
    """What every response carries of that of which a record says this, which stands at a place. `at`: where its keys
    may stand, the narrower first; those of an endpoint that an older version calls otherwise do not."""
    found = []
    for key, header in headers(record, of.said).items():
        trace = next((own for path in at if (own := places.at(*path, key))), (place,))
        found.append(Carried(header.name, (header.text(of.said[key]),), header.defined, trace=trace))
    return tuple(found)


def _offers(endpoint: Endpoint, responses: Sequence[Response], checked: Checked) -> str | None:
    if endpoint.kind.streams:
        stream = checked.events.stream
        told = stream is not None and SERVER_SENT_EVENTS in stream.over
        return EVENT_STREAM + checked.media_type_parameter if told else None
    return None if all(each.content is None for each in responses) else checked.produces


def _admissions(endpoint: Endpoint, case: int, checked: Checked, dialect: Dialect) -> Iterator[Admission]:
    known = {scheme.name for scheme in checked.schemes if scheme.in_force} | {ANYONE}
    for admission in endpoint.admissions:
        if admission.who in known:
            yield Admission(
                who=admission.who,
                operation=_operation(
                    endpoint, admission, Perspective(checked, admission.who, dialect, case=endpoint.called)
                ),
                condition=admission.condition if admission.of_request else None,
                scopes=admission.scopes,
                trace=(admission.place,),
                call=call(endpoint),
                case=case,
            )


_REFUSING = tuple(dict.fromkeys(fact for each in CONDITIONS for fact in each.facts))
"""The keys that ask for what a condition refuses."""


def _operation(endpoint: Endpoint, admission: checked_endpoints.Admission, perspective: Perspective) -> Operation:
    stated = endpoint.operation
    if not isinstance(stated, Mutation):
        return endpoints.plan(stated, admission, endpoint.admissions, perspective)
    if isinstance(stated, Update | Delete) and stated.of_all is not None:
        return sweep(stated, admission, perspective)
    write = endpoints.written(stated, admission, perspective)
    return with_further(with_effects(write, stated, perspective), stated, perspective)


def _places(endpoint: Endpoint, said: Sequence[str], checked: Checked) -> dict[str, Place]:
    places, of_requests = checked.places, [each.name for each in members(requests.Requests)]
    own = ("endpoints", endpoint.key)
    return (
        {f"requests {key}": place for key, place in places.by_key(of_requests, "endpoints", "requests").items()}
        | {f"requests {key}": place for key, place in places.by_key(of_requests, *own, "requests").items()}
        | {f"shape {key}": place for key, place in places.by_key(("media type",), *own, "error shape").items()}
        | places.by_key(("produces",), "endpoints")
        | places.by_key((*_REFUSING, *said), "endpoints", endpoint.key)
        | places.by_key(endpoint.errors, "endpoints", endpoint.key, "errors")
    )


def _of_case(endpoint: Endpoint, case: str, places: Places) -> dict[str, Place]:
    own = ("endpoints", endpoint.key, "cases", case)
    return places.by_key((*_REFUSING, *endpoint.said), *own) | places.by_key(endpoint.errors, *own, "errors")


def blocked(stopped: Stopped) -> Blocked:
    return Blocked(
        key=stopped.key,
        method=stopped.method,
        segments=tuple(
            segment if isinstance(segment, str) else PathParameter("", Text(), "", segment.after)
            for segment in stopped.segments
        ),
        reasons=stopped.reasons,
        trace=(stopped.place,),
    )


def cors(stated: checked_endpoints.Cors) -> Cors:
    """A length of time in whole seconds, which is all that the header can say: never longer than stated."""
    return Cors(
        origins=stated.origins,
        headers=stated.headers,
        exposed=stated.exposed,
        credentials=stated.credentials,
        max_age=None if stated.max_age is None else stated.max_age // 1_000_000,
        preflight=stated.preflight,
        said=dict(stated.said),
        trace=(stated.place,),
    )


def _segments(segments: Sequence[checked_operations.Segment], checked: Checked) -> tuple[Segment, ...]:
    return tuple(each if isinstance(each, str) else _path_parameter(each, checked) for each in segments)


def _path_parameter(segment: PathName | PathValue, checked: Checked) -> PathParameter:
    field = checked.resources[segment.resource].fields[segment.field] if isinstance(segment, PathName) else None
    normalise = None if field is None else field.normalise
    return PathParameter(segment.text, segment.type, segment.resource, segment.after, normalise)


def _parameter(stated: CheckedParameter, endpoint: Endpoint, key: str, checked: Checked) -> Parameter:
    own = ("endpoints", endpoint.key, key, stated.name)
    required = checked.places.by_key(("required",), *own)
    chosen = checked.places.by_key(("sorts", "selects", "always", "expands", "explode", "default", *stated.said), *own)
    return Parameter(
        stated.name,
        stated.type,
        dict(stated.schema),
        stated.required,
        (*stated.rules, *(Rule((), keyword, place) for keyword, place in required.items() if stated.required)),
        stated.default,
        stated.explode,
        stated.is_json,
        (stated.place, *chosen.values()),
        stated.origin,
        said=dict(stated.said),
    )


def _stored(endpoint: Endpoint, checked: Checked) -> Iterator[Parameter]:
    """The names of the path that give a new row its own fields."""
    operation = endpoint.operation
    creates = isinstance(operation, Ensure) and "created" in operation.outcomes
    for name in endpoint.names if creates else ():
        if not name.through:
            field = checked.resources[name.resource].fields[name.field]
            yield Parameter(name.text, name.type, dict(field.schema), rules=field.rules, trace=(field.place,))


# What an endpoint calls first: its arguments, each with where a request gives what it is made of.


def call(endpoint: Endpoint) -> plan.Call | None:
    stated = endpoint.call
    if stated is None:
        return None
    return plan.Call(
        function=stated.function,
        arguments=tuple(_argument(each, endpoint) for each in stated.arguments),
        gives=dict(stated.gives),
        type=stated.type,
        refuses=stated.refuses,
        fields=stated.fields,
        trace=(stated.place,),
    )


def _argument(stated: Argument, endpoint: Endpoint) -> plan.Argument:
    value = left_out(stated.value)
    is_sure = not may_be_unmade(value) and (stated.nullable or not value.type.nullable)
    held = None
    fits = isinstance(value, Constant) or says_no_more_than(stated.schema, value.type)  # constants are held before
    if not (is_sure and fits):
        origins = tuple(dict.fromkeys(_origins(stated.value, endpoint)))
        trace = (stated.place,)
        held = Held(endpoint.operation.resource or "", "", stated.type, dict(stated.schema), origins, trace=trace)
    way = way_of(stated.value)
    copied = way is not None and way[0] == "request"
    return plan.Argument(stated.name, value, stated.type, held, stated.nullable, copied)


def _origins(typed: Typed, endpoint: Endpoint) -> Iterator[Origin]:
    way = way_of(typed)
    if way is None:
        for part in parts(typed):
            yield from _origins(part, endpoint)
    elif way[0] == "request":
        yield _of_field(way[1:], endpoint) or of_request(way[1:], endpoint.operation.resource)


def _of_field(names: tuple[str, ...], endpoint: Endpoint) -> Origin | None:
    """Where the body gives a field: callers of an older version may call it otherwise than expressions do."""
    assert endpoint.call is not None
    for field, pointer in endpoint.call.fields:
        if names[: 1 + len(pointer)] == ("body", *pointer):
            leaf = next(each for each in endpoint.takes.body or () if each.field == field)
            place = location("body", (*leaf.pointer, *names[1 + len(pointer) :]))
            return Origin(place, subject=subject_of("invalid", resource=endpoint.operation.resource, field=field))
    return None
