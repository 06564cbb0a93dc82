"""Part 5: how credentials are looked up or verified. Who may call is in each endpoint's routes and statements."""

from __future__ import annotations

from typing import assert_never

from ninefold.checked import service as checked
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.plan.authentication import Discovered, Issuer, LookedUp, Published, Scheme, Signed, Verification
from ninefold.plan.statement import ResultColumn, Statement
from ninefold.planner import inputs
from ninefold.planner.endpoints.rows import pieces
from ninefold.planner.perspective import Perspective
from ninefold.planner.places import traced
from ninefold.planner.requirements import all_of, column
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, bind, identifier, join


def scheme(stated: checked.Scheme, service: Checked, dialect: Dialect) -> Scheme:
    return Scheme(
        scheme=stated.name,
        where=stated.where,
        name=stated.parameter,
        challenge=stated.challenge,
        verified=_verification(stated, Perspective(service, stated.name, dialect)),
        adds=stated.adds,
        trace=traced(stated.place),
    )


def _verification(stated: checked.Scheme, perspective: Perspective) -> Verification | None:
    match stated.verified:
        case checked.LookedUp(resource=name, field=field):
            resource = perspective.checked.resources[name]
            found = column(name, field) + " = " + bind(inputs.CREDENTIAL_DIGEST)
            return LookedUp(
                resource=name,
                find=_row(resource, found, perspective),
                again=_row(resource, _same(resource), perspective),
            )
        case checked.Signed() as signed:
            return _signed(signed)
        case checked.Issued() | checked.Password() | None:
            return None
        case _:
            assert_never(stated.verified)


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


def _signed(stated: checked.Signed) -> Signed:
    if stated.configuration is not None:
        issuer: Issuer = Discovered(stated.configuration)
    else:
        assert stated.issuer is not None and stated.keys is not None
        issuer = Published(stated.issuer, stated.keys)
    return Signed(issuer, stated.audience, stated.algorithms)
