"""Part 5: the credentials that the service issues: how they are kept, found again, and ended."""

from __future__ import annotations

from ninefold.checked import service as checked
from ninefold.checked.endpoints import Endpoint
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.expressions.tree import Constant
from ninefold.plan.operations import Issue
from ninefold.plan.statement import Piece, Statement
from ninefold.planner import inputs
from ninefold.planner.requirements import all_of
from ninefold.sql import credentials as stored
from ninefold.sql.fragment import Fragment, bind, identifier, join
from ninefold.values import Text


def issued_to(service: Checked) -> tuple[str, ...]:
    """The resources to whose rows credentials are issued, in the order of their schemes."""
    schemes = (each.verified for each in service.schemes)
    return tuple(dict.fromkeys(each.resource for each in schemes if isinstance(each, checked.Issued)))


def found(resource: Resource, scheme: str) -> tuple[Fragment, Fragment]:
    """Where the row of a credential comes from, and what says which one: its digest, while it lasts."""
    alias, name = identifier("$credential"), identifier(resource.name)
    same = [f"{alias}.{identifier(key)} = {name}.{identifier(key)}" for key in resource.identifier]
    source = Fragment(f"{stored.table_of(resource.name)} AS {alias} JOIN {name} AS {name} ON {' AND '.join(same)}")
    is_this = (
        f"{alias}.{stored.DIGEST} = "
        + bind(inputs.CREDENTIAL_DIGEST)
        + f" AND {alias}.{stored.SCHEME} = "
        + bind(Constant(scheme, Text()))
        + f" AND ({alias}.{stored.EXPIRES} IS NULL OR {alias}.{stored.EXPIRES} > "
        + bind(inputs.NOW)
        + ")"
    )
    return source, is_this


def issue(endpoint: Endpoint, resource: Resource, service: Checked) -> Issue | None:
    """How an endpoint's credential is kept, for the row that it has just written or found."""
    scheme = next((each for each in service.schemes if each.name == endpoint.issues), None)
    if scheme is None or not isinstance(scheme.verified, checked.Issued):
        return None
    table = stored.table_of(resource.name)
    columns = [stored.DIGEST, stored.SCHEME, stored.EXPIRES, *map(identifier, resource.identifier)]
    values = [bind(inputs.ISSUED_DIGEST), bind(Constant(scheme.name, Text())), bind(inputs.ISSUED_EXPIRES)]
    values += [bind(inputs.row_key(key, resource.fields[key].type)) for key in resource.identifier]
    store = f"INSERT INTO {table} ({', '.join(columns)}) VALUES (" + join(", ", values) + ")"
    clean = (
        f"DELETE FROM {table} WHERE {stored.DIGEST} IN (SELECT {stored.DIGEST} FROM {table}"
        f" WHERE {stored.EXPIRES} <= " + bind(inputs.NOW) + f" ORDER BY {stored.EXPIRES} LIMIT {stored.CLEANED})"
    )
    return Issue(scheme.name, _statement(store), _statement(clean), scheme.verified.lasts)


def ended_by_password(resource: Resource, service: Checked) -> Statement | None:
    """Ends the credentials of a row whose password is another now, but for the one that the request presents."""
    if resource.name not in issued_to(service):
        return None
    table = stored.table_of(resource.name)
    same = [
        Fragment(f"{identifier(key)} = ") + bind(inputs.row_key(key, resource.fields[key].type))
        for key in resource.identifier
    ]
    text = f"DELETE FROM {table} WHERE " + all_of(same) + f" AND {stored.DIGEST} IS DISTINCT FROM "
    return _statement(text + bind(inputs.CREDENTIAL_DIGEST))


def _statement(text: Fragment) -> Statement:
    return Statement((Piece(text.text, text.binds),))
