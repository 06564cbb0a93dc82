"""Lines that can be pasted into a terminal, made from the plan: the first steps with a service just started."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING
from urllib.parse import quote

from ninefold.cli.announcement import blocked_by
from ninefold.development.claims import kinds
from ninefold.development.samples import sample
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.tree import Select, Variable
from ninefold.language.shapes import FORM
from ninefold.plan.authentication import Discovered, Issued, LookedUp, Password, Scheme, Signed
from ninefold.plan.operations import List, Read
from ninefold.plan.responses import Content, FromExpression, ObjectOf
from ninefold.plan.routes import Admission, Route, Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.writes import Create, Issue, Write
from ninefold.runtime.request.issuers import operator_value
from ninefold.values import Row

if TYPE_CHECKING:
    from ninefold.development.callers import Known


@dataclass(frozen=True, slots=True)
class Where:
    """Where a service is: its URL, the contract's file and the database's, as a command line names them, and by scheme
    the issuer that signs whatever it is asked to."""

    url: str
    document: str
    database: str
    issuers: Mapping[str, str] = field(default_factory=dict)


def lines(plan: ServicePlan, where: Where, given: Collection[str], functions: Collection[str] = ()) -> Iterator[str]:
    """Lines for a shell: create something as anyone; then for each scheme how a first credential of it comes to be, and
    one or two requests with it; and list something, as anyone if anyone may. What a line reads from the environment, a
    line before it has put there."""
    routes = [route for route in _complete(plan) if not blocked_by(plan, route, given, functions)]
    made = _first(plan, routes, where.url, "anyone", (Write,))
    listed = _first(plan, routes, where.url, "anyone", (List,))
    shown = dict.fromkeys(line for line in (made, listed) if line)
    yield from shown
    for scheme in plan.schemes:
        used = [_first(plan, routes, where.url, scheme.scheme, (kind,), scheme) for kind in (Write, List, Read)]
        with_it = list(dict.fromkeys(line for line in used if line))[:2]
        if not any(scheme.scheme in _callers_of(route) for route in plan.routes) or not _is_known(scheme, where, given):
            continue
        if isinstance(scheme.verified, Issued) and not _issuing(plan, scheme):
            yield f"# {scheme.scheme}: no endpoint issues a credential of it"
            continue
        for line in _obtained(plan, routes, scheme, where):
            if line not in shown:
                yield line
                shown[line] = None
        yield from with_it


def _is_known(scheme: Scheme, where: Where, given: Collection[str]) -> bool:
    """Whether somebody vouches for callers of the scheme: an issuer may be the operator's to name."""
    if scheme.signed is None or scheme.scheme in where.issuers:
        return True
    issuer = scheme.signed.issuer
    named = map(operator_value, (issuer.url,) if isinstance(issuer, Discovered) else (issuer.name, issuer.keys))
    return all(name is None or name in given for name in named)


def _callers_of(route: Route) -> Iterator[str]:
    if isinstance(route, Served):
        yield from (admission.who for admission in route.admissions)


def _complete(plan: ServicePlan) -> Iterator[Served]:
    """The endpoints that can be called by their path alone."""
    for route in plan.routes:
        if isinstance(route, Served) and all(isinstance(segment, str) for segment in route.segments):
            if route.cases is None and not any(each.required for each in (*route.query, *route.headers)):
                yield route


def _first(
    plan: ServicePlan,
    routes: Iterable[Served],
    url: str,
    who: str,
    kinds: tuple[type, ...],
    scheme: Scheme | None = None,
) -> str | None:
    """The line of the first endpoint that such a caller may call whatever it is, and that does such a thing; of writes
    the first that creates, and rather what refers to no row: nobody may have made one."""
    for route in sorted(routes, key=_refers):
        for admission in route.admissions:
            operation = admission.operation
            if admission.who != who or admission.condition is not None or not isinstance(operation, kinds):
                continue
            if isinstance(operation, Write) and not isinstance(operation, Create):
                continue
            if line := _line(plan, route, url, scheme):
                return line
    return None


def _refers(route: Served) -> bool:
    """Whether a body has to say of which row of another resource the new one is."""
    if route.body is None or not isinstance(found := sample(route.body.schema), dict):
        return False
    return any(
        isinstance(each.type, Row) and each.pointer[:1] and each.pointer[0] in found for each in route.body.fields
    )


# ── Credentials ───────────────────────────────────────────────────────────────────────────────────────────────────


