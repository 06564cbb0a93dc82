"""Part 5: how credentials are looked up or verified. Who may call is in each endpoint's routes and statements."""

from __future__ import annotations

from typing import assert_never

from ninefold.checked import service as checked
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.compile import credentials, inputs
from ninefold.compile.endpoints.rows import pieces
from ninefold.compile.perspective import Perspective
from ninefold.plan.authentication import (
    AnyCertificate,
    CertificateOf,
    Discovered,
    Issued,
    Issuer,
    LookedUp,
    Password,
    Published,
    Scheme,
    Signed,
    Verification,
)
from ninefold.plan.environment import IDENTITY_COLUMN
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Digest, Text, required


def scheme(stated: checked.Scheme, service: Checked, dialect: Dialect) -> Scheme:
    return Scheme(
        scheme=stated.name,
        where=stated.where,
        name=stated.parameter,
        challenge=stated.challenge,
        verified=_verification(stated, Perspective(service, stated.name, dialect)),
        adds=stated.adds,
        said=dict(stated.said),
        trace=(stated.place,),
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
        case checked.Issued(resource=name, scopes=scopes):
            resource = perspective.checked.resources[name]
            source, is_this = credentials.found(resource, stated.name, bool(scopes))
            first = (credentials.SCOPES_COLUMN,) if scopes else ()
            return Issued(
                resource=name,
                find=_row(resource, is_this, perspective, source, first),
                again=_row(resource, _same(resource), perspective),
                scopes=scopes,
            )
        case checked.Password(resource=name, user=user, password=password):
            return _password(perspective.checked.resources[name], user, password, perspective)
        case checked.CertificateOf(resource=name, field=field, presented=presented):
            resource = perspective.checked.resources[name]
            return CertificateOf(
                resource=name,
                find=_row(resource, column(name, field) + " = " + bind(inputs.CREDENTIAL_PRESENTED), perspective),
                again=_row(resource, _same(resource), perspective),
                presented=presented,
            )
        case checked.AnyCertificate():
            return AnyCertificate()
        case checked.Signed() as signed:
            return _signed(signed)
        case None:
            return None
        case _:
            assert_never(stated.verified)


def _same(resource: Resource) -> Fragment:
    keys = (resource.fields[name] for name in resource.primary_key)
    return all_of([column(resource.name, key.name) + " = " + bind(inputs.row_key(key.name, key.type)) for key in keys])


def _password(resource: Resource, user: str, password: str, perspective: Perspective) -> Password:
    name, type_ = resource.name, required(resource.fields[user].type)
    by_user = column(name, user) + " = " + bind(inputs.credential_user(type_))
    hash = column(name, password)
    row = _row(resource, by_user, perspective, first=((hash, ResultColumn("hash", Digest(nullable=True))),))
    as_verified = " AND " + hash + " = " + bind(inputs.CREDENTIAL_HASH)
    return Password(
        resource=name,
        find=Statement((*row.pieces, Piece(as_verified.text, as_verified.binds, "as verified")), row.columns),
        again=_row(resource, _same(resource), perspective),
        user=user,
        password=password,
        type=type_,
        normalise=resource.fields[user].normalise,
    )


def _row(
    resource: Resource,
    found: Fragment,
    perspective: Perspective,
    source: Fragment | None = None,
    first: tuple[tuple[Fragment, ResultColumn], ...] = (),
) -> Statement:
    """A caller's row, with every stored field that can be read, and its identity, where rows have one. One that is gone
    has no credential. `source`: where it comes from, if not from the resource alone; `first`: columns that stand before
    its fields."""
    fields = [each for each in resource.fields.values() if each.stored and each.secret is None]
    readable = [ResultColumn(each.name, each.type) for each in fields]
    if resource.name in credentials.identified(perspective.checked):
        readable.append(ResultColumn(IDENTITY_COLUMN, Text()))
    name = identifier(resource.name)
    text = (
        "SELECT "
        + join(", ", [*(each for each, _ in first), *(column(resource.name, each.name) for each in readable)])
        + " FROM "
        + (source or Fragment(f"{name} AS {name}"))
        + " WHERE "
        + found
    )
    there = perspective.there(resource.name, resource.name)
    if there is not None:
        text = text + " AND " + there
    return Statement(pieces(text), (*(each for _, each in first), *readable))


def _signed(stated: checked.Signed) -> Signed:
    of: Issuer = Discovered(stated.issuer) if stated.keys is None else Published(stated.issuer, stated.keys)
    return Signed(of, stated.audience, stated.algorithms, stated.scopes)
