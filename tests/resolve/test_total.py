"""Whatever a tree of facts holds, it resolves: to a contract, and to diagnostics that stand in the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.resolve.documents import PLAIN, document, entries, parts_of, with_node, word
from tests.slices import examples

from ninefold.contract.resolve.contract import resolve
from ninefold.diagnostics.source import Span
from ninefold.language.fact import Gap
from ninefold.language.key import Key
from ninefold.language.shapes import Word
from ninefold.language.table import vocabulary
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Scalar, Sequence, Style
from ninefold.syntax.scalars import core_value

READ = document(PLAIN)
WORDS = sorted(
    {key.name for key in vocabulary()}
    | {word for key in vocabulary() if isinstance(key.shape, Word) for word in key.shape.words}
    | {"none", "not shown", "all", "GET /notes/{id}", "POST /x/:y", "note", "person.key", "create note", "P1D", "1 B"}
    | {"", "~", "null", "-1", "1e999", "0x10", "1_000", "=", "[]", "{}", "\x00", "\ud7ff", "a" * 5000, "(" * 500}
)


def nodes_of(read: Document) -> Iterator[Node]:
    for part in read.parts:
        for entry in entries(part.facts):
            yield entry.value


NODES = tuple(nodes_of(READ))
PLACE = Span(10, 20)


def scalar(text: str, style: Style) -> Scalar:
    try:
        value = core_value(text) if style is Style.PLAIN else text
    except OverflowError:  # the reader says so, and takes it as text
        value = text
    # However long the text is, all of it stands in the document.
    return Scalar(PLACE, text, value, style, tuple(min(at, len(PLAIN)) for at in range(10, 11 + len(text))))


SCALARS = st.builds(
    scalar,
    st.sampled_from(WORDS) | st.text(st.characters(codec="utf-8"), max_size=12),
    st.sampled_from(Style),
)


def mapping(entries: dict[str, Node], proposed: bool) -> Mapping:
    return Mapping(PLACE, tuple(Entry(word(name, PLACE), value, proposed) for name, value in entries.items()), proposed)


TREES: st.SearchStrategy[Node] = st.recursive(
    SCALARS,
    lambda below: (
        st.builds(Sequence, st.just(PLACE), st.lists(below, max_size=3).map(tuple), st.booleans())
        | st.builds(mapping, st.dictionaries(st.sampled_from(WORDS), below, max_size=3), st.booleans())
    ),
    max_leaves=6,
)


@settings(max_examples=examples(150))
@given(st.integers(0, len(NODES) - 1), TREES, st.booleans())
def test_any_value_in_place_of_another_is_read(which: int, other: Node, accept: bool) -> None:
    outcome = resolve(with_node(READ, NODES[which], other), accept)
    for diagnostic in outcome.diagnostics:
        assert diagnostic.message and diagnostic.labels
        for label in diagnostic.labels:
            assert 0 <= label.span.start <= label.span.end <= len(PLAIN)


STANDS_FOR = {
    "RESOURCE": "note",
    "FIELD": "text",
    "VIEW": "short",
    "TYPE": "page",
    "MEMBER": "number",
    "TRANSITION": "send",
    "ENDPOINT": "GET /notes",
    "STATUS": "200",
    "OUTCOME": "created",
    "CONDITION": "not found note",
    "SCHEME": "key",
    "CALLER": "key",
    "RULE": "pattern",
    "VERSION": "1",
}
SAID_ELSEWHERE = {"types", "terms", "terms.TERM"}
"""`types: not shown` is a gap of each field that refers to a type, a term that is one a gap of each fact
that reads it."""

ITEMS = {"CHANGE", "EFFECT"}


def under(key: Key, value: Node) -> Mapping:
    """A part's facts that hold a value at a path of the table."""
    node = value
    for step in reversed(key.path.split(".")):
        node = Sequence(PLACE, (node,)) if step in ITEMS else mapping({STANDS_FOR.get(step, step): node}, False)
    assert isinstance(node, Mapping)
    return node


@settings(max_examples=examples(150))
@given(st.sampled_from(vocabulary()), TREES)
def test_any_value_at_any_key_is_read(key: Key, value: Node) -> None:
    facts = under(key, value)
    parts = tuple(replace(part, facts=facts) if part.number == key.part else part for part in READ.parts)
    resolve(replace(READ, parts=parts))


def test_every_key_of_the_table_is_read() -> None:
    """`not shown` for any key is a gap in the contract."""
    assert [f"{key.part} {key.path}" for key in vocabulary() if not is_read(key)] == []


def is_read(key: Key) -> bool:
    facts = under(key, word("not shown", PLACE))
    parts = tuple(replace(part, facts=facts) if part.number == key.part else part for part in READ.parts)
    outcome = resolve(replace(READ, parts=parts))
    is_known = "NF0301" not in [each.code.id for each in outcome.diagnostics]
    return is_known and (key.path in SAID_ELSEWHERE or Gap(PLACE) in list(parts_of(outcome.value)))
