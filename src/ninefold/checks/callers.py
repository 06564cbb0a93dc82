"""Part 5: what is known of callers: the scopes of their tokens (RFC 6749 3.3), what comes with a credential that is
made, and expressions that read `caller` where nobody is the caller.

At endpoints for `anyone` alone, which read no credential (meaning "credentials"), and in what is said of `anyone`,
nobody is the caller. What stands at such an endpoint may not read `caller` at all. What others share with it (views,
the guards of transitions) may, if it asks by `has(caller.…)` whether there is one; and a value that
there need not be (`on create: caller.user` of a field that is not required) is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ninefold.checks.findings import Findings
from ninefold.contract.reach import names_in
from ninefold.contract.service import Contract
from ninefold.contract.survey import Survey
from ninefold.diagnostics.codes import NO_SUCH_SCOPE, NOBODY_CALLS, NOT_ONE_VALUE, NOT_SHOWN_TO_ALL, SCOPES_TWICE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.ast import (
    Ast,
    Binary,
    Conditional,
    Invocation,
    Literal,
    MapLiteral,
    Member,
    Name,
    Unary,
    every,
    is_condition,
    is_member,
    parts,
)
from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable
from ninefold.language.authentication import ANYONE, Admission, Scheme
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression, expressions_in
from ninefold.language.fact import Gap, Proposal, Shown, StatedNone, is_open, value_of
from ninefold.language.resources import Resource
from ninefold.language.verbs import kind_of
from ninefold.values import Anything, Array, Integer, Object, Row, Text, Type

SCOPES = "scopes"


def scopes_of(scheme: Scheme) -> tuple[str, ...]:
    return tuple(name.text for name in value_of(scheme.scopes) or ())


def scopes_asked(condition: Typed | None) -> tuple[str, ...]:
    """The scopes that a token needs for a condition to hold: those that one of its `&&` asks for alone."""
    return tuple(dict.fromkeys(_required(condition))) if condition is not None else ()


def _required(condition: Typed) -> Iterator[str]:
    match condition:
        case Call(function="&&", arguments=arguments):
            for each in arguments:
                yield from _required(each)
        case Call(function="in", arguments=[Constant(value=str() as name), Select(operand=operand, name="scopes")]):
            if isinstance(operand, Variable) and operand.name == "caller":
                yield name
        case _:
            pass


def check_scopes(findings: Findings) -> None:
    """Says of each scope that an expression asks for, and no scheme declares, that there is none such; and of schemes
    that give `caller.scopes` twice."""
    schemes = findings.survey.schemes
    known = tuple(dict.fromkeys(name for scheme in schemes for name in scopes_of(scheme)))
    if not known or any(is_open(scheme.scopes) for scheme in schemes if scheme.scopes is not None):
        return
    for scheme in schemes:
        added = next((each for each in value_of(scheme.caller) or () if each.name == SCOPES), None)
        if added is not None and isinstance(scheme.scopes, Shown):
            findings.say(
                SCOPES_TWICE,
                f"`{scheme.name}` gives `caller.scopes` in two ways",
                Label(scheme.scopes.span, "these, as its tokens have them"),
                Label(added.span, "and this"),
                help=("choose another name for what is added",),
            )
    for expression in expressions_in(findings.contract):
        for node in every(expression.ast):
            match node:
                case Binary(operator="in", left=Literal(value=str() as name) as literal, right=right):
                    if is_member(right, "caller", "scopes") and name not in known:
                        span = expression.written.part(literal.start, literal.end)
                        help = did_you_mean(name, known) or (f"there are {', '.join(f'`{each}`' for each in known)}",)
                        findings.say(NO_SUCH_SCOPE, f"no scheme has the scope `{name}`", Label(span), help=help)
                case _:
                    pass


# ── Granted ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def issued_scheme(endpoint: Endpoint, survey: Survey) -> Scheme | None:
    """The scheme of which an endpoint makes a credential."""
    named = value_of(endpoint.issues)
    return next((each for each in survey.schemes if named is not None and each.name == named.text), None)


def granted_type(endpoint: Endpoint, survey: Survey) -> Object | None:
    """The root `granted` of a response: what comes with a credential that was just made. None: there is none."""
    scheme = issued_scheme(endpoint, survey)
    if isinstance(endpoint.issues, Gap | Proposal):
        return Object()  # nobody knows of which scheme it is, and the endpoint is blocked
    if scheme is None or scheme.issued_to is None:
        return None
    members: dict[str, Type] = {"expires_in": Integer(nullable=isinstance(scheme.lasts, StatedNone))}
    if scheme.scopes is not None:
        members |= {"scope": Text(nullable=True), "scopes": Array(items=Text())}
    return Object(members=members)


def members_of(scheme: Scheme, resources: Collection[str]) -> Mapping[str, Type]:
    """What a scheme says of `caller`, besides the credential: the row whose credential it is, by its resource's name,
    and what it adds."""
    members: dict[str, Type] = {}
    for fact in (scheme.matches, scheme.issued_to):
        name = value_of(fact)
        resource = None if name is None else name.text.partition(".")[0]
        if resource is not None:
            # Of a row whose resource is not all shown, nobody can say yet what it has.
            members[resource] = Row(resource=resource) if resource in resources else Anything()
    if scheme.scopes is not None:
        members[SCOPES] = Array(items=Text())
    return members | {added.name: Anything() for added in value_of(scheme.caller) or ()}


def may_say_more(scheme: Scheme) -> bool:
    """Whether something of a scheme is a gap that could say more of `caller`."""
    facts = (scheme.matches, scheme.issued_to, scheme.caller)
    unsaid = all(fact is None for fact in (*facts, scheme.issuer, scheme.keys))
    return unsaid or is_open(scheme.type) or any(isinstance(fact, Gap | Proposal) for fact in facts)


# ── Nobody ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_by_nobody(findings: Findings) -> None:
    survey = findings.survey
    told: set[Span] = set()
    is_field = any(field.name == "caller" for each in findings.resources for field in value_of(each.fields) or ())
    for endpoint in survey.endpoints:
        admitted = survey.admitted(endpoint)
        alone = _is_for_anyone_alone(admitted)
        line = next((each.who.span for each in admitted if each.who.text == ANYONE), endpoint.span)
        issues = endpoint.issues is not None and not isinstance(endpoint.issues, StatedNone)
        for expression, shared in _of_endpoint(endpoint, survey) if alone else ():
            if is_field and _is_caller(expression.ast):
                continue  # by itself, in a list of fields
            if expression.span not in told and _reads(expression, shared, issues):
                told.add(expression.span)
                _say(f"`{endpoint.key}` is for anyone alone, and reads `caller`", expression, line, findings)
        ends = value_of(endpoint.ends)
        if alone and ends is not None and ends.text == "presented":
            findings.say(
                NOBODY_CALLS,
                f"`{endpoint.key}` is for anyone alone, and ends the credential that is presented",
                Label(ends.span, "none is read"),
                Label(line, "no credential is read of such requests"),
                help=("`ends: all` ends those of the row",),
            )
    for what, admission in _said_of_callers(findings.contract):
        condition = value_of(admission.condition)
        if admission.who.text == ANYONE and isinstance(condition, Expression) and condition.span not in told:
            if _reads(condition, False, False):
                told.add(condition.span)
                _say(f"{what} reads `caller` of `anyone`", condition, admission.who.span, findings)


def _is_for_anyone_alone(admitted: Iterable[Admission]) -> bool:
    return {each.who.text for each in admitted} == {ANYONE}


def not_shown_to_all(findings: Findings) -> None:
    """Notes each expression of what is shown that has no value for some of those who may call, since it reads a member
    of `caller` that they have not. One that is such a member alone says so itself, and a condition is false then."""
    survey = findings.survey
    known = {ANYONE: frozenset[str]()} | {
        scheme.name: frozenset(members_of(scheme, survey.graph.resources))
        for scheme in survey.schemes
        if not may_say_more(scheme)
    }
    found: dict[tuple[Span, str], dict[str, Span]] = {}
    for endpoint in survey.endpoints:
        admitted = survey.admitted(endpoint)
        if _is_for_anyone_alone(admitted):
            continue  # what reads `caller` there is an error
        for expression in (*expressions_in(endpoint.responses), *_shown(endpoint, survey)):
            for who in (each.who for each in admitted if each.who.text in known):
                if not (_is_of_caller(expression.ast) or is_condition(expression.ast)):
                    for member in sorted(_missed(expression.ast, known[who.text])):
                        found.setdefault((expression.span, member), {}).setdefault(who.text, who.span)
    for (span, member), whom in found.items():
        findings.say(
            NOT_SHOWN_TO_ALL,
            f"what reads `caller.{member}` is not shown to {' and '.join(f'`{who}`' for who in whom)}",
            Label(span, "has no value without it"),
            *(Label(line, f"has no `caller.{member}`") for line in whom.values()),
            help=(f"say what is shown then: `has(caller.{member}) && …`, or `has(caller.{member}) ? … : …`",),
        )


def _missed(ast: Ast, known: Collection[str]) -> frozenset[str]:
    """The members of `caller` that are not known, and without which an expression has no value."""
    match ast:
        case Member(operand=Name(name="caller"), name=name):
            return frozenset((name,)) - {"credential", *known}
        case Invocation(function="has") | Conditional() | MapLiteral():
            return frozenset()
        case Binary(operator="&&" | "||") if _settled(ast, known) is not None:
            return frozenset()
        case _:
            return frozenset().union(*(_missed(part, known) for part in parts(ast)))


def _settled(ast: Ast, known: Collection[str]) -> bool | None:
    """What a condition is, where it follows from a member of `caller` that is not known and that `has` asks for."""
    match ast:
        case Invocation(function="has", arguments=[argument]):
            return False if _missed(argument, known) else None
        case Unary(operator="!", operand=operand):
            settled = _settled(operand, known)
            return None if settled is None else not settled
        case Binary(operator="&&" | "||" as operator, left=left, right=right):
            decisive = operator == "||"
            both = {_settled(left, known), _settled(right, known)}
            return decisive if decisive in both else None if None in both else not decisive
        case _:
            return None


def _is_of_caller(ast: Ast) -> bool:
    return _is_caller(ast) or (isinstance(ast, Member) and _is_of_caller(ast.operand))


def one_value(findings: Findings) -> None:
    """Says of each computed field that it is not the same whoever asks, and for whatever: it reads what only a request
    has."""
    for resource in findings.resources:
        for field in value_of(resource.fields) or ():
            computed = value_of(field.computed)
            if computed is None:
                continue
            for name in sorted({"caller", "request"} & set(names_in(computed.ast))):
                findings.say(
                    NOT_ONE_VALUE,
                    f"`{resource.name}.{field.name}` is another value for another {name}",
                    Label(computed.span, f"reads `{name}`"),
                    help=(f"what depends on who asks is shown by a view or a response: `{{{field.name}: …}}`",),
                )


def _say(message: str, expression: Expression, line: Span, findings: Findings) -> None:
    findings.say(
        NOBODY_CALLS,
        message,
        Label(expression.span, "nobody is the caller here"),
        Label(line, "of `anyone` no credential is read"),
        help=(
            "admit schemes besides: `[anyone, SCHEME]`",
            "what is shown to others too asks first: `has(caller.…) ? …`",
        ),
    )


def _said_of_callers(contract: Contract) -> Iterator[tuple[str, Admission]]:
    for permission in value_of(contract.authentication.permissions) or ():
        for admission in value_of(permission.admits) or ():
            yield f"who may call `{permission.endpoint.text}`", admission
    rows = value_of(contract.authentication.rows)
    for rule in rows if isinstance(rows, tuple) else ():
        for admission in value_of(rule.admits) or ():
            yield f"who sees rows of `{rule.resource.text}`", admission


def _of_endpoint(endpoint: Endpoint, survey: Survey) -> Iterator[tuple[Expression, bool]]:
    """What an endpoint evaluates, each with whether others share it."""
    for expression in expressions_in(endpoint):
        yield expression, False
    for expression in _shown(endpoint, survey):
        yield expression, True
    for action in value_of(endpoint.does) or ():
        transition = survey.transition(action)
        for guard in (value_of(transition.check) or ()) if transition is not None else ():
            yield guard.that, True
        created = survey.graph.resources.get(action.subject or "")
        if kind_of(action.verb).makes and created is not None:
            yield from ((each, True) for each in _needed(endpoint, created))


def _shown(endpoint: Endpoint, survey: Survey) -> Iterator[Expression]:
    """The views that its responses apply."""
    for resource, name in survey.met(endpoint):
        for view in value_of(survey.graph.resources[resource].views) or ():
            if f"{view.name}()" == name:
                yield from expressions_in(view)


def _needed(endpoint: Endpoint, resource: Resource) -> Iterator[Expression]:
    """What gives values that a new row has to have, and that the request does not give."""
    required = {each.text for each in value_of(resource.required) or ()}
    body = value_of(endpoint.body)
    if body is not None and body.reference is not None:
        return
    given = {each.name for each in value_of(endpoint.sets) or ()} | set(_named(body))
    for field in value_of(resource.fields) or ():
        if field.name in required and field.name not in given:
            yield from field.stated_values


def _named(body: object) -> Iterator[str]:
    """The fields that a body may give, by the names that stand in it."""
    for expression in expressions_in(body):
        yield from (node.name for node in every(expression.ast) if isinstance(node, Name))


def _reads(expression: Expression, shared: bool, issues: bool) -> bool:
    """Whether it reads `caller` where there is none. `shared`: one that asks by `has` says itself what comes then."""
    nodes = list(every(expression.ast))
    if shared and any(_asks(node) for node in nodes):
        return False
    issued = [node.operand for node in nodes if isinstance(node, Member) and _is_credential(node)] if issues else []
    return any(_is_caller(node) and not any(node is each for each in issued) for node in nodes)


def _asks(node: Ast) -> bool:
    return isinstance(node, Invocation) and node.function == "has" and any(map(_is_caller, every(node)))


def _is_caller(node: Ast) -> bool:
    return isinstance(node, Name) and node.name == "caller"


def _is_credential(node: Member) -> bool:
    """`caller.credential`: of an endpoint that issues one, the one that it issues."""
    return node.name == "credential" and _is_caller(node.operand)
