"""A check: a condition that holds, or what is asked for is refused. It stands wherever something may be refused."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import shapes
from ninefold.language.codes import WITHOUT_GUARD
from ninefold.language.declaration import Several, adds, named, restricts
from ninefold.language.expressions import Expression
from ninefold.language.fact import Name
from ninefold.language.key import Kind
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.syntax.nodes import Mapping, Node

# fmt: off


@dataclass(frozen=True, slots=True)
class Check:
    """`otherwise` names the error code."""

    span: Span
    when: Expression = restricts(
        "when", shapes.Expression(), "The condition that has to hold.", "Nothing is refused for it.")
    otherwise: Name | None = adds(
        "otherwise", shapes.Name("an error code"), "The error where it does not hold.",
        "The error is the code of the condition `invariant` or `guard`.")


def has_a_condition(r: Reading, node: Node, slot: Slot, found: Check) -> bool:
    """Whether a check says what has to hold; else that is said to be missing, unless it cannot be read."""
    if found.when is None and isinstance(node, Mapping) and node.get("when") is None:
        r.say(WITHOUT_GUARD, f"an item of {quoted(slot.called)} has no condition",
              Label(node.span, "refuses nothing"), help=("write `when: …`, the condition that holds",))
    return found.when is not None


INVARIANTS = Several(
    Check, named("INVARIANT", Kind.RESTRICTS, "A condition, with its error.", "No write is refused for it."),
    has_a_condition)
GUARDS = Several(
    Check, named("GUARD", Kind.RESTRICTS, "A guard on the row as it was, with its error.", "Every row is admitted."),
    has_a_condition)
