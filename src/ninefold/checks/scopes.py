"""Scopes of tokens (RFC 6749 3.3): what conditions ask of `caller.scopes`."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checks.codes import NO_SUCH_SCOPE, SCOPES_TWICE
from ninefold.checks.findings import Findings
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.ast import Ast, Binary, Literal, Member, Name, every
from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable
from ninefold.language.authentication import Scheme
from ninefold.language.expressions import expressions_in
from ninefold.language.fact import Shown, is_open, value_of

SCOPES = "scopes"


def declared(contract: Contract) -> tuple[str, ...]:
    """The scopes of all schemes, each once."""
    schemes = value_of(contract.authentication.schemes) or ()
    return tuple(dict.fromkeys(name for scheme in schemes for name in of(scheme)))


def of(scheme: Scheme) -> tuple[str, ...]:
    return tuple(name.text for name in value_of(scheme.scopes) or ())


def required(condition: Typed | None) -> tuple[str, ...]:
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


def check_scopes(contract: Contract, findings: Findings) -> None:
    """Says of each scope that an expression asks for, and no scheme declares, that there is none such; and of schemes
    that give `caller.scopes` twice."""
    schemes = value_of(contract.authentication.schemes) or ()
    known = declared(contract)
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
    for expression in expressions_in(contract):
        for node in every(expression.ast):
            match node:
                case Binary(operator="in", left=Literal(value=str() as name) as literal, right=right):
                    if _is_scopes(right) and name not in known:
                        span = expression.written.part(literal.start, literal.end)
                        help = did_you_mean(name, known) or (f"there are {', '.join(f'`{each}`' for each in known)}",)
                        findings.say(NO_SUCH_SCOPE, f"no scheme has the scope `{name}`", Label(span), help=help)
                case _:
                    pass


def _is_scopes(node: Ast) -> bool:
    match node:
        case Member(operand=Name(name="caller"), name="scopes"):
            return True
        case _:
            return False