def _obtained(plan: ServicePlan, routes: Sequence[Served], scheme: Scheme, where: Where) -> Iterator[str]:
    """How a first credential of a scheme comes to be. The last line puts it into the environment."""
    variable, verified = _variable(scheme), scheme.verified
    for route in routes:
        for admission in route.admissions:
            if (told := _tells(admission, scheme)) is None or not (line := _line(plan, route, where.url, None)):
                continue
            if isinstance(verified, Issued) and not _makes(admission, verified.resource):
                yield _row_made(plan, routes, verified.resource, where)
            yield line
            yield f"{variable}='the {told} of that answer'"
            return
    match verified:
        case LookedUp(resource=resource):
            yield _added(plan, resource, where)
            yield f"{variable}='the {_token_of(plan, resource)} that add shows'"
        case Password(resource=resource, user=user, password=password):
            yield _row_made(plan, routes, resource, where)
            row = _sample_of(plan, resource)
            yield f"{variable}={shlex.quote(f'{_text(row.get(user))}:{_text(row.get(password))}')}"
        case Signed() if scheme.scheme in where.issuers:
            first, *others = kinds(plan, scheme)
            claims = " ".join(f"-d {shlex.quote(f'{name}={_text(value)}')}" for name, value in first.claims.items())
            asked = f"curl -s {claims or '-X POST'} {where.issuers[scheme.scheme]}/token"
            yield f'{variable}=$({asked} | sed -n \'s/.*"access_token": "\\(.*\\)".*/\\1/p\')'
            for kind in others:
                yield f"# {kind.words} in its place: for {', '.join(kind.endpoints)}"
        case Signed():
            yield f"{variable}='a token of its issuer, for the audience {verified.audience}'"
        case Issued():
            yield f"{variable}='what {' or '.join(_issuing(plan, scheme))} issues'"
        case _:
            yield f"{variable}='the file of a certificate with its key'"


