"""A check: a condition that holds, or what is asked for is refused. It stands wherever something may be refused."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.codes import CONTRADICTION, WITHOUT_GUARD
from ninefold.language.declaration import Several, adds, named, restricts
from ninefold.language.expressions import Expression, expression
from ninefold.language.fact import Fact, Name
from ninefold.language.key import Kind
from ninefold.language.reading import Level, Reading, Slot, quoted
from ninefold.language.records import of_records
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

WHEN = named("when", Kind.RESTRICTS, "A guard on the row as it was.", "Every row is admitted.", shapes.Expression())
OTHERWISE = named(
    "otherwise", Kind.ADDS, "The error when the guard does not hold.",
    "The error is the code of the condition `guard`.", shapes.Name("an error code"))

# fmt: on


def guards_of(level: Level) -> Fact[tuple[Check, ...]] | None:
    """`when` and `otherwise` are one guard; `guards` lists several."""
    r = level.reading
    when, otherwise, several = (level.known.get(name) for name in ("when", "otherwise", "guards"))
    if several is not None and (beside := when or otherwise) is not None:
        r.say(
            CONTRADICTION,
            f"`{beside.name}` stands beside `guards`",
            Label(beside.key.span),
            Label(several.key.span, "several guards"),
            help=("write it as one of the `guards`",),
        )
    if several is not None:
        return level.fact("guards", of_records(GUARDS))
    if when is None:
        otherwise_alone(level)
        return None

    def one(r: Reading, node: Node, slot: Slot) -> tuple[Check, ...] | None:
        condition = expression(r, node, slot)
        code = level.inner("otherwise", leaves.name)
        return None if condition is None else (Check(node.span, condition, code),)

    return level.fact("when", one)


def otherwise_alone(level: Level) -> None:
    """Says of a mapping with one guard whether it has the error, `otherwise`, without the guard, `when`."""
    if "otherwise" in level.known and "when" not in level.known:
        level.reading.say(
            WITHOUT_GUARD,
            "`otherwise` stands without `when`",
            Label(level.known["otherwise"].key.span, "no request ends so"),
            help=("write the guard: `when: …`",),
        )
