"""Part 4: the function that an endpoint calls before it does anything."""

from __future__ import annotations

from ninefold.checked import endpoints as checked
from ninefold.plan.calls import Argument, Call
from ninefold.planner.places import traced


def call(stated: checked.Call | None) -> Call | None:
    if stated is None:
        return None
    return Call(
        function=stated.function,
        arguments=tuple(
            Argument(each.name, each.value, each.type, dict(each.schema), each.nullable, each.given, traced(each.place))
            for each in stated.arguments
        ),
        gives=dict(stated.gives),
        type=stated.type,
        refuses=stated.refuses,
        fields=stated.fields,
        trace=traced(stated.place),
    )
