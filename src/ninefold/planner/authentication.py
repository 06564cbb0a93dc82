"""Part 5: how credentials are looked up or verified. Who may call is in each endpoint's routes and statements."""

from __future__ import annotations

from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.checked.service import Scheme as CheckedScheme
from ninefold.checked.service import Signed as CheckedSigned
from ninefold.plan.authentication import Discovered, Issuer, Published, Scheme, Signed
from ninefold.plan.statement import ResultColumn, Statement
from ninefold.planner import inputs
from ninefold.planner.endpoints.rows import pieces
from ninefold.planner.perspective import Perspective
from ninefold.planner.places import traced
from ninefold.planner.requirements import all_of, column
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, bind, identifier, join


def scheme(stated: CheckedScheme, checked: Checked, dialect: Dialect) -> Scheme:
    resource = lookup = again = None
    if stated.matches is not None:
        name, field = stated.matches
        resource = name
        perspective = Perspective(checked, stated.name, dialect)
        lookup = _row(
            checked.resources[name], column(name, field) + " = " + bind(inputs.CREDENTIAL_DIGEST), perspective
        )
        again = _row(checked.resources[name], _same(checked.resources[name]), perspective)
    return Scheme(
        scheme=stated.name,
        where=stated.where,
        name=stated.parameter,
        challenge=stated.challenge,
        resource=resource,
        lookup=lookup,
        again=again,
        signed=None if stated.signed is None else _signed(stated.signed),
        adds=stated.adds,
        trace=traced(stated.place),
    )


def _same(resource: Resource) -> Fragment:
    keys = (resource.fields[name] for name in resource.identifier)
    return all_of([column(resource.name, key.name) + " = " + bind(inputs.row_key(key.name, key.type)) for key in keys])


def _row(resource: Resource, found: Fragment, perspective: Perspective) -> Statement:
    """A caller's row, with every stored field that can be read. One that is gone has no credential."""
    readable = [each for each in resource.fields.values() if each.stored and each.secret is None]
    name = identifier(resource.name)
    text = (
        "SELECT "
        + join(", ", [column(resource.name, each.name) for each in readable])
        + f" FROM {name} AS {name} WHERE "
        + found
    )
    there = perspective.there(resource.name, resource.name)
    if there is not None:
        text = text + " AND " + there
    return Statement(pieces(text), tuple(ResultColumn(each.name, each.type) for each in readable))


def _signed(stated: CheckedSigned) -> Signed:
    if stated.configuration is not None:
        issuer: Issuer = Discovered(stated.configuration)
    else:
        assert stated.issuer is not None and stated.keys is not None
        issuer = Published(stated.issuer, stated.keys)
    return Signed(issuer, stated.audience, stated.algorithms)
