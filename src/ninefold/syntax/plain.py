"""The plain form: YAML whose nine keys are the nine parts."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome
from ninefold.diagnostics.source import Source, Span
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.syntax.codes import NOT_A_MAPPING, NOT_A_PART, UNKNOWN_PART
from ninefold.syntax.excerpt import whole
from ninefold.syntax.nodes import PARTS, Document, Entry, Mapping, Part, Scalar, Statement, Word
from ninefold.syntax.yaml import compose

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
