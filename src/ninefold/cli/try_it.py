"""Lines that can be pasted into a terminal, made from the plan: the first steps with a service just started."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator

from ninefold.cli.announcement import blocked_by
from ninefold.development.callers import Known
from ninefold.development.samples import sample
from ninefold.expressions.tree import Select, Variable
from ninefold.plan.authentication import Issued, LookedUp, Password, Scheme
from ninefold.plan.operations import Issue, List, Write
from ninefold.plan.responses import Content, FromExpression, ObjectOf
from ninefold.plan.routes import Admission, Served
from ninefold.plan.service import ServicePlan
from ninefold.vocabulary.endpoints import FORM


def lines(plan: ServicePlan, url: str, given: Collection[str]) -> Iterator[str]:
    """At most three `curl` lines: create something as anyone, create something with a credential, list something;
    and where the credential of the later ones is in the answer to the first, a line that says so."""
    routes = [route for route in _complete(plan) if not blocked_by(plan, route, given)]
    schemes = {scheme.scheme: scheme for scheme in plan.schemes if isinstance(scheme.verified, LookedUp | Issued)}
    found: dict[str, str] = {}
    for route in routes:
        for admission in route.admissions:
            kind = _kind(admission, schemes)
            line = _line(plan, route, url, schemes.get(admission.who)) if kind and kind not in found else None
            if kind and line:
                found[kind] = line
                break
    for kind in ("create as anyone", "create", "list"):
        if kind in found:
            yield found[kind]
        if kind == "create as anyone" and kind in found and len(found) > 1:
            yield from _secrets(routes, schemes.values())


def _complete(plan: ServicePlan) -> Iterator[Served]:
    """The endpoints that can be called by their path alone."""
    for route in plan.routes:
        if isinstance(route, Served) and all(isinstance(segment, str) for segment in route.segments):
            if route.cases is None and not any(each.required for each in (*route.query, *route.headers)):
                yield route


def _secrets(routes: Iterable[Served], schemes: Iterable[Scheme]) -> Iterator[str]:
    for scheme in schemes:
        for route in routes:
            for admission in route.admissions:
                match admission:
                    case Admission(who="anyone", operation=Write(verb="create", issues=Issue(scheme=name)) as made) if (
                        name == scheme.scheme and (told := _told(made.response.content))
                    ):
                        yield f"{_variable(scheme)}='the {told} of that answer'"
                        return
                    case Admission(who="anyone", operation=Write(verb="create", resource=resource, assigns=assigns)):
                        fields = [assign.field for assign in assigns if assign.secret == "token"]
                        if scheme.of_row and resource == scheme.of_row.resource and len(fields) == 1:
                            yield f"{_variable(scheme)}='the {fields[0]} of that answer'"
                            return


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


def _kind(admission: Admission, schemes: Collection[str]) -> str | None:
    match admission.operation:
        case Write(verb="create"):
            return "create as anyone" if admission.who == "anyone" else "create" if admission.who in schemes else None
        case List():
            return "list" if admission.who == "anyone" or admission.who in schemes else None
        case _:
            return None


def _line(
    plan: ServicePlan, route: Served, url: str, scheme: Scheme | None, credential: str | None = None
) -> str | None:
    """`credential` None: it is the reader's to put in."""
    segments = (segment for segment in route.segments if isinstance(segment, str))
    target = url + "/" + "/".join((*plan.base, *segments))
    words = ["curl", "-i", shlex.quote(target)]
    if scheme is not None:
        words += _credential(scheme) if credential is None else _with(scheme, credential)
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


def _credential(scheme: Scheme) -> list[str]:
    """The option that carries a credential; its value is the reader's to put in, from the environment."""
    match scheme.where:
        case "authorization":
            return ["-H", _before_variable(f"Authorization: {scheme.name} ", scheme)]
        case "header":
            return ["-H", _before_variable(f"{scheme.name}: ", scheme)]
        case "cookie":
            return ["-b", _before_variable(f"{scheme.name}=", scheme)]
        case "query":
            return ["-G", "--data-urlencode", _before_variable(f"{scheme.name}=", scheme)]
        case "certificate":
            return ["--cert", f'"${_variable(scheme)}"']


def _with(scheme: Scheme, credential: str) -> list[str]:
    """The option that carries a credential that is known."""
    if isinstance(scheme.verified, Password):
        return ["-u", shlex.quote(credential)]
    match scheme.where:
        case "authorization":
            return ["-H", shlex.quote(f"Authorization: {scheme.name} {credential}")]
        case "header":
            return ["-H", shlex.quote(f"{scheme.name}: {credential}")]
        case "cookie":
            return ["-b", shlex.quote(f"{scheme.name}={credential}")]
        case "query":
            return ["-G", "--data-urlencode", shlex.quote(f"{scheme.name}={credential}")]
        case "certificate":
            return ["--cert", shlex.quote(credential)]


def _before_variable(text: str, scheme: Scheme) -> str:
    """One word of a shell. A header's name may hold what a shell obeys (RFC 9110 5.6.2): it is then quoted apart."""
    plain = re.fullmatch(r"[\w:= -]+", text, re.ASCII)
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
