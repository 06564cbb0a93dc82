"""Part 7: errors."""

from __future__ import annotations

from collections.abc import Callable

from ninefold.contract.errors import ConditionName, ErrorCode, Errors, Message, Shape
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.language import leaves
from ninefold.language.codes import WRONG_WORD
from ninefold.language.conditions import BY_NAME, CONDITIONS, split
from ninefold.language.expressions import expression, template
from ninefold.language.reading import Reading, Slot, quoted, spoken
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Scalar, Sequence
from ninefold.vocabulary import key_at
from ninefold.vocabulary.errors import RULES

_MEANT = {each: condition.name for condition in CONDITIONS for each in condition.called}
"""What others call the conditions."""


def errors(r: Reading, part: Part) -> Errors:
    said = spoken(part)
    if said is not None:
        return Errors(said, said, said, said)
    level = r.level(part.facts, 7, "", "")
    return Errors(
        shape=level.fact("shape", shape(7, "shape")),
        codes=level.fact("codes", codes),
        messages=level.fact("messages", messages),
        precedence=level.fact("precedence", leaves.names),
    )


def shape(part: int, path: str) -> Callable[[Reading, Node, Slot], Shape | None]:
    """What reads the shape of an error, which has the same keys in part 7 as beside an endpoint."""

    def read(r: Reading, node: Node, slot: Slot) -> Shape | None:
        level = r.level(node, part, path, slot.called)
        if not isinstance(node, Mapping):
            return None
        return Shape(media_type=level.fact("media type", leaves.media_type), body=level.fact("body", template))

    return read


def codes(r: Reading, node: Node, slot: Slot) -> tuple[ErrorCode, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    return r.each(node.entries, lambda entry: code(r, entry))


def code(r: Reading, entry: Entry) -> ErrorCode:
    level = r.level(entry.value, 7, "codes.CODE", entry.name)
    return ErrorCode(
        name=entry.name,
        span=entry.key.span,
        status=level.fact("status", leaves.integer, main=True),
        title=level.fact("title", leaves.text),
        detail=level.fact("detail", expression),
        about=level.fact("about", leaves.name),
        when=level.fact("when", conditions),
    )


def conditions(r: Reading, node: Node, slot: Slot) -> tuple[ConditionName, ...] | None:
    """A condition of the closed list, or several; each may be narrowed to a subject."""
    nodes = (r.items(node, slot) or ()) if isinstance(node, Sequence) else (node,)
    return tuple(each for item in nodes if (each := condition_name(r, item, slot.called)) is not None) or None


def condition_name(r: Reading, node: Node, called: str) -> ConditionName | None:
    """`missing`, or `missing article`: a condition of the closed list, and what it is narrowed to."""
    if not isinstance(node, Scalar) or not node.text:
        r.wrong_shape(node, Slot(called, key_at(7, "codes.CODE.when").shape))
        return None
    found = split(node.text)
    if found is not None:
        return ConditionName(*found, node.span)
    not_a_condition(r, node.text, node.span)
    return None


def not_a_condition(r: Reading, text: str, span: Span, meant: tuple[str, ...] = ()) -> None:
    """Says that this is not of the closed list of conditions. `meant`: what advises, where more than the list is
    known."""
    r.say(
        WRONG_WORD,
        f"{quoted(text)} is not a condition",
        Label(span),
        help=meant
        or ((f"did you mean `{_MEANT[text.casefold()]}`?",) if text.casefold() in _MEANT else ())
        or r.did_you_mean(text, BY_NAME)
        or r.did_you_mean(text.partition(" ")[0], BY_NAME)
        or ('the conditions are listed in `docs/language.md`, under "Conditions and bare statuses"',),
    )


def messages(r: Reading, node: Node, slot: Slot) -> tuple[Message, ...] | None:
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        if entry.name not in RULES:
            r.unknown(entry.key, "messages", RULES)
        words = leaves.text(r, entry.value, Slot(entry.name, key_at(7, "messages.RULE").shape))
        if words is not None:
            found.append(Message(entry.name, entry.key.span, words))
    return tuple(found)
