"""Who signs in, and by which password; and by which grant: who the clients are, and what a token is granted (RFC 6749,
sections 3.2 and 4.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ninefold.checked.bodies import BodyLeaf
from ninefold.checked.operations import PathName, Segment
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Password
from ninefold.checks.callers import issued_scheme
from ninefold.checks.findings import Findings
from ninefold.diagnostics.codes import NOT_FOUND_BY, NOT_GRANTED, SIGN_IN_BODY
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.language import authentication as stated
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Gap, Proposal, Shown, StatedNone, value_of
from ninefold.language.routes import WITHOUT_CONTENT
from ninefold.plan.authentication import CLIENT, SECRET
from ninefold.values import Text

SECRETS = frozenset({"password", "token"})
"""What a client can be held to."""


def check_password(scheme: stated.Scheme, resources: Mapping[str, Resource], findings: Findings) -> Password | None:
    """Of HTTP's Basic scheme: the field that a user-id is, and that of the password."""
    matches = value_of(scheme.matches)
    if matches is None or not scheme.is_basic:
        return None
    name, _, user = matches.text.partition(".")
    resource = resources.get(name)
    field = None if resource is None else resource.fields.get(user)
    if resource is None or field is None:
        return None
    if not _is_unique((user,), resource) and _may_be_unique(user, name, findings):
        return None
    passwords = [each for each in resource.fields.values() if each.secret == "password"]
    if field.secret is not None or not field.stored or not _is_unique((user,), resource):
        why = "is secret" if field.secret else "is computed" if not field.stored else "may be the same in several rows"
        unique = [each.name for each in resource.fields.values() if each.unique and each.secret is None]
        findings.say(
            NOT_FOUND_BY,
            f"`{matches.text}` is no user-id",
            Label(matches.span, f"`{matches.text}` {why}"),
            help=(f"name the unique field that users call themselves by, such as `{name}.{unique[0]}`",)
            if unique
            else (),
        )
        return None
    if len(passwords) > 1:
        findings.say(
            NOT_FOUND_BY,
            f"a `{name}` has {len(passwords)} passwords",
            Label(matches.span, "which one is meant, nothing says"),
        )
    return Password(name, user, passwords[0].name) if len(passwords) == 1 else None


def _is_unique(named: Collection[str], resource: Resource) -> bool:
    """Whether values of these fields are those of one row at most."""
    return any(set(group) <= set(named) for group in resource.keys)


def _may_be_unique(user: str, of: str, findings: Findings) -> bool:
    """Whether what would say that values of a field are those of one row is a gap."""
    (declared,) = (each for each in findings.resources if each.name == of)
    own = (each.unique for each in value_of(declared.fields) or () if each.name == user)
    return any(isinstance(fact, Gap | Proposal) for fact in (declared.unique, *own))


def known_by_these(named: Collection[str], segments: Sequence[Segment], resource: Resource) -> bool:
    """Whether there is one row at most with what the path and these fields say."""
    return _is_unique({*named, *_from_path(segments)}, resource)


def check_sign_in(
    endpoint: Endpoint,
    resource: Resource,
    body: Sequence[BodyLeaf] | None,
    segments: Sequence[Segment],
    findings: Findings,
) -> bool:
    """Whether path and body say who signs in, and by which password."""
    place = endpoint.body.span if isinstance(endpoint.body, Shown | StatedNone) else endpoint.span
    if body is None:
        if endpoint.body is None and endpoint.method in WITHOUT_CONTENT:  # else it is asked for, or wrong
            told = "a password in a path or a query would stand in logs: the body of a POST gives it"
            _no_sign_in("a sign in checks one password", "no body gives one", place, endpoint, findings, (told,))
        return False
    named = [resource.fields[leaf.field] for leaf in body]
    passwords = [field for field in named if field.secret == "password"]
    token = next((field for field in named if field.secret == "token"), None)
    own = [each.name for each in resource.fields.values() if each.secret == "password"]
    if token is not None:
        _no_sign_in(f"`{resource.name}.{token.name}` is a token", "nobody signs in with it", place, endpoint, findings)
    elif len(passwords) != 1:
        label = "no password" if not passwords else "several passwords"
        help = (f"the password of a `{resource.name}` is `{own[0]}`",) if len(own) == 1 and not passwords else ()
        if own:
            _no_sign_in("a sign in checks one password", label, place, endpoint, findings, help)
    else:
        known = {field.name for field in named if field is not passwords[0]} | set(_from_path(segments))
        if _is_unique(known, resource):
            return True
        groups = [*((each.name,) for each in _unique(resource)), *resource.unique]
        help = (f"name what only one has, such as `{', '.join(groups[0])}`",) if groups else ()
        message = f"a `{resource.name}` is not known by what is given"
        _no_sign_in(message, "may be the same in several rows", place, endpoint, findings, help)
    return False


