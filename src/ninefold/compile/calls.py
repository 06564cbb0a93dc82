"""What an endpoint calls first: its arguments, each with where a request gives what it is made of."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.endpoints import Argument, Endpoint
from ninefold.checked.service import Checked
from ninefold.compile.endpoints.held import left_out, location, may_be_unmade, of_request, says_no_more_than, way_of
from ninefold.compile.places import traced
from ninefold.expressions.tree import Constant, Typed, parts
from ninefold.plan import calls as plan
from ninefold.plan.held import Held, Origin


def call(endpoint: Endpoint, checked: Checked) -> plan.Call | None:
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
        trace=traced(stated.place),
    )


def _argument(stated: Argument, endpoint: Endpoint) -> plan.Argument:
    value = left_out(stated.value)
    is_sure = not may_be_unmade(value) and (stated.nullable or not value.type.nullable)
    held = None
    fits = isinstance(value, Constant) or says_no_more_than(stated.schema, value.type)  # constants are held before
    if not (is_sure and fits):
        origins = tuple(dict.fromkeys(_origins(stated.value, endpoint)))
        trace = traced(stated.place)
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
            return Origin(place, subject=f"{endpoint.operation.resource}.{field}")
    return None
