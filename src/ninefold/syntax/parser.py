"""From bytes to a document: its text, and nine parts, each with its facts, its statement and its prose. The plain form
is YAML whose nine keys are the parts."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath

from ninefold.diagnostics.codes import (
    CONTROL_CHARACTER,
    DOCUMENT_TOO_LARGE,
    NOT_A_MAPPING,
    NOT_A_PART,
    NOT_UTF_8,
    OTHER_FORM,
    TOO_MANY,
    UNKNOWN_PART,
)
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome, in_order
from ninefold.diagnostics.source import Source, Span
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.syntax.excerpt import whole
from ninefold.syntax.literate import literate
from ninefold.syntax.nodes import PARTS, Document, Entry, Mapping, Part, Scalar, Statement, Word, heading
from ninefold.syntax.yaml import compose

LARGEST_DOCUMENT = 1024 * 1024
"""Bytes. It bounds the time that reading takes (seconds for the worst such document)."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f]")
"""Neither white space nor a line break to Markdown or YAML. U+0085, U+2028 and U+2029 are ordinary characters."""

_NAMES = {"\x00": "NUL", "\x07": "BEL", "\x08": "BS", "\x0b": "VT", "\x0c": "FF", "\x1b": "ESC", "\x7f": "DEL"}


def read(name: str, data: bytes) -> Outcome[Source]:
    """The text of a document: UTF-8 (RFC 3629), without its byte order mark.

    `name` is how diagnostics call it. Nothing is raised: bytes that are not UTF-8 are read as U+FFFD, and a
    document larger than `LARGEST_DOCUMENT` bytes as an empty one; each with its diagnostic.
    """
    if len(data) > LARGEST_DOCUMENT:
        message = f"the document has {len(data)} bytes; at most {LARGEST_DOCUMENT} are read"
        return Outcome(Source(name, ""), (Diagnostic(DOCUMENT_TOO_LARGE, message, (Label(Span(0, 0)),)),))
    mark = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    body = data[mark:]
    try:
        source = Source(name, body.decode("utf-8"))
    except UnicodeDecodeError as error:
        source = Source(name, body.decode("utf-8", "replace"))
        return Outcome(source, (_not_utf_8(body, mark, error), *_control_characters(source)))
    return Outcome(source, _control_characters(source))


def _not_utf_8(body: bytes, mark: int, error: UnicodeDecodeError) -> Diagnostic:
    at = len(body[: error.start].decode("utf-8"))
    wrong = " ".join(f"0x{byte:02X}" for byte in body[error.start : error.end])
    help = ("save the document as UTF-8; it begins like UTF-16",) if body.startswith(UTF_16_MARKS) else ()
    return Diagnostic(
        NOT_UTF_8,
        f"the document is not UTF-8: {wrong} at byte {mark + error.start}",
        (Label(Span(at, at + 1), "not UTF-8 from here"),),
        help or ("save the document as UTF-8",),
    )


def _control_characters(source: Source) -> tuple[Diagnostic, ...]:
    """One diagnostic, however many there are: rubbish is one mistake."""
    found = _CONTROL.search(source.text)
    if found is None:
        return ()
    char = found.group()
    name = f"U+{ord(char):04X}" + (f" ({_NAMES[char]})" if char in _NAMES else "")
    count = len(_CONTROL.findall(source.text))
    others = f", the first of {count} control characters" if count > 1 else ""
    return (
        Diagnostic(
            CONTROL_CHARACTER,
            f"the document has the control character {name}{others}",
            (Label(Span(found.start(), found.end()), "not text"),),
        ),
    )


_MOST_HINTS = 500


def plain(source: Source) -> Outcome[Document]:
    """A YAML document as a contract. It has no title."""
    outcome = compose(whole(source.text))
    diagnostics = list(outcome.diagnostics)
    root = outcome.value
    entries: tuple[Entry, ...] = ()
    if isinstance(root, Mapping):
        entries = root.entries
    elif root is not None:
        label = Label(root.span, "no key and value")
        keys = f"the keys are {', '.join(PARTS)}"
        diagnostics.append(Diagnostic(NOT_A_MAPPING, "the document is not a mapping", (label,), (keys,)))
    for entry in entries:
        if entry.name not in PARTS:
            label = Label(entry.key.span, "not a part")
            near = did_you_mean(entry.name, PARTS) if len(diagnostics) < _MOST_HINTS else ()
            help = near or (f"the parts are {', '.join(PARTS)}",)
            diagnostics.append(Diagnostic(UNKNOWN_PART, f"`{entry.name}` is none of the nine parts", (label,), help))
    found = {entry.name: entry for entry in entries}
    parts = tuple(_part(number, name, found.get(name), diagnostics) for number, name in enumerate(PARTS, 1))
    return Outcome(Document(source, "", Span(0, 0), parts), tuple(diagnostics))


