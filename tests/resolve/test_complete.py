"""Nothing that a document states is dropped: every value is in the contract, at its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest
from tests.resolve.documents import EXAMPLES, PLAIN, document, entries, parts_of, scalars, with_node, word

from ninefold.contract.resolve.contract import resolve
from ninefold.contract.service import Contract
from ninefold.diagnostics.source import Span
from ninefold.language.authentication import Every
from ninefold.language.errors import Message
from ninefold.language.expressions import Expression
from ninefold.language.fact import Gap, Name, Proposal, Shown, StatedNone
from ninefold.language.routes import PathName
from ninefold.language.schemas import Schema
from ninefold.language.table import vocabulary
from ninefold.language.versioning import VersionScheme
from ninefold.syntax.nodes import Document, Mapping, Part, Scalar, Sequence
from ninefold.syntax.parser import Form

WORDS = {key.name for key in vocabulary() if not key.is_placeholder}

DOCUMENTS = {
    "orders": (EXAMPLES / "orders.md", Form.LITERATE),
    "conduit": (EXAMPLES / "conduit.md", Form.LITERATE),
    "plain": (None, Form.PLAIN),
}


def text_and_form(name: str) -> tuple[str, Form]:
    path, form = DOCUMENTS[name]
    return (PLAIN if path is None else path.read_text(encoding="utf-8")), form


def some_scalars(name: str, read: Document) -> Iterator[tuple[str, Scalar]]:
    """Each value with the name of its part: all of the small document, and every seventh of the examples."""
    values = ((part.name, scalar) for part in read.parts for scalar in scalars(part.facts))
    return islice(values, 0, None, 1 if name == "plain" else 7)


def leaf_spans(contract: Contract) -> set[Span]:
    """The places of everything in a contract that holds no further facts."""
    spans: set[Span] = set()
    for part in parts_of(contract):
        match part:
            case Shown(str() | int(), span):
                spans.add(span)
            case Shown(tuple() as values, span) if values and all(isinstance(value, int) for value in values):
                spans.add(span)
            case Mapping() | Sequence():
                spans |= {scalar.span for scalar in scalars(part)} | {entry.key.span for entry in entries(part)}
            case Schema(_, node):
                spans |= {scalar.span for scalar in scalars(node)} | {entry.key.span for entry in entries(node)}
            case Expression(_, written):
                spans.add(written.span)
            case Name(_, span) | StatedNone(span) | Gap(span) | Every(span) | PathName(_, span):
                spans.add(span)
            case Shown() | Proposal():
                pass
            case _ if isinstance(place := getattr(part, "span", None), Span):
                spans.add(place)
    return spans


def covered(scalar: Scalar, spans: set[Span], texts: set[str]) -> bool:
    inside = any(span.start <= scalar.span.start and scalar.span.end <= span.end for span in spans)
    return inside or scalar.text in texts


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_example_resolves_without_a_diagnostic(name: str) -> None:
    outcome = resolve(document(*text_and_form(name)))
    assert [diagnostic.message for diagnostic in outcome.diagnostics] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_scalar_is_in_the_contract(name: str) -> None:
    read = document(*text_and_form(name))
    contract = resolve(read).value
    spans = narrow(leaf_spans(contract), read)
    texts = {part.text for part in parts_of(contract) if isinstance(part, Message)}
    texts |= {part.name for part in parts_of(contract) if isinstance(part, VersionScheme) and part.name}
    missing = [
        scalar.text
        for facts in map(without_terms, read.parts)
        for scalar in (
            *scalars(facts),
            *(entry.key for entry in entries(facts) if entry.name not in WORDS),
        )
        if not covered(scalar, spans, texts)
    ]
    assert missing == []


def without_terms(part: Part) -> Mapping:
    """A term is in the contract wherever it is used, and as what it stands for."""
    return replace(part.facts, entries=tuple(entry for entry in part.facts.entries if entry.name != "terms"))


def narrow(spans: set[Span], read: Document) -> set[Span]:
    """Only places of one scalar, or of a short list of them: a whole mapping covers nothing."""
    wide = {
        node.value.span for part in read.parts for node in entries(part.facts) if isinstance(node.value, Mapping)
    } | {part.facts.span for part in read.parts}
    return spans - wide


@pytest.mark.parametrize("name", DOCUMENTS)
def test_not_shown_in_place_of_any_value_is_a_gap_at_that_place(name: str) -> None:
    """Also what is deep in a list, a template or a schema: the fact that holds it is the gap."""
    read = document(*text_and_form(name))
    for part, scalar in some_scalars(name, read):
        contract = resolve(with_node(read, scalar, word("not shown", scalar.span))).value
        gaps = {found for found in parts_of(contract) if isinstance(found, Gap)}
        assert gaps == {Gap(scalar.span)}, (part, scalar.text)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_proposal_in_place_of_any_value_is_a_proposal_of_the_same(name: str) -> None:
    read = document(*text_and_form(name))
    for part, scalar in some_scalars(name, read):
        changed = with_node(read, scalar, replace(scalar, proposed=True))
        outcome = resolve(changed)
        assert outcome.diagnostics == (), (part, scalar.text)
        assert any(isinstance(found, Proposal) for found in parts_of(outcome.value)), (part, scalar.text)
        accepted = resolve(changed, accept_proposals=True)
        assert not any(isinstance(found, Proposal) for found in parts_of(accepted.value))
        assert any(isinstance(found, Shown | StatedNone) and found.proposed for found in parts_of(accepted.value))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_none_in_place_of_any_value_is_read(name: str) -> None:
    read = document(*text_and_form(name))
    for part, scalar in some_scalars(name, read):
        outcome = resolve(with_node(read, scalar, word("none", scalar.span)))
        gaps = [found for found in parts_of(outcome.value) if isinstance(found, Gap)]
        assert outcome.diagnostics or not gaps, (part, scalar.text)
