"""Parts 4 and 5: credentials that the service issues, and passwords: whose they are, and who is given one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ninefold.checked.endpoints import BodyLeaf, Content, PathName, Response, Segment
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Issued, Password
from ninefold.checks.codes import (
    CREDENTIAL_KEPT,
    ISSUER_TWICE,
    ISSUES_FOR_NOBODY,
    NEVER_ISSUED,
    NEVER_TOLD,
    NOT_FOUND_BY,
    SIGN_IN_BODY,
)
from ninefold.checks.findings import Findings
from ninefold.checks.responses import all_expressions, expressions_of
from ninefold.contract import authentication as stated
from ninefold.contract.endpoints import Endpoint
from ninefold.contract.fact import Shown, StatedNone, value_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Member, Name, every
from ninefold.expressions.rewrite import walk
from ninefold.expressions.tree import Select, Variable

ISSUING = frozenset({"create", "update", "replace", "transition", "sign in"})
"""The verbs after which there is one row, which a credential can be of."""


def check_issued(scheme: stated.Scheme, resources: Mapping[str, Resource], findings: Findings) -> Issued | None:
    """Of a scheme whose credentials the service makes; None: it is another, or something of it is open or wrong."""
    kind, owner = value_of(scheme.type), value_of(scheme.issued_to)
    if kind is None or owner is None:
        return None
    if isinstance(scheme.matches, Shown):
        findings.say(
            ISSUER_TWICE,
            f"`{scheme.name}` says in two ways whose its credentials are",
            Label(owner.span, "`issued to` is one"),
            Label(scheme.matches.span, "`matches` is another"),
        )
        return None
    if kind.text not in ("http", "apiKey") or scheme.is_basic:
        presented = "a user-id and a password" if scheme.is_basic else f"those of `{kind.text}`"
        findings.say(
            NOT_FOUND_BY,
            f"the credentials of `{scheme.name}` are not the service's to make",
            Label(owner.span, f"they are {presented}"),
            help=("a service issues credentials of the types `http` (such as `scheme: bearer`) and `apiKey`",),
        )
        return None
    lasts = value_of(scheme.lasts)
    if owner.text not in resources or (lasts is None and not isinstance(scheme.lasts, StatedNone)):
        return None
    return Issued(owner.text, lasts)


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
    alone = ((each.name,) for each in resource.fields.values() if each.unique)
    together = (resource.identifier, *resource.unique, *alone)
    return any(set(group) <= set(named) for group in together)


def check_sign_in(
    endpoint: Endpoint,
    resource: Resource,
    body: Sequence[BodyLeaf] | None,
    segments: Sequence[Segment],
    findings: Findings,
) -> bool:
    """Whether path and body say who signs in, and by which password."""
    if body is None:
        return False
    place = endpoint.body.span if isinstance(endpoint.body, Shown | StatedNone) else endpoint.span
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


def check_issues(
    endpoint: Endpoint, verb: str, resource: Resource | None, contract: Contract, findings: Findings
) -> str | None:
    """The scheme of which an endpoint makes a credential; None: it makes none, or it is wrong."""
    named = value_of(endpoint.issues)
    schemes = {each.name: each for each in value_of(contract.authentication.schemes) or ()}
    scheme = None if named is None else schemes.get(named.text)
    if named is None or scheme is None:
        return None
    owner = value_of(scheme.issued_to)
    if owner is None:
        if scheme.issued_to is None and any(isinstance(each, Shown) for each in (scheme.matches, scheme.issuer)):
            findings.say(
                ISSUES_FOR_NOBODY,
                f"`{scheme.name}` is not a scheme whose credentials the service makes",
                Label(named.span, "cannot be issued"),
                Label(scheme.span, "has no `issued to`"),
            )
        return None
    if verb not in ISSUING:
        findings.say(
            ISSUES_FOR_NOBODY,
            f"`{endpoint.key}` leaves no row that a credential could be of",
            Label(named.span, f"`{verb}` makes, changes and signs in to nothing"),
        )
        return None
    if resource is not None and owner.text != resource.name:
        findings.say(
            ISSUES_FOR_NOBODY,
            f"`{endpoint.key}` issues a credential to rows of `{owner.text}`, and acts on `{resource.name}`",
            Label(named.span, f"`{scheme.name}` is of another resource"),
            Label(owner.span, "issued to these"),
        )
        return None
    return scheme.name


def check_told(endpoint: Endpoint, issued: str | None, response: Response, findings: Findings) -> None:
    """Says of a credential that no response tells."""
    if issued is None or endpoint.issues is None:
        return
    for typed in all_expressions(response):
        for node in walk(typed):
            match node:
                case Select(operand=Variable(name="caller"), name="credential"):
                    return
                case Select(operand=Variable(name="issued"), name=name) if name == issued:
                    return
                case _:
                    pass
    findings.say(
        NEVER_TOLD,
        f"no response of `{endpoint.key}` tells the credential that it makes",
        Label(endpoint.issues.span, "made, and told to nobody"),
        help=("show `caller.credential`",),
    )


def kept_credentials(contract: Contract, findings: Findings) -> None:
    """Says of each value that is stored and each event that a credential would be in it."""
    fields = [each for one in value_of(contract.resources.resources) or () for each in value_of(one.fields) or ()]
    stored = [value_of(fact) for each in fields for fact in (each.on_create, each.on_change)]
    sets = [each.sets for each in value_of(contract.endpoints.endpoints) or ()]
    for machine in value_of(contract.states.machines) or ():
        if (shown := value_of(machine.machine)) is not None:
            sets += [each.sets for each in value_of(shown.transitions) or ()]
    stored += [each.value for fact in sets for each in value_of(fact) or ()]
    for expression in stored:
        if expression is not None and any(map(_is_credential, every(expression.ast))):
            _kept(expression.span, "a value that is stored", findings)


def _is_credential(node: Ast) -> bool:
    match node:
        case Member(operand=Name(name="caller"), name="credential"):
            return True
        case _:
            return False


def check_payload(content: Content, span: Span, findings: Findings) -> None:
    """Says of an event that a credential would be in it, be it by a view."""
    for typed in expressions_of(content):
        for node in walk(typed):
            match node:
                case Select(operand=Variable(name="caller"), name="credential"):
                    _kept(span, "an event", findings)
                    return
                case _:
                    pass


def _kept(span: Span, where: str, findings: Findings) -> None:
    findings.say(CREDENTIAL_KEPT, f"{where} holds `caller.credential`", Label(span, "for others to read"))


def never_issued(contract: Contract, findings: Findings) -> None:
    """Says of a scheme that nobody can ever have a credential of it."""
    endpoints = value_of(contract.endpoints.endpoints)
    if endpoints is None:
        return
    issued = {name.text for each in endpoints if (name := value_of(each.issues)) is not None}
    if any(each.issues is not None and not isinstance(each.issues, Shown | StatedNone) for each in endpoints):
        return
    for scheme in value_of(contract.authentication.schemes) or ():
        can_be = not scheme.is_basic and not isinstance(scheme.matches, Shown)
        if isinstance(scheme.issued_to, Shown) and can_be and scheme.name not in issued:
            findings.say(
                NEVER_ISSUED,
                f"nothing issues a credential of `{scheme.name}`",
                Label(scheme.span, "no endpoint has `issues` for it"),
            )
