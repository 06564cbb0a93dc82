"""Part 5: how credentials are looked up. Who may call is in each endpoint's routes and statements."""

from __future__ import annotations

from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.checked.service import Scheme as CheckedScheme
from ninefold.plan.authentication import Scheme
from ninefold.plan.statement import ResultColumn, Statement
from ninefold.planner import inputs
from ninefold.planner.endpoints.rows import pieces
from ninefold.planner.places import traced
from ninefold.planner.requirements import column
from ninefold.sql.fragment import bind, identifier, join


def scheme(stated: CheckedScheme, checked: Checked) -> Scheme:
    resource = lookup = None
    if stated.matches is not None:
        name, field = stated.matches
        resource = name
        lookup = _lookup(checked.resources[name], field)
    return Scheme(
        scheme=stated.name,
        where=stated.where,
        name=stated.parameter,
        challenge=stated.challenge,
        resource=resource,
        lookup=lookup,
        adds=stated.adds,
        trace=traced(stated.place),
    )


def _lookup(resource: Resource, field: str) -> Statement:
    """The row whose secret this is, with every stored field that can be read."""
    readable = [each for each in resource.fields.values() if each.stored and each.secret is None]
    name = identifier(resource.name)
    text = (
        "SELECT "
        + join(", ", [column(resource.name, each.name) for each in readable])
        + f" FROM {name} AS {name} WHERE "
        + column(resource.name, field)
        + " = "
        + bind(inputs.CREDENTIAL_DIGEST)
    )
    return Statement(pieces(text), tuple(ResultColumn(each.name, each.type) for each in readable))