def _part(number: int, name: str, entry: Entry | None, diagnostics: list[Diagnostic]) -> Part:
    if entry is None:
        start = Span(0, 0)
        return Part(number, name, start, False, Mapping(start, ()), None, ())
    value, place = entry.value, entry.key.span
    facts = Mapping(place, ())
    statement: Statement | None = None
    prose: tuple[Span, ...] = ()
    match value:
        case Mapping():
            facts = value
        case Scalar() if (value.says("none") or value.says("not shown")) and not value.proposed:
            statement = Statement(Word(value.text), value.span)
        case Scalar() if name == "purpose" and value.text.strip() and not value.proposed:
            prose = (value.span,)
        case _:
            diagnostics.append(_not_a_part(name, value.span, value if isinstance(value, Scalar) else None))
    return Part(number, name, place, True, facts, statement, prose, (value.span,) if facts is value else ())


def _not_a_part(name: str, span: Span, scalar: Scalar | None) -> Diagnostic:
    if scalar is None:
        label = "a list"
    elif scalar.proposed:
        label = "a proposal is a mapping of facts"
    else:
        label = "a text" if scalar.text else "nothing is written here"
    expected = "a text" if name == "purpose" else "a mapping of facts"
    help = (f"write {expected}, `none` or `not shown`",)
    return Diagnostic(NOT_A_PART, f"the value of `{name}` is not a part", (Label(span, label),), help)


MOST_DIAGNOSTICS = 500
"""Of one document; more are not listed."""


class Form(Enum):
    """`literate`: Markdown with the facts in fenced YAML blocks. `plain`: YAML under nine keys."""

    LITERATE = "literate"
    PLAIN = "plain"


_CALLED = {Form.LITERATE: "Markdown", Form.PLAIN: "YAML"}
_ENDINGS = {".md": Form.LITERATE, ".markdown": Form.LITERATE, ".yaml": Form.PLAIN, ".yml": Form.PLAIN}


def form_of(name: str, text: str = "") -> Form:
    """The form of a document by the ending of its name. Without an ending that tells, the text does: it is
    plain when the key of a part comes before any heading of a part."""
    known = _ENDINGS.get(PurePath(name).suffix.lower())
    if known is not None:
        return known
    for line in text.splitlines():
        if line.startswith("##") and heading(line.lstrip("#")).part:
            return Form.LITERATE
        if line.split(":")[0].rstrip() in PARTS and ":" in line:
            return Form.PLAIN
    return Form.LITERATE


def parse(source: Source, form: Form) -> Outcome[Document]:
    """The document that a text is. Nothing is raised: what is wrong has its diagnostic, and what could be
    read around it is in the document."""
    outcome = literate(source) if form is Form.LITERATE else plain(source)
    if (other := _in_the_other_form(source, form, outcome.value)) is not None:
        return Outcome(outcome.value, (other,))
    return Outcome(outcome.value, _listed(in_order(outcome.diagnostics)))


_FENCES = ("```", "~~~")
"""How a line begins that Markdown has and YAML has not."""


def _in_the_other_form(source: Source, form: Form, found: Document) -> Diagnostic | None:
    """What is wrong with a document of which the name says one form, and all that it states is in the other one."""
    own, other = _CALLED[form], _CALLED[Form.PLAIN if form is Form.LITERATE else Form.LITERATE]
    if any(part.present for part in found.parts) or form_of("", source.text) is form:
        return None
    fenced = any(line.startswith(_FENCES) for line in source.text.splitlines())
    if fenced is (form is Form.LITERATE):
        return None  # headings may be comments; what stands in a block is Markdown, below no heading of a part
    if form is Form.LITERATE:
        stated = [each for each in plain(source).value.parts if each.facts.entries or each.statement is not None]
        if len(stated) < _PARTS_OF_A_CONTRACT:
            return None  # prose has colons, too
    name = PurePath(source.name).stem + next(ending for ending, of in _ENDINGS.items() if of is not form)
    label = Label(Span(0, 0), f"read as {own}, since its name ends so")
    message = f"the document is {other}, and nothing of it is read"
    return Diagnostic(OTHER_FORM, message, (label,), (f"call it `{name}`",))


_PARTS_OF_A_CONTRACT = 2


def _listed(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    if len(diagnostics) <= MOST_DIAGNOSTICS:
        return diagnostics
    place = diagnostics[MOST_DIAGNOSTICS].span
    label = Label(Span(place.start, place.end), "not listed from here")
    message = f"the document has {len(diagnostics) - MOST_DIAGNOSTICS} more problems"
    return (*diagnostics[:MOST_DIAGNOSTICS], Diagnostic(TOO_MANY, message, (label,)))
