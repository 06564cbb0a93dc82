"""Part 5: the credentials that the service issues: how they are kept, found again, and ended."""

from __future__ import annotations

from msgspec.structs import replace

from ninefold.checked import service as checked
from ninefold.checked.operations import Mutation
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.compile import inputs
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import Requirement, Scope
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Constant, Typed
from ninefold.language.endpoints import Ends
from ninefold.plan.problems import Condition, location
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import Ending, Issue, Scopes, Step
from ninefold.sql import credentials as stored
from ninefold.sql.fragment import Fragment, all_of, bind, identifier, join
from ninefold.values import Array, Text

SCOPES_COLUMN = (
    Fragment(f"{identifier('$granted')}.{stored.SCOPES}"),
    ResultColumn("$scopes", Array(items=Text(), nullable=True)),
)
"""The scopes that a credential was granted."""


def issued_to(service: Checked) -> tuple[str, ...]:
    """The resources to whose rows credentials are issued, in the order of their schemes."""
    schemes = (each.verified for each in service.schemes)
    return tuple(dict.fromkeys(each.resource for each in schemes if isinstance(each, checked.Issued)))


def callers(service: Checked) -> tuple[str, ...]:
    """The resources whose rows are callers."""
    schemes = (each.verified for each in service.schemes)
    of_rows = checked.LookedUp | checked.Issued | checked.Password | checked.CertificateOf
    return tuple(dict.fromkeys(each.resource for each in schemes if isinstance(each, of_rows)))


def identified(service: Checked) -> tuple[str, ...]:
    """Those of them whose rows have an identity: idempotency keys belong to it."""
    return callers(service) if service.takes_keys else ()


def scoped(service: Checked) -> tuple[str, ...]:
    """Those of them whose credentials have scopes."""
    issued = [each.verified for each in service.schemes if isinstance(each.verified, checked.Issued)]
    return tuple(dict.fromkeys(each.resource for each in issued if each.scopes))


def found(resource: Resource, scheme: str, has_scopes: bool = False) -> tuple[Fragment, Fragment]:
    """Where the row of a credential comes from, and what says which one: its digest, while it lasts."""
    alias, name = identifier("$credential"), identifier(resource.name)
    same = [f"{alias}.{identifier(key)} = {name}.{identifier(key)}" for key in resource.primary_key]
    source = Fragment(f"{stored.table_of(resource.name)} AS {alias} JOIN {name} AS {name} ON {' AND '.join(same)}")
    if has_scopes:
        scopes = identifier("$granted")
        table = f"{stored.scopes_of(resource.name)} AS {scopes}"
        source = source + f" LEFT JOIN {table} ON {scopes}.{stored.DIGEST} = {alias}.{stored.DIGEST}"
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


def issue(operation: Mutation, resource: Resource, perspective: Perspective) -> tuple[Step, ...]:
    """How an endpoint's credential is kept, for the row that it has just written or found, and which scopes it has."""
    scheme = next((each for each in perspective.checked.schemes if each.name == operation.issues), None)
    if scheme is None or not isinstance(scheme.verified, checked.Issued):
        return ()
    table = stored.table_of(resource.name)
    verified = scheme.verified
    columns = [stored.DIGEST, stored.SCHEME, stored.EXPIRES, *map(identifier, resource.primary_key)]
    values = [bind(inputs.ISSUED_DIGEST), bind(Constant(scheme.name, Text())), bind(inputs.ISSUED_EXPIRES)]
    values += [bind(inputs.row_key(key, resource.fields[key].type)) for key in resource.primary_key]
    store = f"INSERT INTO {table} ({', '.join(columns)}) VALUES (" + join(", ", values) + ")"
    clean = (
        f"DELETE FROM {table} WHERE {stored.DIGEST} IN (SELECT {stored.DIGEST} FROM {table}"
        f" WHERE {stored.EXPIRES} <= " + bind(inputs.NOW) + f" ORDER BY {stored.EXPIRES} LIMIT {stored.CLEANED})"
    )
    kept = Issue(scheme.name, _statement(store), _statement(clean), dict(scheme.said))
    if verified.granted is None:
        return (kept,)
    scopes = f"INSERT INTO {stored.scopes_of(resource.name)} ({stored.DIGEST}, {stored.SCOPES}) VALUES ("
    store_scopes = scopes + join(", ", [bind(inputs.ISSUED_DIGEST), bind(inputs.ISSUED_SCOPES)]) + ")"
    granted = _granted(resource, verified.scopes, verified.granted, perspective)
    return granted, replace(kept, store_scopes=_statement(store_scopes))


