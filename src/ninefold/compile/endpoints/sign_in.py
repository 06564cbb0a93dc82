"""`sign in R`: a row whose password the body gives, which is changed only where the endpoint `sets` something.
`sign out R`: credentials that were issued to a row end, and the row stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Mutation, Operation
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Issued
from ninefold.compile import inputs
from ninefold.compile.before import as_it_was
from ninefold.compile.credentials import endings, issue, only_granted
from ninefold.compile.endpoints.changes import changes, values_computed, written_further
from ninefold.compile.endpoints.held import can_be_made, made_columns, making
from ninefold.compile.endpoints.read import requirements_of_row
from ninefold.compile.endpoints.rows import acted_on, answer, outer_join, pieces, row_columns
from ninefold.compile.endpoints.writes import invariants, told_after, uniques
from ninefold.compile.events import caused
from ninefold.compile.judge import Made, judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import Requirement, Scope, guard, parents, permission
from ninefold.compile.upheld import Change, upheld
from ninefold.compile.which_rows import path_conditions, says_which
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.tree import Select, Variable
from ninefold.plan.authentication import PasswordCheck
from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.held import Held
from ninefold.plan.problems import Condition
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import Assign, Grant, SignIn, SignOut
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier
from ninefold.values import Digest, Object, Row, required


def sign_in(operation: stated.SignIn, admission: Admission, perspective: Perspective) -> SignIn:
    """`sign in R`, also by a grant, which is the same for clients. Whether there is such a row at all, only its
    password opens: guards, permissions and their details are asked of the row whose hash was verified, and of no other.
    No row rule hides it from whoever knows the password."""
    resource = acted_on(operation, perspective)
    named = [resource.fields[leaf.field] for leaf in operation.takes.body or ()]
    password = next(field for field in named if field.secret is not None)
    name = identifier(resource.name)

    before = _found(operation, resource, [field for field in named if field is not password], perspective)
    found = [*before, column(resource.name, password.name) + " = " + bind(inputs.VERIFIED_HASH)]

    required = [*parents(operation, perspective), _there("sign in refused", operation, resource)]
    required += permission(admission, resource, perspective)
    required += _granted(operation, resource, perspective)
    required += [guard(each, resource, perspective) for each in operation.guards]
    computed: dict[str, Fragment] = {}
    held_values, held_to, assigns = list[Made](), dict[str, Held](), tuple[Assign, ...]()
    if operation.sets:
        writes = replace(operation, takes=replace(operation.takes, body=()))  # that says which row it is
        changed = changes(writes, resource, perspective)
        values, assigns = values_computed(changed, writes, resource, perspective), changed.assigns
        computed = {field: value for field, (value, _) in values.items()}
        by_statement = {**dict(changed.sets), **changed.made}
        held_values, held_to = making(writes, resource, perspective).as_made(by_statement, values)
        required += uniques(writes, resource, perspective, on_update=True, in_statement=computed)

    columns = row_columns(resource, perspective)
    response = answer(operation, columns, perspective)
    checks = invariants(resource, perspective) if operation.sets or operation.further else []
    written = {*computed, *(each.field for each in assigns)} | written_further(operation, resource, perspective)
    steps = (
        caused(operation.verb, resource, operation, perspective),
        *endings(operation, resource, perspective.checked, _passwords(assigns)),
        *issue(operation, resource, perspective),
    )
    told = told_after(operation, resource, columns, checks, perspective, *steps, by_key=True)
    which = " WHERE " + all_of([*found, *(each.holds for each in required), *can_be_made(held_values)])
    source = f"{perspective.dialect.nothing} LEFT JOIN {name} AS {name} ON " + all_of(found)
    judged = judge(source, required, operation, resource, perspective, held_values)
    if operation.sets:
        text = _changed(name, computed, assigns, which, told.returning)
    else:
        text = pieces("SELECT " + told.returning + f" FROM {name} AS {name}" + which)
    kind = Grant if operation.kind.grants else SignIn
    return kind(
        resource=resource.name,
        response=response,
        statement=Statement(text, tuple(columns.results)),
        judge=judged,
        assigns=assigns,
        held=made_columns(held_values, held_to, judged),
        key=resource.primary_key,
        was=as_it_was(operation, resource, found, perspective),
        invariants=tuple(each.condition for each in checks),
        details=told.details,
        upholds=upheld(Change("changes", resource, frozenset(written), found), operation, perspective),
        follows=told.follows,
        password=_password(password, before, resource),
    )


def _there(otherwise: str, operation: Operation, resource: Resource) -> Requirement:
    """There is a row at all."""
    there = column(resource.name, resource.primary_key[0]) + " IS NOT NULL"
    return Requirement(Condition(otherwise, resource.name, trace=(operation.place,)), there, Scope.PRESENCE)


def _password(field: Field, found: Sequence[Fragment], resource: Resource) -> PasswordCheck:
    """Which hash the password is held to, where it is one; what is no password is compared as it is."""
    if field.secret != "password":
        return PasswordCheck(field.name, None)
    name, hash_ = identifier(resource.name), column(resource.name, field.name)
    find = f"SELECT {hash_.text} FROM {name} AS {name} WHERE " + all_of(found)
    return PasswordCheck(field.name, Statement(pieces(find), (ResultColumn("hash", Digest(nullable=True)),)))


def _changed(
    name: str, computed: dict[str, Fragment], assigns: tuple[Assign, ...], which: Fragment, returning: Fragment
) -> tuple[Piece, ...]:
    return (
        *pieces(f"UPDATE {name} SET {identifier(REVISION_COLUMN)} = " + bind(inputs.REVISION)),
        *(Piece(f", {identifier(field)} = {value.text}", value.binds) for field, value in computed.items()),
        *(_set(each) for each in assigns if not each.in_statement),
        *pieces(which),
        *pieces(" RETURNING " + returning),
    )


def _granted(operation: Mutation, resource: Resource, perspective: Perspective) -> list[Requirement]:
    """Of a grant: what is asked for is no more than the client may have."""
    if not operation.kind.grants:
        return []
    issued = next(each.verified for each in perspective.checked.schemes if each.name == operation.issues)
    assert isinstance(issued, Issued)
    return [only_granted(resource, issued, operation.place, perspective)]


def _passwords(assigns: tuple[Assign, ...]) -> tuple[str, ...]:
    return tuple(each.field for each in assigns if each.secret == "password")


def _found(operation: Operation, resource: Resource, named: list[Field], perspective: Perspective) -> list[Fragment]:
    """What says which row it is: the path, and the body. One that is gone has no credential."""
    found = path_conditions(operation, {resource.name: resource.name}, perspective)
    for each in named:
        found.append(column(resource.name, each.name) + " = " + bind(inputs.body_value(each.name, each.type)))
    there = perspective.there(resource.name, resource.name)
    return found if there is None else [*found, there]


def _set(assign: Assign) -> Piece:
    value = bind(inputs.new_value(assign.field, assign.type))
    return Piece(f", {identifier(assign.field)} = {value.text}", value.binds, f"new {assign.field}")


def sign_out(operation: stated.SignOut, admission: Admission, perspective: Perspective) -> SignOut:
    """Where neither the path nor `row` says whose, they are the caller's own: the row that the credential belongs to.
    It was there when the credential was found, so without it nobody is known."""
    resource = acted_on(operation, perspective)
    columns = row_columns(resource, perspective)
    name = identifier(resource.name)
    if is_of_caller(operation):
        found = _callers_own(resource)
        required_ = [_there("unauthenticated", operation, resource), *permission(admission, resource, perspective)]
        source = f"{perspective.dialect.nothing} LEFT JOIN {name} AS {name} ON " + all_of(found)
    else:
        found = says_which(operation, columns.rows, perspective)
        required_ = requirements_of_row(operation, admission, resource, perspective)
        source = outer_join(resource, operation, perspective)
    required_ += [guard(each, resource, perspective) for each in operation.guards]
    response = answer(operation, columns, perspective)
    steps = (
        caused("sign out", resource, operation, perspective),
        *endings(operation, resource, perspective.checked),
    )
    told = told_after(operation, resource, columns, [], perspective, *steps, by_key=True)
    which = " WHERE " + all_of([*found, *(each.holds for each in required_)])
    text = "SELECT " + told.returning + f" FROM {name} AS {name}" + which
    return SignOut(
        resource=resource.name,
        response=response,
        statement=Statement(pieces(text), tuple(columns.results)),
        judge=judge(source, required_, operation, resource, perspective),
        key=resource.primary_key,
        was=as_it_was(operation, resource, found, perspective),
        follows=told.follows,
    )


def is_of_caller(operation: Operation) -> bool:
    """Whether nothing but the credential itself says whose credentials end."""
    return not operation.names and operation.where is None


def _callers_own(resource: Resource) -> Sequence[Fragment]:
    own = Select(Variable("caller", Object()), resource.name, Row(resource=resource.name))
    return [
        column(resource.name, key) + " = " + bind(Select(own, key, required(resource.fields[key].type), "field"))
        for key in resource.primary_key
    ]
