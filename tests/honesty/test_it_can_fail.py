"""The law finds what is invented: a compiler with a default planted into it is caught, whatever the default is.

Each plant is what somebody would call convenient: a caller who may do it unless something says otherwise, rows that
everybody sees, an error body where no shape is stated, a page size, a header that nobody asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import msgspec
import pytest
from tests.honesty.test_contracts import work

from ninefold.diff.ablate.ablate import Work, ablate
from ninefold.diff.ablate.facts import Removal, written
from ninefold.diff.ablate.fixed import Whole
from ninefold.diff.ablate.law import Found
from ninefold.pipeline import Loaded, compile_tree
from ninefold.plan.limits import RateHeader
from ninefold.plan.routes import Blocked
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Scalar, Sequence, Style

ROOT = Path(__file__).parents[2]


@cache
def orders() -> Whole:
    contract, requests = ROOT / "examples" / "orders.md", ROOT / "examples" / "orders.http"
    files = ((requests.name, requests.read_text(encoding="utf-8")),)
    return Work(contract.name, contract.read_bytes(), files, {}).whole()


def found(address: str, compiler: Callable[[Document], Loaded], removal: Removal = "taken out") -> Found:
    (fact,) = (fact for fact in written(orders().loaded.document) if fact.address == address)
    (came,) = ablate(orders(), (fact,), (removal,), compiler)
    return came


# Defaults of a language: what is not written is as if this had been written.


def word(text: str, at: Node) -> Scalar:
    start = at.span.start
    value = int(text) if text.isdecimal() else text
    return Scalar(at.span, text, value, Style.PLAIN, tuple([start] * (len(text) + 1)))


def value_at(text: str, at: Node) -> Node:
    """A word, or a list of one."""
    return Sequence(at.span, (word(text.strip("[]"), at),)) if text.startswith("[") else word(text, at)


def with_default(part: str, names: tuple[str, ...], value: str, document: Document) -> Loaded:
    """A compiler that takes `value` where the entry at `names` is not written."""
    index = next(index for index, each in enumerate(document.parts) if each.name == part)
    facts = filled(document.parts[index].facts, names, value)
    parts = list(document.parts)
    parts[index] = replace(parts[index], facts=facts)
    return compile_tree(replace(document, parts=tuple(parts)))


def filled(node: Mapping, names: tuple[str, ...], value: str) -> Mapping:
    first, *rest = names
    entry = node.get(first)
    if entry is None:
        return replace(node, entries=(*node.entries, Entry(word(first, node), value_at(value, node))))
    if not rest or not isinstance(entry.value, Mapping):
        return node
    below = replace(entry, value=filled(entry.value, tuple(rest), value))
    return replace(node, entries=tuple(below if each is entry else each for each in node.entries))


@pytest.mark.parametrize(
    ("fact", "part", "names", "default"),
    [
        ("5 permissions > POST /orders/{id}/pay > staff", "authentication",
         ("permissions", "POST /orders/{id}/pay", "staff"), "true"),
        ("5 rows > order > key", "authentication", ("rows", "order", "key"), "true"),
        ("5 unseen rows", "authentication", ("unseen rows",), "forbidden"),
        ("4 requests > unknown members", "endpoints", ("requests", "unknown members"), "ignored"),
        ("8 pages > default", "limits", ("pages", "default"), "1"),
        ("8 body size", "limits", ("body size",), "128 KiB"),
        ("4 GET /orders > sort", "endpoints", ("GET /orders", "sort"), "[created_at]"),
    ],
)  # fmt: skip
def test_a_default_is_found(fact: str, part: str, names: tuple[str, ...], default: str) -> None:
    assert not found(fact, compile_tree).breaches
    came = found(fact, partial(with_default, part, names, default))
    assert came.breaches or came.is_quiet, came


def test_a_default_that_repeats_what_was_written_is_a_fact_that_is_not_exercised() -> None:
    assert found("8 pages > default", partial(with_default, "limits", ("pages", "default"), "20")).is_quiet


def test_rows_that_everybody_sees_are_more_where_all_others_may_call() -> None:
    boards = work(ROOT / "tests" / "cases" / "boards-with-entity-tags").whole()
    (fact,) = (each for each in written(boards.loaded.document) if each.address == "5 rows > note > key")
    compiler = partial(with_default, "authentication", ("rows", "note", "key"), "true")
    (came,) = ablate(boards, (fact,), ("taken out",), compiler)
    assert any("may do or see more" in words for words in came.breaches), came


# Defaults of a planner and of a server: a plan holds what no fact says.


def test_an_error_body_without_a_shape_is_found() -> None:
    def shaped(document: Document) -> Loaded:
        loaded = compile_tree(document)
        assert loaded.plan is not None
        unshaped = msgspec.structs.replace(loaded.plan, problems=orders().plan.problems)
        return replace(loaded, planned=lambda: unshaped)

    assert not found("7 error shape > body", compile_tree).breaches
    assert found("7 error shape > body", shaped).breaches


def test_a_header_that_nobody_states_is_found() -> None:
    def headed(document: Document) -> Loaded:
        loaded = compile_tree(document)
        assert loaded.plan is not None
        limits = loaded.plan.limits
        more = msgspec.structs.replace(limits, headers=(*limits.headers, RateHeader("X-Powered-By", "limit")))
        with_more = msgspec.structs.replace(loaded.plan, limits=more)
        return replace(loaded, planned=lambda: with_more)

    came = found("8 rate headers > 0", headed)
    assert any("powered" in words for words in came.breaches), came


def test_a_gap_that_blocks_nothing_is_found() -> None:
    def served(document: Document) -> Loaded:
        loaded = compile_tree(document)
        assert loaded.plan is not None
        return replace(loaded, planned=lambda: orders().plan)

    came = found("4 POST /customers > body", served)
    assert any("is answered" in words or "it is not" in words for words in came.breaches), came


def test_an_endpoint_that_is_not_there_where_a_gap_blocks_it_is_found() -> None:
    def hiding(document: Document) -> Loaded:
        loaded = compile_tree(document)
        assert loaded.plan is not None
        left = tuple(each for each in loaded.plan.routes if not isinstance(each, Blocked))
        plan = msgspec.structs.replace(loaded.plan, routes=left)
        return replace(loaded, planned=lambda: plan)

    came = found("4 POST /customers > body", hiding)
    assert any("is answered" in words for words in came.breaches), came


def test_an_endpoint_that_is_blocked_without_a_gap_is_found() -> None:
    blocked = compile_tree(orders().loaded.document)
    assert blocked.plan is not None

    def silent(document: Document) -> Loaded:
        return replace(compile_tree(document), open_questions=())

    assert any("no gap" in words for words in found("4 POST /customers > body", silent).breaches)


def test_a_compiler_that_fails_is_found() -> None:
    def broken(document: Document) -> Loaded:
        raise ZeroDivisionError("a default for one")

    assert found("4 POST /customers > body", broken).breaches == (
        "ninefold fails: ZeroDivisionError: a default for one",
    )
