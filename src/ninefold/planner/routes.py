"""Part 4: routes, bodies and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ninefold.checked import endpoints as checked_endpoints
from ninefold.checked.endpoints import BodyLeaf, Endpoint, PathName, Stopped, Verb
from ninefold.checked.endpoints import Parameter as CheckedParameter
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked
from ninefold.expressions.tree import Typed
from ninefold.plan.cross_origin import CrossOrigin
from ninefold.plan.places import Place
from ninefold.plan.routes import Admission, Blocked, Body, BodyField, Parameter, PathParameter, Rule, Segment, Served
from ninefold.planner import endpoints
from ninefold.planner.perspective import Perspective
from ninefold.planner.places import by_key, rules, traced
from ninefold.sql.dialect import Dialect
from ninefold.values import Anything, Object, Text, Type, optional

MERGE_PATCH = "application/merge-patch+json"
"""RFC 7396, section 4."""


JSON_PATCH = "application/json-patch+json"
"""RFC 6902, section 6."""

EVENT_STREAM = "text/event-stream"
"""WHATWG HTML 9.2."""


def served(endpoint: Endpoint, checked: Checked, dialect: Dialect) -> Served:
    """One operation for each kind of caller that can be told in this build."""
    known = {scheme.name for scheme in checked.schemes if scheme.in_force} | {"anyone"}
    return Served(
        key=endpoint.key,
        method=endpoint.method,
        segments=_segments(endpoint.segments),
        admissions=tuple(
            Admission(
                who=admission.who,
                operation=endpoints.plan(endpoint, admission, Perspective(checked, admission.who, dialect)),
                condition=admission.condition if admission.of_request else None,
                scopes=admission.scopes,
                trace=traced(admission.place),
            )
            for admission in endpoint.admissions
            if admission.who in known
        ),
        schemes=tuple(admission.who for admission in endpoint.admissions if admission.who != "anyone"),
        body=body(endpoint, checked),
        stored=tuple(_stored(endpoint, checked)),
        offers=EVENT_STREAM + checked.media_type_parameter
        if endpoint.verb == "stream"
        else None
        if all(each.content is None for each in (endpoint.response, endpoint.untouched) if each is not None)
        else checked.response_media_type,
        query=tuple(_parameter(each, endpoint, "query", checked) for each in endpoint.query),
        headers=tuple(_parameter(each, endpoint, "request headers", checked) for each in endpoint.request_headers),
        unknown_parameters=checked.unknown_parameters,
        idempotency_key=endpoint.idempotency_key,
        errors=dict(endpoint.errors),
        places=_places(endpoint, checked),
        trace=traced(endpoint.place),
    )


_OWN = ("does", "body", "patch", "validators", "idempotency key", "pages", "issues", "headers")
"""The keys of an endpoint that may refuse a request, or put something into its response."""


def _places(endpoint: Endpoint, checked: Checked) -> dict[str, Place]:
    places, requests = checked.places, ("media type", "unknown members", "unknown parameters")
    return (
        {f"requests {key}": place for key, place in by_key(places, requests, "endpoints", "requests").items()}
        | {f"responses {key}": place for key, place in by_key(places, requests, "endpoints", "responses").items()}
        | by_key(places, _OWN, "endpoints", endpoint.key)
        | by_key(places, endpoint.errors, "endpoints", endpoint.key, "errors")
    )


def blocked(stopped: Stopped) -> Blocked:
    return Blocked(
        key=stopped.key,
        method=stopped.method,
        segments=tuple(
            segment if segment is not None else PathParameter("", Text(), "") for segment in stopped.segments
        ),
        reasons=stopped.reasons,
        trace=traced(stopped.place),
    )


def cross_origin(stated: checked_endpoints.CrossOrigin) -> CrossOrigin:
    """A length of time in whole seconds, which is all that the header can say: never longer than stated."""
    return CrossOrigin(
        origins=stated.origins,
        headers=stated.headers,
        exposed=stated.exposed,
        credentials=stated.credentials,
        kept_seconds=None if stated.kept is None else stated.kept // 1_000_000,
        trace=traced(stated.place),
    )


def _segments(segments: Sequence[str | PathName]) -> tuple[Segment, ...]:
    return tuple(
        segment if isinstance(segment, str) else PathParameter(segment.text, segment.type, segment.resource)
        for segment in segments
    )


def _parameter(stated: CheckedParameter, endpoint: Endpoint, key: str, checked: Checked) -> Parameter:
    required = by_key(checked.places, ("required",), "endpoints", endpoint.key, key, stated.name)
    return Parameter(
        stated.name,
        stated.type,
        dict(stated.schema),
        stated.required,
        stated.code,
        (*rules(stated.rules), *(Rule((), keyword, place) for keyword, place in required.items())),
        traced(stated.place),
    )


def _stored(endpoint: Endpoint, checked: Checked) -> Iterator[Parameter]:
    """The names of the path that give a new row its own fields."""
    for name in endpoint.names if endpoint.verb == "ensure" else ():
        if not name.through:
            field = checked.resources[name.resource].fields[name.field]
            yield Parameter(name.text, name.type, dict(field.schema), trace=traced(field.place))


def body(endpoint: Endpoint, checked: Checked) -> Body | None:
    """How a body is read; None: the endpoint takes none."""
    if endpoint.body is None or endpoint.resource is None:
        return None
    media_types = (checked.request_media_type,) if checked.request_media_type is not None else ()
    if not endpoint.body:
        return Body(media_types, {"type": "object"}, unknown=checked.unknown_members, optional=True)
    resource = checked.resources[endpoint.resource]
    edits = endpoint.patch == "json-patch"
    merge = endpoint.verb == "update" and not edits
    fields = tuple(
        BodyField(
            field=leaf.field,
            pointer=leaf.pointer,
            type=_given_type(resource.fields[leaf.field]),
            normalise=resource.fields[leaf.field].normalise,
            fixed=endpoint.verb not in ("create", "ensure", "sign in") and resource.fields[leaf.field].immutable,
            merged=merge and isinstance(resource.as_given(leaf.field).type, Anything | Object),
            null_shown=edits and resource.as_given(leaf.field).null_shown,
            stored=_stored_of(resource.fields[leaf.field]),
            was=_was(leaf.field, resource),
            rules=rules(resource.fields[leaf.field].rules),
            trace=traced(resource.fields[leaf.field].place),
        )
        for leaf in endpoint.body
    )
    return Body(
        media_types=(*media_types, MERGE_PATCH) if merge else (*media_types, JSON_PATCH) if edits else media_types,
        schema=_schema(endpoint.body, resource, endpoint.verb),
        fields=fields,
        unknown=checked.unknown_members,
        merge=merge,
        edits=edits,
    )


def _stored_of(field: Field) -> Typed | None:
    return None if field.seen is None else field.seen.stored


def _was(name: str, resource: Resource) -> str | None:
    older = resource.as_given(name).name
    return None if older == name else older


def _given_type(field: Field) -> Type:
    """A secret is given as text; a digest is what is stored of it. A client of an older version may give something
    else than what is stored."""
    if field.seen is not None and field.seen.stored is not None and field.seen.given is not None:
        return optional(field.seen.given) if field.type.nullable else field.seen.given
    return Text(nullable=field.type.nullable) if field.secret is not None else field.type


def _held_to(field: Field) -> dict[str, Any]:
    """The schema of what is given. Beside its own, what an older version asks is what the rows are held to."""
    if field.seen is None or field.seen.schema is None:
        return dict(field.schema)
    older = dict(field.seen.schema)
    return older if field.seen.stored is not None else {"allOf": [older, dict(field.schema)]}


def _schema(leaves: Sequence[BodyLeaf], resource: Resource, verb: Verb, depth: int = 0) -> dict[str, Any]:
    """The JSON Schema of an object that holds these leaves. In a merge patch nothing is required of it, and of who signs
    in everything."""
    properties: dict[str, Any] = {}
    required = []
    for name in dict.fromkeys(leaf.pointer[depth] for leaf in leaves):
        within = [leaf for leaf in leaves if leaf.pointer[depth] == name]
        if len(within) == 1 and len(within[0].pointer) == depth + 1:
            field = resource.fields[within[0].field]
            properties[name] = _held_to(field)
            made = field.on_create is not None or field.on_change is not None
            if verb == "sign in" or (field.required and not made and verb != "update"):
                required.append(name)
        else:
            properties[name] = _schema(within, resource, verb, depth + 1)
            if properties[name].get("required"):
                required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": required} if required else {})
