"""Part 7: the shape of an error, codes, messages, and the order in which errors count; and the shape of one endpoint's
errors."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.diagnostics.codes import WRONG_WORD
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.conditions import BY_NAME, CHECK, CONDITIONS, split
from ninefold.language.declaration import Each, One, When, adds, asked, key_of, named
from ninefold.language.expressions import Assignment, Expression, Template, header_values
from ninefold.language.fact import Fact, Name, candidate_of
from ninefold.language.key import Key, Kind, falling_back
from ninefold.language.question import Question
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.syntax.nodes import Mapping, Node, Scalar, Sequence

SHAPE = Question(
    "error shape", 7, "the shape of an error", "leaves out", "error bodies: each error is a bare status",
    left_out="error bodies: each error is a bare status",
)  # fmt: skip
CODES = Question(
    "codes", 7, "the code of each condition that can arise here", "leaves out",
    "their codes: each is a bare status", asked="in one line, of all conditions without a code",
)  # fmt: skip
STATUS = Question(
    "status", 7, "the status of {}", "leaves out", "the code: each of its conditions is bare", "C",
    left_out="the code {}: what it stands for is a bare status",
)  # fmt: skip

RULES = (
    "required", "type", "enum", "const", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "contains",
    "minContains", "maxContains", "items", "unevaluatedItems", "propertyNames", "minProperties", "maxProperties",
    "anyOf", "oneOf", "not", "unique", "immutable", "references", "unknown", "repeated", "range", "stored", "more",
    "test", "there", "inside", "whole", "all others",
)  # fmt: skip
"""The rules that a message may be for, which are all that a caller is told: the keywords that refuse, the rules of the
language (the section Errors of meanings.md says what each of them is), and `all others` for the rest."""

TOLD_AS = {
    "dependentRequired": "a member that it asks for is told as `required`",
    "additionalProperties": "a member that it refuses is told as `unknown`",
    "unevaluatedProperties": "a member that it refuses is told as `unknown`",
} | dict.fromkeys(
    ("properties", "patternProperties", "prefixItems", "dependentSchemas", "allOf", "if", "then", "else"),
    "what it asks for is told by the rules in it",
)
"""Keywords that refuse, and by which nothing is told: what is told in their place."""


@dataclass(frozen=True, slots=True)
class ConditionName:
    """A condition of the closed list, possibly narrowed: `not found article`, `conflict user.email`."""

    condition: str
    subject: str | None
    span: Span


_MEANT = {each: condition.name for condition in CONDITIONS for each in condition.called}
"""What others call the conditions."""


def conditions(r: Reading, node: Node, slot: Slot) -> tuple[ConditionName, ...] | None:
    """A condition of the closed list, or several; each may be narrowed to a subject."""
    nodes = (r.items(node, slot) or ()) if isinstance(node, Sequence) else (node,)
    return tuple(each for item in nodes if (each := condition_name(r, item, slot.called)) is not None) or None


def condition_name(r: Reading, node: Node, called: str) -> ConditionName | None:
    """`not found`, or `not found article`: a condition of the closed list, and what it is narrowed to."""
    if not isinstance(node, Scalar) or not node.text:
        r.wrong_shape(node, Slot(called, key_of(ErrorCode, "conditions").shape))
        return None
    found = split(node.text)
    if found is not None and found[0] != CHECK:
        return ConditionName(*found, node.span)
    not_a_condition(r, node.text, node.span)
    return None


def _beginnings(text: str) -> Iterator[str]:
    """Itself, and without what it may be narrowed to: no condition has more than three words before that."""
    words = text.split(" ")
    yield from (text, *(" ".join(words[:count]) for count in range(min(len(words) - 1, 3), 0, -1)))


def not_a_condition(r: Reading, text: str, span: Span, meant: tuple[str, ...] = ()) -> None:
    """Says that this is not of the closed list of conditions. `meant`: what advises, where more than the list is
    known."""
    is_check = split(text) is not None
    r.say(
        WRONG_WORD,
        f"{quoted(text)} is not a condition" + (" that a code is for" if is_check else ""),
        Label(span),
        help=(("each check names its own: `check: {that: …, else: CODE}`",) if is_check else ())
        or meant
        or next(((f"did you mean `{_MEANT[each]}`?",) for each in _beginnings(text.casefold()) if each in _MEANT), ())
        or next(filter(None, (r.did_you_mean(each, BY_NAME) for each in _beginnings(text))), ())
        or ('the conditions are listed in `docs/language.md`, under "Conditions and bare statuses"',),
    )


# fmt: off

OWN_CODE = falling_back(
    named("CONDITION", Kind.ADDS, "The code of the condition on this endpoint.", "The code of part 7 holds.",
          shapes.Name("an error code")), 7, "codes.CODE.for")

# fmt: on


def own_codes(r: Reading, node: Node, slot: Slot) -> tuple[tuple[Name, Name], ...] | None:
    """Conditions, each with the code that it has on this endpoint."""
    entries = r.entries(node, slot)
    if entries is None or not isinstance(node, Mapping):
        return None
    refused = [entry for entry in node.entries if r.is_no_answer(OWN_CODE, entry.value, entry.name)]
    found = []
    for entry in (each for each in entries if each not in refused):
        condition = condition_name(r, entry.key, "errors")
        code = leaves.name(r, entry.value, Slot(entry.name, shapes.Name("an error code")))
        if condition is not None and code is not None:
            found.append((Name(entry.name, entry.key.span), code))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Message:
    """The words for a rule (`required`, `minLength` …), or for the rest (`all others`)."""

    rule: str
    span: Span
    text: str


_MESSAGE = Key(
    0, "RULE", Kind.ADDS, shapes.Text(), "The words for one rule, or, under `all others`, for the rest.",
    "Errors of that rule have no message.", promise="add a response member",
)  # fmt: skip


def messages(r: Reading, node: Node, slot: Slot) -> tuple[Message, ...] | None:
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        if entry.name not in RULES:
            r.unknown(entry.key, slot.called, RULES, [TOLD_AS[entry.name]] if entry.name in TOLD_AS else ())
        words = leaves.text(r, entry.value, Slot(entry.name, _MESSAGE.shape))
        if words is not None:
            found.append(Message(entry.name, entry.key.span, words))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """`called`: what callers of an older version know it by, where that is not its name."""

    name: str
    span: Span
    status: Fact[int] | None = asked(
        "status", shapes.Integer(400, 599), "The status of its responses.", STATUS,
        "what it would answer has a bare status", main=True,
    )  # fmt: skip
    title: Fact[str] | None = adds(
        "title",
        shapes.Text(),
        "What it is, in plain text: `error.title`.",
        "`error.title` has no value.",
        promise="add a response member",
        planned=True,
    )
    detail: Fact[Expression] | None = adds(
        "detail",
        shapes.Expression(shapes.Sight.CALLERS),
        "What is so this time: `error.detail`. Of a check it reads what the check does: on create the new row is among "
        "the others for a check of its resource, and for one of the endpoint it is not yet; where something that it "
        "would be made of is refused, nothing is known of it. `before.R` is the row as it was: where nothing is "
        "written yet the row itself, and of one that would be made nothing. Other rows are read beside that row: what "
        "reads nothing of it reads the request alone, and `all(R)` there is an error.",
        "`error.detail` has no value.",
        promise="add a response member",
    )
    about: Fact[Name] | None = adds(
        "about", shapes.Name("a name"),
        "The name under which `error.messages` has it, where no field is at fault.",
        "It has no entry in `error.messages`.", promise="add a response member",
    )  # fmt: skip
    headers: Fact[tuple[Assignment, ...]] | None = adds(
        "headers", shapes.MappingOf("headers to expressions"),
        "Headers of its responses, such as the `Location` of a conflict. They read what `detail` reads.",
        "There are no such headers.", read=header_values, below=(
            named("HEADER", Kind.ADDS, "The header's value.", "There is no such header.",
                  shapes.Expression(shapes.Sight.CALLERS), promise="add a response header"),),
        promise="add a response header",
    )  # fmt: skip
    conditions: Fact[tuple[ConditionName, ...]] | None = asked(
        "for", shapes.Names("a condition", alone=True),
        "The conditions that it is the code of; each may be narrowed (`not found article`, `conflict user.email`).",
        CODES, "the condition is answered with a bare status", read=conditions,
        when=When("nothing else is the code of such a condition, and one can arise"),
    )  # fmt: skip
    called: str | None = None

    @property
    def known_as(self) -> str:
        """What callers know it by."""
        return self.called or self.name


CODE = Each(
    ErrorCode,
    named(
        "CODE",
        Kind.NAMES,
        "An error.",
        "Each use of its name is a gap, the status of the code: what it stands for is a bare status; in what an older "
        "version had, an error.",
        promise="add an error code",
    ),
    "codes to what they say",
)

_NO_BODY = "errors have an empty body"


@dataclass(frozen=True, slots=True)
class Shape:
    """What the bodies of errors are: of all, or of those of one endpoint."""

    media_type: Fact[Name] | None = asked(
        "media type", shapes.MediaType(), "The media type of errors.", SHAPE, _NO_BODY,
        sentence="errors are written as {}",
    )  # fmt: skip
    body: Fact[Template] | None = asked(
        "body", shapes.Template(shapes.Sight.NONE),
        "The body, from `error.code`, `error.title` and so on.", SHAPE, _NO_BODY,
        told="the body of an error", promise="add a response member",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Errors:
    """`precedence` holds conditions, perhaps narrowed."""

    error_shape: Fact[Shape] | None = asked(
        "error shape", One(Shape), "What the body of an error is.", SHAPE, _NO_BODY, says_none=True,
        told="the shape of an error",
    )  # fmt: skip
    codes: Fact[tuple[ErrorCode, ...]] | None = asked(
        "codes", CODE, "The errors that callers are told.", CODES, "conditions are answered with a bare status",
        says_none=True,
    )  # fmt: skip
    messages: Fact[tuple[Message, ...]] | None = adds(
        "messages", shapes.MappingOf("rules to words"), "The words for each rule that a field can break.",
        "Errors have no messages.", read=messages, below=(_MESSAGE,), promise="add a response member",
    )  # fmt: skip
    precedence: Fact[tuple[Name, ...]] | None = adds(
        "precedence", shapes.Names("a condition"),
        "Which condition is told where several hold; each may be narrowed.",
        "They are told in the order of the closed list.", told="errors count in this order",
        meanings=("precedence",), order="sequence")  # fmt: skip


def instead_of(code: ErrorCode | None) -> tuple[str, ...]:
    """What to list instead of an error code: the conditions that it is the code of."""
    if code is None:
        return ()
    stated = (" ".join(filter(None, (each.condition, each.subject))) for each in candidate_of(code.conditions) or ())
    found = ", ".join(f"`{each}`" for each in stated)
    if not found:
        return (f"an order is one of conditions: `{code.name}` is told where its check or parameter is",)
    return (f"an order is one of conditions, and `{code.name}` is the code of {found}",)
