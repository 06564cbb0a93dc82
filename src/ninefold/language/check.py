"""A check: a condition that holds, or what is asked for is refused. It stands wherever something may be refused."""

from __future__ import annotations

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Const, Literal
from ninefold.language import shapes
from ninefold.language.declaration import Several, When, asked
from ninefold.language.expressions import Expression
from ninefold.language.fact import Name
from ninefold.language.question import Question
from ninefold.language.reading import Reading, Slot
from ninefold.syntax.nodes import Mapping, Node

# fmt: off

THAT = Question(
    "that", 4, "what has to hold in a check of {}", "blocks", "what reads R, takes T, or is E", "X",
    asked="of each check")
ELSE = Question(
    "else", 4, "the error of a check of {}", "leaves out", "the code of the check: it refuses with a bare status", "X",
    asked="of each check that can refuse a request",
    left_out="the code of the check of {}: it refuses with a bare status")


@dataclass(frozen=True, slots=True)
class Check:
    """`code` names the error."""

    span: Span
    that: Expression = asked(
        "that", shapes.Expression(), "The predicate that has to hold.", THAT, "what it is a check of is not served",
        order="condition")
    code: Name | None = asked(
        "else", shapes.Name("an error code"), "The error where it does not hold.", ELSE,
        "it refuses with a bare status", when=When("a request can be refused by it"), side="gives")

    @property
    def never_holds(self) -> bool:
        """Whether it is the constant `false`."""
        return isinstance(self.that.ast, Literal | Const) and self.that.ast.value is False


def has_a_condition(r: Reading, node: Node, _: Slot, found: Check) -> bool:
    """Whether a check says what has to hold; else that is a gap, unless it cannot be read."""
    if found.that is None and isinstance(node, Mapping) and node.get("that") is None:
        r.leaves_open(node.span)
    return found.that is not None


CHECKS = Several(Check, None, has_a_condition, alone=True)
"""One check, or a list of them."""
