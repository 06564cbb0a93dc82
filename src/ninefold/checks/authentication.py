"""Part 5: schemes, what the caller is, permissions and row rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from ninefold.checked.endpoints import Admission
from ninefold.checked.endpoints import Endpoint as Served
from ninefold.checked.lists import Rules, Way, by_way
from ninefold.checked.resources import Resource
from ninefold.checked.service import AnyCertificate, CertificateOf, LookedUp, Scheme, Signed, Verification
from ninefold.checks.callers import may_say_more, members_of, scopes_asked, scopes_of
from ninefold.checks.credentials import check_issued
from ninefold.checks.findings import Findings, condition, typed
from ninefold.checks.model import Vocabulary, request_type
from ninefold.checks.sign_in import check_password
from ninefold.contract.service import Contract
from ninefold.contract.survey import actions
from ninefold.diagnostics.codes import (
    CERTIFICATE_FIELD,
    ISSUER_TWICE,
    LIKE_A_SCHEME,
    LIST_HAS_NO_ROW,
    NOT_A_TOKEN,
    NOT_AN_ALGORITHM,
    ROW_OF_SOME_CASE,
    SEEN_BY_NOBODY,
)
from ninefold.diagnostics.diagnostic import Label, has_errors
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.suggest import nearest
from ninefold.expressions.reads import needs_database
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Call, Constant, Typed, free_variables
from ninefold.language import authentication as stated
from ninefold.language.authentication import ALL, ANYONE, Every
from ninefold.language.declaration import said
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression
from ninefold.language.fact import Gap, Name, Proposal, Shown, is_open, value_of
from ninefold.language.verbs import kind_of
from ninefold.plan.authentication import ASYMMETRIC, SYMMETRIC, Where
from ninefold.values import Anything, Array, Boolean, Object, Text, Type

CLAIMS = Object(
    members={
        **dict.fromkeys(("subject", "common_name", "issuer", "serial", "fingerprint"), Text()),
        **dict.fromkeys(("san_dns", "san_email", "san_uri", "san_ip"), Array(items=Text())),
    }
)
"""What can be read of a certificate: see `ninefold.runtime.request.proofs`."""


def certificate(
    scheme: stated.Scheme, resources: Mapping[str, Resource], findings: Findings
) -> CertificateOf | AnyCertificate | None:
    """How the certificates of a scheme are known; None where something of that is not shown, or wrong."""
    matches = value_of(scheme.matches)
    if matches is None:
        return None
    if matches.text == ALL:
        return AnyCertificate()
    name, _, field_name = matches.text.partition(".")
    field = resources[name].fields.get(field_name) if name in resources else None
    stated = value_of(scheme.credential)
    presented = None if stated is None else typed(stated, Scope({"claims": CLAIMS}), Text(), findings)
    if field is None or presented is None:
        return None
    if field.secret is not None:
        wrong = "is a secret, and a certificate is none"
    elif not isinstance(field.type, Text):
        wrong = "is not a text"
    elif not field.stored:
        wrong = "is not stored"
    elif not field.unique and resources[name].primary_key != (field_name,):
        wrong = "is not unique: a certificate could be of several rows"
    else:
        return CertificateOf(name, field_name, presented)
    findings.say(CERTIFICATE_FIELD, f"no certificate can be looked up in `{matches.text}`", Label(matches.span, wrong))
    return None


def caller_type(contract: Contract, resources: Mapping[str, object]) -> Object:
    """What expressions may read of `caller`: the row whose credential it is, by its resource's name, and what the
    schemes add. Not every caller has every member; a condition that reads one does not hold without it. While a scheme
    is not all shown, any other member may be."""
    members: dict[str, Type] = {"credential": Text()}
    schemes = contract.authentication.schemes
    for scheme in value_of(schemes) or ():
        members |= members_of(scheme, resources)
    is_all = not is_open(schemes) and not any(may_say_more(scheme) for scheme in value_of(schemes) or ())
    return Object(members=members, others=None if is_all else Anything())


def check_schemes(resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings) -> tuple[Scheme, ...]:
    return tuple(
        checked
        for scheme in findings.survey.schemes
        if (checked := _scheme(scheme, resources, vocabulary, findings)) is not None
    )


def _scheme(
    scheme: stated.Scheme, resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
) -> Scheme | None:
    kind = value_of(scheme.type)
    if kind is None:
        return None
    verified = _verified(scheme, kind.text, resources, vocabulary, findings)
    place = findings.place(scheme.span)
    realm = value_of(scheme.realm)
    quoted = "" if realm is None else ' realm="' + realm.replace("\\", "\\\\").replace('"', '\\"') + '"'
    where: Where = "authorization"
    parameter = "Bearer"
    auth_scheme = value_of(scheme.scheme)
    location, name = value_of(scheme.location), value_of(scheme.parameter)
    if kind.text == "http" and auth_scheme is not None:
        parameter = auth_scheme.text
        _is_meant(auth_scheme, findings)
    elif kind.text == "apiKey":
        if location is None or name is None:
            return None
        where, parameter = location.text, name.text  # type: ignore[assignment]
    elif kind.text == "mutualTLS":
        where, parameter = "certificate", kind.text
    challenge = parameter.capitalize() if parameter.lower() in ("basic", "bearer") else parameter
    if kind.text == "apiKey":
        # RFC 9110 wants a challenge with every 401, and no auth-scheme is registered for such keys: OpenAPI's word.
        challenge = "apiKey"
    scope = replace(vocabulary.scope(claims=CLAIMS if kind.text == "mutualTLS" else Object()), request_only=True)
    adds = []
    for added in value_of(scheme.caller) or ():
        value = typed(added.value, scope, None, findings)
        if value is not None:
            adds.append((added.name, value))
    # RFC 7617, section 2.1: it is how clients know in which characters user-id and password are sent.
    charset = ("," if quoted else "") + ' charset="UTF-8"' if scheme.is_basic else ""
    challenge += quoted + charset
    return Scheme(scheme.name, where, parameter, challenge, verified, tuple(adds), place, said=said(scheme))


REGISTERED: Final = ("Basic", "Bearer", "Digest", "DPoP", "GNAP", "HOBA", "Mutual", "Negotiate", "OAuth", "vapid")
"""The HTTP authentication schemes that are registered (RFC 9110, 16.4.1), but for those whose names are long."""


def _is_meant(scheme: Name, findings: Findings) -> None:
    """Notes a scheme that is nearly one of those that are registered. Others are as good: `token`, say."""
    if scheme.text.casefold() in (each.casefold() for each in REGISTERED):
        return
    meant = nearest(scheme.text, REGISTERED)
    if meant is None:
        return
    if Counter(meant.casefold()) == Counter(scheme.text.casefold()) or abs(len(meant) - len(scheme.text)) <= 1:
        message = f"`{scheme.text}` is no registered HTTP authentication scheme"
        help = f"did you mean `{meant.lower() if meant in ('Basic', 'Bearer') else meant}`?"
        findings.say(LIKE_A_SCHEME, message, Label(scheme.span, "the word that clients send"), help=(help,))


def _verified(
    scheme: stated.Scheme,
    kind: str,
    resources: Mapping[str, Resource],
    vocabulary: Vocabulary,
    findings: Findings,
) -> Verification | None:
    """How a good credential is told from a bad one; None where this build cannot, or something is not shown."""
    if kind == "mutualTLS":
        return certificate(scheme, resources, findings)
    looked_up, signed = _matches(scheme, resources, findings), _signed(scheme, findings)
    issued = check_issued(scheme, resources, vocabulary, findings)
    return check_password(scheme, resources, findings) if scheme.is_basic else looked_up or issued or signed


def _signed(scheme: stated.Scheme, findings: Findings) -> Signed | None:
    """How the tokens of a scheme are verified; None where they are not signed by somebody else, or where something of
    it is not shown."""
    here = (("issuer", scheme.issuer), ("keys", scheme.keys))
    shown = [(name, fact) for name, fact in here if isinstance(fact, Shown)]
    first = (("matches", scheme.matches), ("issued to", scheme.issued_to), *(here[:1] if scheme.is_discovered else ()))
    known = next(((name, fact) for name, fact in first if isinstance(fact, Shown)), None)
    for name, fact in shown:
        if known is not None and fact is not known[1]:
            findings.say(
                ISSUER_TWICE,
                f"`{scheme.name}` says in two ways whose its credentials are",
                Label(fact.span, f"`{name}` is one"),
                Label(known[1].span, f"`{known[0]}` is another"),
            )
            return None
    scope = Scope({"operator": Object()})
    found = {name: _text(typed(fact.value, scope, Text(), findings)) for name, fact in shown}
    issuer, keys = (found.get(name) for name, _ in here)
    algorithms = _algorithms(scheme, findings)
    audience = value_of(scheme.audience)
    stated_whole = scheme.is_discovered or (keys is not None and bool(algorithms))
    if audience is None or algorithms is None or issuer is None or not stated_whole:
        return None
    return Signed(issuer, keys, audience.text, algorithms, scopes_of(scheme))


def _text(found: Typed | None) -> Typed | None:
    """A text without the question whether it is one: that is asked at start-up of what the operator gives."""
    match found:
        case Call(function="narrow", arguments=[value]):
            return value
        case _:
            return found


def _algorithms(scheme: stated.Scheme, findings: Findings) -> tuple[str, ...] | None:
    """The algorithms that are stated. None: one of them is not shown or is none that there is."""
    if isinstance(scheme.algorithms, Gap | Proposal):
        return None
    names = value_of(scheme.algorithms) or ()
    there = ASYMMETRIC if scheme.is_discovered else (*ASYMMETRIC, *SYMMETRIC)
    wrong = [name for name in names if name.text not in there]
    for name in wrong:
        label = "whoever knows the issuer's keys could sign" if name.text in SYMMETRIC else "not one that is taken"
        findings.say(
            NOT_AN_ALGORITHM,
            f"`{name.text}` is no signature algorithm that `{scheme.name}` can take",
            Label(name.span, label),
            help=(f"there are {', '.join(f'`{each}`' for each in there)}",),
        )
    return None if wrong else tuple(name.text for name in names)


def _matches(scheme: stated.Scheme, resources: Mapping[str, Resource], findings: Findings) -> LookedUp | None:
    """The secret that a credential is looked up by; None where this build cannot look it up."""
    matches, kind = value_of(scheme.matches), value_of(scheme.type)
    if matches is None or kind is None or kind.text not in ("http", "apiKey") or scheme.may_be_basic:
        return None
    resource, _, field = matches.text.partition(".")
    if resource not in resources or field not in resources[resource].fields:
        return None
    if resources[resource].fields[field].secret != "token":
        findings.say(
            NOT_A_TOKEN,
            f"`{matches.text}` is not a `secret: token`",
            Label(matches.span, "credentials are found by it"),
        )
        return None
    return LookedUp(resource, field)


def row_rules(
    resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
) -> dict[str, dict[str, Typed | None]]:
    """By resource and by who calls: the condition of the rows that are seen; None: every row."""
    rows = value_of(findings.contract.authentication.rows)
    callers = [scheme.name for scheme in findings.survey.schemes] + [ANYONE]
    if rows is None:
        # Without a statement no row is seen; endpoints that would show one are blocked by the gap. Where there are
        # no schemes at all, `rows: none` has nothing to say either.
        return {}
    if isinstance(rows, Every):
        return {name: dict.fromkeys(callers) for name in resources}
    rules: dict[str, dict[str, Typed | None]] = {}
    for rule in rows:
        name = rule.resource.text
        if name not in resources:
            continue
        rules[name] = {}
        for admission in value_of(rule.admits) or ():
            test = value_of(admission.condition)
            if isinstance(test, Every):
                rules[name][admission.who.text] = None
            elif test is not None:
                holds = condition(test, vocabulary.scope(name), findings)
                if holds is not None:
                    rules[name][admission.who.text] = holds
    return rules


def admissions(
    endpoint: Endpoint,
    resource: str | None,
    verb: str,
    known: tuple[Way, ...],
    vocabulary: Vocabulary,
    findings: Findings,
) -> tuple[Admission, ...]:
    """Who may call an endpoint; its own line, or `all others`. `known`: the rows that its path leads through."""
    found = []
    request = request_type(findings.contract.endpoints_by_key[endpoint.key], findings.schemas)
    cases = findings.survey.cases(endpoint)
    rows = dict.fromkeys(first.resource for each in cases for first in actions(each)[:1])
    known_rows = tuple(each for each in rows if each is not None and each in vocabulary.model)
    for admission in findings.survey.admitted(endpoint):
        test = value_of(admission.condition)
        place = findings.place(admission.who.span)
        if isinstance(test, Every):
            found.append(Admission(admission.who.text, None, True, place))
        elif test is not None:
            holds = condition(test, vocabulary.scope(*known_rows, request=request), findings)
            if holds is None:
                continue
            of_request = not needs_database(holds, known_rows, vocabulary.model)
            if len(rows) > 1 and not free_variables(holds).isdisjoint(known_rows):
                message = f"who may call `{endpoint.key}` depends on a row of which not every case is"
                help = ("say it as a `check` of the case, which reads its row",)
                label = Label(test.span, "the cases act on rows of several resources")
                findings.say(ROW_OF_SOME_CASE, message, label, help=help)
            elif kind_of(verb).is_of_all and resource is not None:
                instead = f"say under `rows` which rows of `{resource}` such a caller sees"
                holds = of_list(holds, test, endpoint.key, resource, known, findings, instead)
            elif kind_of(verb).acts_on == "nothing" and not of_request:
                _no_row(test, endpoint.key, (), findings)
            found.append(Admission(admission.who.text, holds, of_request, place, scopes_asked(holds)))
    return tuple(found)


def of_list(
    typed: Typed,
    stated_: Expression,
    endpoint: str,
    resource: str,
    known: tuple[Way, ...],
    findings: Findings,
    instead: str,
) -> Typed:
    """A condition of a list, which reads the rows that its path leads through, and no row of the list."""
    found = findings.stands(by_way(typed, resource, known), stated_.span)
    if resource in free_variables(found):
        rows = ", ".join(f"`{each.row(resource).name}`" for each in known)
        help = (f"the path leads through {rows}, which can be read",) if known else ()
        _no_row(stated_, endpoint, (*help, instead), findings)
    return found


def _no_row(stated_: Expression, endpoint: str, help: tuple[str, ...], findings: Findings) -> None:
    label = Label(stated_.span, "reads a row")
    findings.say(LIST_HAS_NO_ROW, f"`{endpoint}` has no one row that this could be asked of", label, help=help)


_NO_ROW: Final = Constant(False, Boolean())


def seen_by_nobody(endpoints: Iterable[Served], rules: Rules, findings: Findings) -> None:
    """Notes each endpoint whose rows none of those sees who may call: to all of them it is as if there were none."""
    if has_errors(tuple(findings.diagnostics)):
        return  # a rule that cannot be read may show rows
    stated_endpoints = {each.key: each for each in findings.survey.endpoints}
    for endpoint in endpoints:
        seen = rules.get(endpoint.resource or "")
        whom = dict.fromkeys(each.who for each in endpoint.admissions)
        finds = endpoint.kind.row in ("named", "known", "all") and not endpoint.kind.may_make
        if finds and whom and seen is not None and not any(seen.get(who, _NO_ROW) != _NO_ROW for who in whom):
            findings.say(
                SEEN_BY_NOBODY,
                f"nobody who may call `{endpoint.key}` sees a row of `{endpoint.resource}`",
                Label(
                    stated_endpoints[endpoint.key].span, f"finds none for {' and '.join(f'`{who}`' for who in whom)}"
                ),
                help=("say in `rows` which they see, or who else may call",),
            )
