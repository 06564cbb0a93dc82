"""`ninefold plan FILE`"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Literal, assert_never

from ninefold.cli.commands import AcceptProposals, File
from ninefold.cli.document import has_routes, planned
from ninefold.cli.terminal import say, say_json
from ninefold.expressions.tree import words
from ninefold.plan.authentication import (
    AnyCertificate,
    CertificateOf,
    Discovered,
    Issued,
    LookedUp,
    Password,
    PasswordCheck,
    Published,
    Scheme,
    Signed,
)
from ninefold.plan.likewise import takes_steps
from ninefold.plan.operations import Compute, List, Operation, Read, Stream, Sweep
from ninefold.plan.problems import Condition, Judge
from ninefold.plan.responses import Response
from ninefold.plan.routes import Admission, Blocked, Body, Cases, Route, Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import Statement, switched
from ninefold.plan.writes import (
    Create,
    Delete,
    Effects,
    Ending,
    Issue,
    Occurrences,
    ReadBack,
    SameRow,
    Scopes,
    SignIn,
    Step,
    Subscription,
    Write,
    as_it_was,
    given_values,
    own_invariants,
    untouched,
)
from ninefold.runtime.store.tables import create_rows


def plan(file: File, /, *, format: Literal["text", "json"] = "text", accept_proposals: AcceptProposals = False) -> int:
    """Show what would be served, statements included.

    The tables as they would be made; each endpoint with what it runs for each kind of caller, piece by piece, and
    the conditions that refuse it. A piece in brackets takes part where the request gives what is named in front of
    it. The JSON is the whole plan, as the server takes it.

    Exit status: 0, or 1 if the contract has errors or leaves nothing to serve.

        ninefold plan contract.md | less
        ninefold plan contract.md --format json > plan.json
    """
    _, served = planned(file, accept_proposals)
    if format == "json":
        say_json(served)
    else:
        say(listing(served))
    return 0 if has_routes(served) else 1


def listing(plan: ServicePlan) -> str:
    """The whole plan as text, ending in a line break."""
    lines = [f"{plan.title} ({plan.name})", "", *_tables(plan)]
    lines += ["Callers", "", *_callers(plan), ""]
    for route in plan.routes:
        lines += [*_route(route), ""]
    for version in () if plan.versions is None else plan.versions.versions:
        if version.problems is not None:
            lines += [f"Version {version.name}", ""]
            for route in version.routes:
                lines += [*_route(route), ""]
    for title, notes in (
        ("Given by the operator", [f"operator.{value.name}" for value in plan.operator]),
        ("Stated, and not in force in this build", [f"{each.what}: {each.consequence}" for each in plan.not_in_force]),
        (
            "In force only because proposals are accepted",
            [f"{each.path} (line {each.place.line})" for each in plan.proposals],
        ),
        ("Left out, because it is not shown", plan.gaps),
    ):
        if notes:
            lines += [title, "", *(f"  - {note}" for note in notes), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _tables(plan: ServicePlan) -> Iterator[str]:
    if plan.schema.tables:
        yield from ("Tables", "")
    for statements in create_rows(plan.schema):
        yield from (textwrap.indent(statement + ";", "  ") for statement in statements)
        yield ""


def _callers(plan: ServicePlan) -> Iterator[str]:
    for scheme in plan.schemes:
        match scheme.verified:
            case LookedUp(resource=resource, find=find) | Issued(resource=resource, find=find):
                yield f"  {scheme.scheme}: {scheme.where} {scheme.name}, caller.{resource} by"
                yield from _indent(_statement(find), 2)
            case Password(resource=resource, find=find, user=user, password=password):
                of = f"the password held to {resource}.{password}"
                yield f"  {scheme.scheme}: {scheme.where} {scheme.name}, caller.{resource} by its {user}, {of}"
                yield from _indent(_statement(find), 2)
            case CertificateOf(resource=resource, find=find, presented=presented):
                yield f"  {scheme.scheme}: a client's certificate, caller.{resource} by {words(presented)} and"
                yield from _indent(_statement(find), 2)
                yield from _added(scheme)
            case AnyCertificate():
                yield f"  {scheme.scheme}: a client's certificate"
                yield from _added(scheme)
            case Signed():
                yield from _signed(scheme, scheme.verified)
            case None:
                yield f"  {scheme.scheme}: not in force, no credential is accepted"
            case _:
                assert_never(scheme.verified)
    yield "  anyone"


def _signed(scheme: Scheme, signed: Signed) -> Iterator[str]:
    yield f"  {scheme.scheme}: {scheme.where} {scheme.name}, a token signed for {signed.audience}"
    match signed.issuer:
        case Discovered(url):
            yield f"    by the issuer {words(url)}"
        case Published(name, keys):
            yield f"    by the issuer {words(name)}, with a key of {words(keys)}"
        case _:
            assert_never(signed.issuer)
    yield f"    algorithms: {', '.join(signed.algorithms) or 'asymmetric ones that the issuer publishes'}"
    if signed.scopes:
        yield f"    caller.scopes: those of {', '.join(signed.scopes)}"
    yield from _added(scheme)


def _added(scheme: Scheme) -> Iterator[str]:
    yield from (f"    caller.{name}: {words(value)}" for name, value in scheme.adds)


def _route(route: Route) -> Iterator[str]:
    yield route.key
    match route:
        case Blocked(reasons=reasons):
            yield "  answers 501: " + "; ".join(reasons)
        case Served():
            if route.body is not None and route.cases is None:
                yield "  body: " + _body(route.body)
            for parameter in (*route.query, *route.headers):
                yield f"  parameter {parameter.name}"
            if not route.admissions:
                yield "  nobody is admitted"
            for admission in route.admissions if route.cases is None else ():
                yield from _indent(_admission(admission, takes_steps(route, admission)), 1)
            if route.cases is not None:
                yield from _indent(_cases(route, route.cases), 1)
        case _:
            assert_never(route)


def _cases(route: Served, cases: Cases) -> Iterator[str]:
    by = f"request.body.{cases.member}" if cases.by is None else words(cases.by)
    yield f"the case is chosen by {by}"
    for number, case in enumerate(cases.cases, 1):
        yield "all others:" if case.name is None else f"where it is {case.name}:"
        if case.body is not None:
            yield "  body: " + _body(case.body)
        for admission in route.admissions:
            if admission.case == number:
                yield from _indent(_admission(admission, takes_steps(route, admission)), 1)


def _body(body: Body) -> str:
    fields = ", ".join(field.field for field in body.fields) or "no fields"
    merge = ", a merge patch (RFC 7396)" if body.merge else ", a JSON Patch (RFC 6902)" if body.edits else ""
    return f"{' or '.join(body.media_types)} with {fields}{merge}; other members are {body.unknown}"


def _admission(admission: Admission, why: str | None) -> Iterator[str]:
    only = f", if {words(admission.condition)}" if admission.condition is not None else ""
    yield f"{admission.who}{only}:"
    yield from _indent(_operation(admission.operation), 1)
    if why is None:
        yield "  one function answers who is kept, where a request is like an earlier one"
    else:
        yield f"  all requests take the steps: {why}"


def _operation(operation: Operation) -> Iterator[str]:
    match operation:
        case Read():
            yield f"read {operation.resource}"
            yield from _indent(_statement(operation.select), 1)
            yield from _judge(operation.judge)
        case List():
            yield f"list {operation.resource}, {_pages(operation)}"
            for reason in operation.grows:
                yield f"  costs the more, the more rows there are: {reason}"
            yield from _indent(_statement(operation.select), 1)
            if operation.count is not None:
                yield "page.total"
                yield from _indent(_statement(operation.count), 1)
            if operation.head is not None:
                yield "beside the rows"
                yield from _indent(_statement(operation.head), 1)
            if operation.judge is not None:
                yield from _judge(operation.judge)
        case Write():
            yield from _write(operation)
        case Sweep(change=change):
            yield f"all rows of {operation.resource}, by"
            if change.find is not None:
                yield from _indent(_statement(change.find), 1)
            if operation.judge is not None:
                yield from _judge(operation.judge)
            yield "each of them"
            yield from _indent(_operation(change.write), 1)
            if operation.items is not None:
                before = "before the deletion" if isinstance(change.write, Delete) else "then"
                yield f"{before}, in the same transaction"
                yield from _indent(_statement(operation.items), 1)
            if operation.head is not None:
                yield "beside the rows"
                yield from _indent(_statement(operation.head), 1)
        case Stream():
            yield "stream event"
            yield from _indent(_statement(operation.select), 1)
        case Compute():
            yield "compute"
            if operation.select is not None:
                yield from _indent(_statement(operation.select), 1)
        case _:
            assert_never(operation)
    yield _response(operation.response)


def _write(write: Write) -> Iterator[str]:
    yield f"{write.verb} {write.resource}"
    for assign in given_values(write):
        given = ["the body"] if assign.given else []
        made = [words(assign.otherwise)] if assign.otherwise is not None else []
        yield f"  $new.{assign.field}: {', else '.join(given + made) or 'no value'}"
    occurrences = write.step(Occurrences)
    for event in write.events if occurrences is not None and occurrences.before else ():
        yield f"the event {event.kind}: its row, before the deletion"
        yield from _indent(_statement(event.select), 1)
    if isinstance(write, SignIn):
        yield from _indent(_password(write.password), 1)
    if (was := as_it_was(write)) is not None:
        yield "before.R: the row as it was, in the same transaction"
        yield from _indent(_statement(was), 1)
    if isinstance(write, Create) and write.plainly is not None:
        yield from _indent(_statement(write.plainly.statement), 1)
        yield f"that gives {', '.join(map(words, write.plainly.row))}; where it is refused"
    yield from _indent(_statement(write.statement), 1)
    if (without := untouched(write)) is not None:
        yield f"where that touches nothing: {_response(without.response)}, if there is a row of"
        yield from _indent(_statement(without.statement), 1)
    for step in write.follows:
        yield from _step(step)
    for condition in own_invariants(write):
        yield f"undone if it fails {_condition(condition)}"
    yield from _judge(write.judge)


def _password(password: PasswordCheck) -> Iterator[str]:
    if password.find is None:
        yield f"$verified.hash: the digest of the body's {password.field}"
        return
    yield f"$verified.hash: that of the password in the body's {password.field}, if it is right"
    yield from _indent(_statement(password.find), 1)


def _step(step: Step) -> Iterator[str]:
    match step:
        case Occurrences():
            for event in step.events if not step.before else ():
                yield f"the event {event.kind}, in the same transaction"
                yield from _indent(_statement(event.select), 1)
        case SameRow():
            yield "with the same row, in the same transaction"
            yield from _indent(_operation(step.write), 1)
        case ReadBack():
            yield "then, in the same transaction"
            yield from _indent(_statement(step.select), 1)
        case Ending():
            where = f"where {' or '.join(step.fields)} is written, " if step.fields else ""
            yield f"{where}credentials of the row end"
            yield from _indent(_statement(step.statement), 1)
        case Scopes():
            yield f"of the scopes {', '.join(step.scopes)}, those that it is granted"
            yield from _indent(_statement(step.find), 1)
        case Issue():
            yield f"a credential of {step.scheme}, in the same transaction"
            for statement in (step.store, step.store_scopes, step.clean):
                yield from _indent(_statement(statement), 1) if statement is not None else ()
        case Effects() | Subscription():
            pass  # told by `explain`
        case _:
            assert_never(step)


def _pages(operation: List) -> str:
    paging = operation.paging
    if paging.by == "none":
        return "all of it"
    most = "any size" if paging.maximum is None else f"at most {paging.maximum}"
    return f"pages by {paging.by}, {paging.default} where no size is asked for, {most}"


def _judge(judge: Judge) -> Iterator[str]:
    yield "nothing found or touched: " + (", ".join(map(_condition, judge.conditions)) or "no condition") + ", by"
    yield from _indent(_statement(judge.statement), 1)


def _condition(condition: Condition) -> str:
    name = f"{condition.condition} {condition.subject}" if condition.subject else condition.condition
    return f"{name} ({condition.code})" if condition.code else name


def _response(response: Response) -> str:
    tag = ", with an entity tag" if response.revision is not None else ""
    return f"{response.status}, {response.media_type or 'no body'}{tag}"


def _statement(statement: Statement) -> Iterator[str]:
    """The pieces one after another, those under a switch in brackets; then what each question mark stands for."""
    text = "".join(
        piece.text if piece.when is None and piece.unless is None else f" {switched(piece, piece.text.strip())} "
        for piece in statement.pieces
    )
    yield from text.strip().split("\n")
    binds = [words(bind) for piece in statement.pieces for bind in piece.binds]
    yield from (f"? {number}  {bind}" for number, bind in enumerate(binds, 1))


def _indent(lines: Iterable[str], depth: int) -> Iterator[str]:
    return ("  " * depth + line for line in lines)
