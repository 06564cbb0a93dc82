"""When something happens by itself: what is due by the clock, and from the row alone."""

from __future__ import annotations

from ninefold.checks.codes import TIMER_WITHOUT_REQUEST
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.codes import WRONG_TYPE
from ninefold.expressions.reads import computed_of
from ninefold.expressions.scope import Model, Scope, describe
from ninefold.expressions.tree import Select, Typed, free_variables, walk
from ninefold.language.expressions import Expression
from ninefold.values import Object, Row, Type, required

OF_REQUESTS = frozenset({"caller", "request"})


def time_of_row(
    expression: Expression, resource: str, types: tuple[Type, ...], vocabulary: Vocabulary, findings: Findings
) -> Typed | None:
    """An expression that gives a time, or a duration, from a row alone."""
    scope = Scope({resource: Row(resource=resource), "operator": Object()}, vocabulary.model)
    found = typed(expression, scope, None, findings)
    if found is None:
        return None
    read = roots(found, vocabulary.model) & {"now", *OF_REQUESTS}
    for root in sorted(read):
        message = f"when something of `{resource}` is due depends on `{root}`"
        findings.say(TIMER_WITHOUT_REQUEST, message, Label(expression.span, f"reads `{root}`"))
    if required(found.type) not in types:
        wanted = " or ".join(map(describe, types))
        message = f"the expression is {describe(found.type)}, and {wanted} is needed here"
        findings.say(WRONG_TYPE, message, Label(expression.span, f"this is {describe(found.type)}"))
    return None if read or required(found.type) not in types else found


def roots(typed: Typed, model: Model, seen: frozenset[tuple[str, str]] = frozenset()) -> set[str]:
    """The roots that an expression reads, through computed fields as well."""
    found = free_variables(typed)
    for node in walk(typed):
        if isinstance(node, Select) and node.through == "computed":
            computed = computed_of(node, model)
            if computed is not None and (computed[0], node.name) not in seen:
                found |= roots(computed[1], model, seen | {(computed[0], node.name)})
    return found