def _unique(resource: Resource) -> list[Field]:
    return [each for each in resource.fields.values() if each.unique and each.secret is None]


def _from_path(segments: Sequence[Segment]) -> list[str]:
    """The fields that the path gives: of the row itself, and its references to rows that it names."""
    names = [each for each in segments if isinstance(each, PathName)]
    return [each.through[0] if len(each.through) == 1 else each.field for each in names if len(each.through) < 2]


def _no_sign_in(
    message: str, label: str, place: object, endpoint: Endpoint, findings: Findings, help: tuple[str, ...] = ()
) -> None:
    findings.say(SIGN_IN_BODY, f"{message}: `{endpoint.key}`", Label(place, label), help=help)  # type: ignore[arg-type]


# ── Grants ────────────────────────────────────────────────────────────────────────────────────────────────────


def check_grant(
    endpoint: Endpoint,
    resource: Resource,
    body: Sequence[BodyLeaf] | None,
    segments: Sequence[Segment],
    findings: Findings,
) -> tuple[BodyLeaf, ...] | None:
    """The client's identifier and its secret, as the body names them; None: that is open or wrong."""
    if body is None:
        return None
    place = endpoint.body.span if isinstance(endpoint.body, Shown | StatedNone) else endpoint.span
    found = _found(endpoint, resource, body, segments, place, findings)
    if endpoint.method and endpoint.method != "POST":
        _say(f"`{endpoint.key}` grants tokens", endpoint.span, "clients ask for one by POST", findings)
        found = None
    if endpoint.issues is None:
        help = f"name the scheme: `issues: …`, which is `issued to: {resource.name}`"
        _say(f"`{endpoint.key}` grants no token", endpoint.span, "issues nothing", findings, help)
        return None
    scheme = issued_scheme(endpoint, findings.survey)
    return None if scheme is None or value_of(scheme.type) is None else found


def _found(
    endpoint: Endpoint,
    resource: Resource,
    body: Sequence[BodyLeaf],
    segments: Sequence[Segment],
    place: Span,
    findings: Findings,
) -> tuple[BodyLeaf, ...] | None:
    secrets = [leaf for leaf in body if resource.fields[leaf.field].secret in SECRETS]
    others = [leaf for leaf in body if leaf not in secrets]
    help = f"write `body: {{{CLIENT}: …, {SECRET}: …}}`"
    if len(secrets) != 1 or len(others) != 1:
        label = "names neither" if not body else f"names {len(others)} and {len(secrets)} of these"
        message = f"a client of `{endpoint.key}` has one identifier and one secret"
        _say(message, place, label, findings, help)
        return None
    [secret], [client] = secrets, others
    field = resource.fields[client.field]
    called = {"/".join(client.pointer): CLIENT, "/".join(secret.pointer): SECRET}
    if not isinstance(field.type, Text) or field.secret is not None:
        _say(f"`{resource.name}.{field.name}` is no text", place, f"`{CLIENT}` is one", findings)
        return None
    if not known_by_these([field.name], segments, resource):
        message = f"a `{resource.name}` is not known by `{field.name}`"
        _say(message, place, "may be the same in several rows", findings)
        return None
    wrong = [written for written, meant in called.items() if written != meant]
    if wrong and resource.fields[client.field].seen is None and resource.fields[secret.field].seen is None:
        message = f"clients of `{endpoint.key}` call it otherwise than `{wrong[0]}`"
        _say(message, place, f"it is called `{called[wrong[0]]}`", findings, help)
        return None
    return (replace(client, pointer=(CLIENT,)), replace(secret, pointer=(SECRET,)))


def _say(message: str, place: Span, label: str, findings: Findings, help: str = "") -> None:
    findings.say(NOT_GRANTED, message, Label(place, label), help=(help,) if help else ())