def _issuing(plan: ServicePlan, scheme: Scheme) -> list[str]:
    """The endpoints that issue credentials of a scheme."""
    return [
        route.key
        for route in plan.routes
        if isinstance(route, Served)
        and any(isinstance(each.operation, Write) and _issues(each.operation, scheme) for each in route.admissions)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _tells(admission: Admission, scheme: Scheme) -> str | None:
    """The member of the answer in which anyone is told a new credential of a scheme; None: nobody is."""
    operation = admission.operation
    if admission.who != "anyone" or admission.condition is not None or not isinstance(operation, Write):
        return None
    of_row = isinstance(scheme.verified, LookedUp) and _makes(admission, scheme.verified.resource)
    return _told(operation.response.content) if of_row or _issues(operation, scheme) else None


def _issues(write: Write, scheme: Scheme) -> bool:
    issue = write.step(Issue)
    return issue is not None and issue.scheme == scheme.scheme


def _makes(admission: Admission, resource: str) -> bool:
    operation = admission.operation
    return isinstance(operation, Create) and operation.resource == resource


def _row_made(plan: ServicePlan, routes: Iterable[Served], resource: str, where: Where) -> str:
    """A line by which there is a row of a resource: as anyone makes one, else as the operator does."""
    for route in routes:
        for admission in route.admissions:
            if admission.who == "anyone" and admission.condition is None and _makes(admission, resource):
                if line := _line(plan, route, where.url, None):
                    return line
    return _added(plan, resource, where)


def _token_of(plan: ServicePlan, resource: str) -> str:
    adding = next((each.adding for each in plan.operator_operations if each.resource == resource), None)
    fields = [assign.field for assign in adding.create.assigns if assign.secret == "token"] if adding else []
    return fields[0] if len(fields) == 1 else "token"


def _sample_of(plan: ServicePlan, resource: str) -> dict[str, object]:
    adding = next((each.adding for each in plan.operator_operations if each.resource == resource), None)
    row = None if adding is None else sample(adding.body.schema)
    return row if isinstance(row, dict) else {}


def _added(plan: ServicePlan, resource: str, where: Where) -> str:
    """A row that the operator adds, while nobody serves the database."""
    values = [shlex.quote(f"{name}={_text(value)}") for name, value in _sample_of(plan, resource).items()]
    words = ["ninefold add", shlex.quote(where.document), resource, *values, "--database", shlex.quote(where.database)]
    return " ".join(words) + "  # while the service is stopped"


def _told(content: Content | None) -> str | None:
    """Where a response tells the credential that was just issued, as members with dots between them."""
    match content:
        case FromExpression(expression=Select(operand=Variable(name="caller"), name="credential")):
            return "credential"
        case FromExpression(expression=Select(operand=Variable(name="issued"))):
            return "credential"
        case ObjectOf(members=members):
            for name, each in members:
                told = _told(each)
                if told is not None:
                    return name if told == "credential" and isinstance(each, FromExpression) else f"{name}.{told}"
    return None


def _line(
    plan: ServicePlan, route: Served, url: str, scheme: Scheme | None, credential: str | None = None
) -> str | None:
    """`credential` None: it is the reader's to put in."""
    segments = (segment for segment in route.segments if isinstance(segment, str))
    target = url + "/" + "/".join((*plan.base, *segments))
    words = ["curl", "-i"]
    if scheme is None:
        words.append(shlex.quote(target))
    else:
        words += _authenticated(target, scheme, credential)
    if route.body is not None and not route.body.optional:
        body = sample(route.body.schema)
        if body is None:
            return None
        words += ["-H", shlex.quote(f"Content-Type: {route.body.media_types[0]}")]
        if route.body.media_types[0].lower().startswith(FORM) and isinstance(body, dict):
            for name, value in body.items():
                for each in value if isinstance(value, list) else [value]:
                    text = each if isinstance(each, str) else json.dumps(each)
                    words += ["--data-urlencode", shlex.quote(f"{name}={text}")]
        else:
            words += ["-d", shlex.quote(json.dumps(body, ensure_ascii=False))]
    elif route.method != "GET":
        words[1:1] = ["-X", route.method]
    return " ".join(words)


def _authenticated(target: str, scheme: Scheme, known: str | None) -> list[str]:
    """A URL, and the option that carries a credential: one that is `known`, or one that is the reader's to put in, from
    the environment. In the query it stands in the URL: curl has options for that which old ones do not know, or which
    take the body for a part of the query."""

    def behind(text: str) -> str:
        return _before_variable(text, scheme) if known is None else shlex.quote(text + known)

    url = shlex.quote(target)
    if isinstance(scheme.verified, Password):
        return [url, "-u", behind("")]
    match scheme.where:
        case "authorization":
            return [url, "-H", behind(f"Authorization: {scheme.auth_scheme} ")]
        case "header":
            return [url, "-H", behind(f"{scheme.name}: ")]
        case "cookie":
            return [url, "-b", behind(f"{scheme.name}=")]
        case "query":
            named = f"{target}?{quote(scheme.name, safe='')}="
            return [_before_variable(named, scheme) if known is None else shlex.quote(named + quote(known, safe=""))]
        case "certificate":
            return [url, "--cert", behind("")]


def _before_variable(text: str, scheme: Scheme) -> str:
    """One word of a shell. A header's name may hold what a shell obeys (RFC 9110 5.6.2): it is then quoted apart."""
    plain = re.fullmatch(r"[\w:= /?.%~-]*", text, re.ASCII)
    return f'"{text}${_variable(scheme)}"' if plain else f'{shlex.quote(text)}"${_variable(scheme)}"'


def _variable(scheme: Scheme) -> str:
    """A name that a shell takes."""
    return re.sub(r"^(?=[0-9])|\W", "_", scheme.scheme, flags=re.ASCII).upper()


def caller_lines(plan: ServicePlan, url: str, given: Collection[str], known: Iterable[Known]) -> Iterator[str]:
    """A `curl` line for anyone, and for each caller whose credential is known: what such a caller may read with its
    path alone, else what it may do so."""
    routes = [route for route in _complete(plan) if not blocked_by(plan, route, given)]
    schemes = {scheme.scheme: scheme for scheme in plan.schemes}
    for caller in (None, *known):
        admitted = [route for route in routes if _admitted(route, caller)]
        for route in sorted(admitted, key=lambda route: route.method != "GET"):
            scheme = None if caller is None else schemes[caller.scheme]
            line = _line(plan, route, url, scheme, None if caller is None else caller.credential)
            if line:
                yield f"{line}  # " + ("anyone" if caller is None else f"{caller.scheme}: {caller.who}")
                break


def _admitted(route: Served, caller: Known | None) -> bool:
    """Whether a caller may call it, as far as can be told without a row; None: anyone."""
    who = "anyone" if caller is None else caller.scheme
    more = caller is not None and route.key in caller.more
    return any(each.who == who and (each.condition is None or more) for each in route.admissions)