def _is_row(resource: Resource) -> list[Fragment]:
    return [
        Fragment(f"{identifier(key)} = ") + bind(inputs.row_key(key, resource.fields[key].type))
        for key in resource.primary_key
    ]


def _granted(resource: Resource, scopes: tuple[str, ...], granted: Typed, perspective: Perspective) -> Scopes:
    """Which scopes the row is granted: by the contract's own authority, whatever rows the caller sees."""
    name = identifier(resource.name)
    same = _is_row(resource)
    value = perspective.value(granted, {resource.name: resource.name})
    text = "SELECT " + value + f" FROM {name} AS {name} WHERE " + all_of(same)
    find = Statement((Piece(text.text, text.binds),), (ResultColumn("granted", granted.type),))
    return Scopes(scopes, find)


def only_granted(resource: Resource, issued: checked.Issued, place: Place, perspective: Perspective) -> Requirement:
    """Every scope that is asked for is one that the row is granted."""
    dialect, type_ = perspective.dialect, Text()
    asked, of_row, listed = (identifier(f"{each} scope") for each in ("asked", "granted", "listed"))
    one = dialect.item(asked, type_)
    wrong = "SELECT 1 FROM " + dialect.items(bind(inputs.ASKED_SCOPES), asked)
    if issued.granted is not None:
        granted = perspective.value(issued.granted, {resource.name: resource.name})
        known = bind(Constant(list(issued.scopes), Array(items=Text())))
        among = "(SELECT " + dialect.item(of_row, type_) + " FROM " + dialect.items(granted, of_row) + ")"
        there = "(SELECT " + dialect.item(listed, type_) + " FROM " + dialect.items(known, listed) + ")"
        wrong = wrong + " WHERE (" + one + " IN " + among + " AND " + one + " IN " + there + ") IS NOT TRUE"
    condition = Condition(
        "invalid", subject="scope", location=location("body", ("scope",)), rule="enum", trace=(place,)
    )
    return Requirement(condition, "NOT EXISTS (" + wrong + ")", Scope.ROW)


def endings(
    operation: Mutation, resource: Resource, service: Checked, passwords: tuple[str, ...] = ()
) -> tuple[Ending, ...]:
    """What ends credentials that were issued to the row: that the endpoint says so, and that one of its `passwords` is
    another now, which leaves the one that the request presents."""
    if resource.name not in issued_to(service):
        return ()
    found = [] if operation.ends is None else [Ending(_ended(operation.ends, resource))]
    return (*found, *((Ending(_ended("others", resource), passwords),) if passwords else ()))


def _ended(which: Ends, resource: Resource) -> Statement:
    table = stored.table_of(resource.name)
    same = _is_row(resource)
    text = f"DELETE FROM {table} WHERE " + all_of(same)
    match which:
        case "presented":
            text = text + f" AND {stored.DIGEST} = " + bind(inputs.CREDENTIAL_DIGEST)
        case "others":
            text = text + f" AND {stored.DIGEST} IS DISTINCT FROM " + bind(inputs.CREDENTIAL_DIGEST)
        case "all":
            pass
    return _statement(text)


def _statement(text: Fragment) -> Statement:
    return Statement((Piece(text.text, text.binds),))
