"""Pairs of contracts that can both be asked: what they answer, beside what `diff` says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tests.contracts import compiled, contract_of, operator_of
from tests.slices import seldom

from ninefold.diff.ablate.ablate import asked_of
from ninefold.diff.ablate.compare import Change, body_is_less, is_less, refuses, says_the_same
from ninefold.diff.ablate.facts import Written, without, written
from ninefold.diff.ablate.fixed import Whole, rehearse, scripts
from ninefold.diff.compare import diff
from ninefold.diff.finding import Difference
from ninefold.diff.meaning import felt, meaning
from ninefold.diff.rehearsal import Seen
from ninefold.language.key import Kind
from ninefold.pipeline import Loaded, compile_tree
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Scalar, Sequence, scalars


@dataclass(frozen=True)
class Answered:
    """A request that the two answer in another way."""

    where: str
    old: Seen
    new: Seen

    @property
    def words(self) -> str:
        return f"{self.where}: {_said(self.old)} -> {_said(self.new)}"


def _said(seen: Seen) -> str:
    return f"{seen.status} {seen.body[:120].decode('utf-8', 'replace')}"


def whole(directory: Path) -> Whole:
    """With what the operator gives to the case: its requests are written for that, and for nobody who stands in."""
    contract = contract_of(directory)
    files = tuple((path.name, path.read_text(encoding="utf-8")) for path in sorted((directory / "http").glob("*.http")))
    return rehearse(compiled(contract), scripts(files), operator_of(directory), stands_in=False)


@dataclass(frozen=True)
class Pair:
    name: str
    old: Loaded
    new: Loaded
    answers: list[Answered]


def both_ways(of: Whole, new: Loaded) -> Iterator[Pair]:
    """The contract and another one, and the other way round."""
    assert new.plan is not None
    found = [each for each in asked_of(of, new.plan) if not each.turns_on_a_tag]
    yield Pair("there", of.loaded, new, [_answered(each) for each in found])
    yield Pair("back", new, of.loaded, [_turned(each) for each in found])


def pairs(of: Whole, facts: list[Written]) -> Iterator[Pair]:
    """The contract and what is left of it without each of some facts, both ways round."""
    for fact in facts:
        less = compile_tree(without(of.loaded.document, fact, "taken out"))
        if less.plan is None:
            continue
        found = [each for each in asked_of(of, less.plan) if not each.turns_on_a_tag]
        yield Pair(f"without {fact.address}", of.loaded, less, [_answered(each) for each in found])
        yield Pair(f"with {fact.address}", less, of.loaded, [_turned(each) for each in found])


def changed(of: Whole, one_of: int | None = None, only: str = "") -> Iterator[Pair]:
    """The contract and what it is with one value changed: a number, a time, a size, a word of an expression, a member
    of `enum`, the name of a code or a state. Both ways round."""
    document = of.loaded.document
    others = [each for each in _otherwise(document) if only in each[0]]
    for what, other in others if one_of is None else seldom(others, 3, one_of):
        new = compile_tree(other)
        if new.plan is None:
            continue
        found = [each for each in asked_of(of, new.plan) if not each.turns_on_a_tag]
        yield Pair(f"{what} changed", of.loaded, new, [_answered(each) for each in found])
        yield Pair(f"{what} changed back", new, of.loaded, [_turned(each) for each in found])


def turned_round(of: Whole, one_of: int | None = None, only: str = "") -> Iterator[Pair]:
    """The contract and what it is with one of its lists the other way round. In which order JSON has its members, and
    an error what is wrong, is promised to nobody: answers that differ in that alone are one."""
    document = of.loaded.document
    lists = [each for number in document.parts[1:8] for each in _lists(number.facts)]
    lists = [each for each in lists if only in document.source.cut(each.span)]
    for each in lists if one_of is None else seldom(lists, 3, one_of):
        new = compile_tree(_with_list(document, each))
        if new.plan is not None:
            found = [_answered(one) for one in asked_of(of, new.plan) if not one.turns_on_a_tag]
            found = [one for one in found if _plain(one.old) != _plain(one.new)]
            yield Pair(f"{document.source.place(each.span.start)} turned round", of.loaded, new, found)


def _lists(node: Node) -> Iterator[Sequence]:
    match node:
        case Mapping(entries=entries):
            for entry in entries:
                yield from _lists(entry.value)
        case Sequence(items=items):
            if len(items) > 1:
                yield node
            for item in items:
                yield from _lists(item)
        case Scalar():
            pass


def _with_list(document: Document, at: Sequence) -> Document:
    def turned(node: Node) -> Node:
        if node is at:
            return replace(at, items=at.items[::-1])
        match node:
            case Mapping(entries=entries):
                return replace(node, entries=tuple(replace(each, value=turned(each.value)) for each in entries))
            case Sequence(items=items):
                return replace(node, items=tuple(map(turned, items)))
            case Scalar():
                return node

    parts = []
    for part in document.parts:
        facts = turned(part.facts)
        assert isinstance(facts, Mapping)
        parts.append(replace(part, facts=facts))
    return replace(document, parts=tuple(parts))


def _plain(seen: Seen) -> tuple[object, ...]:
    headers = [each for each in seen.headers if each[0].lower() not in ("etag", "content-length")]
    headers.sort(key=lambda each: each[0].lower())  # of fields with differing names it says nothing (RFC 9110 5.3)
    said = _members(seen.body.decode("utf-8", "replace"), refuses(seen))
    rows = [sorted((table, repr(_members(row, False))) for table, row in each) for each in (seen.rows, seen.gone)]
    return seen.status, headers, said, rows


def _members(text: str, in_any_order: bool) -> object:
    """JSON, that within its texts as well; what is no JSON is its text. `in_any_order`: of its arrays, too."""

    def plain(value: object) -> object:
        match value:
            case dict():
                return {name: plain(each) for name, each in sorted(value.items())}
            case list():
                found = [plain(each) for each in value]
                return sorted(found, key=repr) if in_any_order else found
            case str() if value[:1] in ("{", "["):
                return _members(value, in_any_order)
            case _:
                return value

    try:
        return plain(json.loads(text))
    except ValueError:
        return text


def _otherwise(document: Document) -> Iterator[tuple[str, Document]]:
    for part in document.parts[1:8]:
        for each in scalars(part.facts):
            text = _other(each)
            if text is not None:
                place = document.source.place(each.span.start)
                yield f"{place}: {each.text} to {text}", _with(document, partial(_instead, each, text))
    for of, key in (("errors", "codes"), ("states", "states")):
        for name in dict.fromkeys(_names(document.part(of).facts, key)):
            yield f"{key} {name}", _with(document, partial(_called, name))


def _instead(at: Scalar, text: str, each: Scalar) -> str | None:
    return text if each is at else None


def _called(name: str, each: Scalar) -> str | None:
    return f"{name}_2" if each.text == name else None


def _names(facts: Node, key: str) -> Iterator[str]:
    """The names that stand under a key, wherever it is."""
    for entry in facts.entries if isinstance(facts, Mapping) else ():
        match entry.value:
            case Mapping(entries=entries) if entry.name == key:
                yield from (each.name for each in entries)
            case Sequence(items=items) if entry.name == key:
                yield from (each.text for each in items if isinstance(each, Scalar))
            case _:
                yield from _names(entry.value, key)


_TIME = re.compile(r"(PT?)(\d+)([A-Z])")
_SIZE = re.compile(r"(\d+) (B|KiB|MiB)")
_NUMBER = re.compile(r"(?<![\w'.^{-])\d+(?![\w'.}])")


def _other(scalar: Scalar) -> str | None:
    if isinstance(scalar.value, int) and not isinstance(scalar.value, bool):
        return str(scalar.value + 1)
    if not isinstance(scalar.value, str):
        return None
    if (found := _TIME.fullmatch(scalar.text)) is not None:
        return f"{found[1]}{int(found[2]) * 2}{found[3]}"
    if (size := _SIZE.fullmatch(scalar.text)) is not None:
        return f"{int(size[1]) * 2} {size[2]}"
    number = _NUMBER.search(scalar.text)
    if number is None:
        return None
    return f"{scalar.text[: number.start()]}{int(number[0]) + 1}{scalar.text[number.end() :]}"


def _with(document: Document, said: Callable[[Scalar], str | None]) -> Document:
    def changed(node: Node) -> Node:
        match node:
            case Mapping(entries=entries):
                return replace(node, entries=tuple(map(entry, entries)))
            case Sequence(items=items):
                return replace(node, items=tuple(map(changed, items)))
            case Scalar():
                return scalar(node)

    def entry(each: Entry) -> Entry:
        return replace(each, key=scalar(each.key), value=changed(each.value))

    def scalar(node: Scalar) -> Scalar:
        text = said(node)
        if text is None:
            return node
        value = int(text) if isinstance(node.value, int) else text
        start = node.span.start
        return replace(node, text=text, value=value, offsets=range(start, start + len(text) + 1))

    parts = []
    for part in document.parts:
        facts = changed(part.facts)
        assert isinstance(facts, Mapping)
        parts.append(replace(part, facts=facts))
    return replace(document, parts=tuple(parts))


def _answered(change: Change) -> Answered:
    return Answered(change.where, change.old, change.new)


def _turned(change: Change) -> Answered:
    return Answered(change.where, change.new, change.old)


def unsound(pair: Pair, found: Difference) -> Iterator[str]:
    """What is answered otherwise and not among the findings, or among what is called compatible, and is not."""
    assert pair.old.plan is not None and pair.new.plan is not None
    differs = felt(meaning(pair.old.plan), meaning(pair.new.plan))
    carried = "schema" in differs.rest
    for each in pair.answers:
        if says_the_same(each.old, each.new) and each.old.rows == each.new.rows and each.old.gone == each.new.gone:
            continue
        endpoints = {each.old.endpoint, each.new.endpoint}
        if endpoints == {None}:
            endpoints |= _beside(each.where, found)
        statuses = {each.old.status, each.new.status}
        if carried and (not endpoints & {*differs.endpoints} or len(statuses) == 1 or 404 in statuses):
            continue  # rows were carried into tables of another form: not quite the same, or left behind
        told = (one for one in found.findings if one.verdict != "words")
        about = [one for one in told if endpoints & {*one.endpoints} or one.everywhere or not one.endpoints]
        if not about:
            yield f"not found: {each.words}"
        elif all(one.verdict in ("compatible", "opens") for one in about):
            if any("raise a limit" in one.words for one in about) and _but_how_rates_stand(pair, each):
                continue
            there_is_more = any(one.verdict == "opens" or "show more rows" in one.words for one in about)
            counts = there_is_more and each.old.status == each.new.status
            if not (refuses(each.old) or is_less(each.old, each.new)) and not (
                counts and body_is_less(each.old.body, each.new.body, counts=True)
            ):
                yield f"called {about[0].verdict} ({about[0].said}): {each.words}"


def _but_how_rates_stand(pair: Pair, answered: Answered) -> bool:
    """Whether two answers are the same but for the fields that tell how much is left of a rate."""
    plans = [plan for plan in (pair.old.plan, pair.new.plan) if plan is not None]
    telling = {each.name.lower() for plan in plans for each in plan.limits.headers}
    old, new = (
        replace(seen, headers=tuple(each for each in seen.headers if each[0].lower() not in telling))
        for seen in (answered.old, answered.new)
    )
    return says_the_same(old, new) and old.rows == new.rows and old.gone == new.gone


def _beside(where: str, found: Difference) -> set[str | None]:
    """The endpoints of the path of a request that has none: its `Allow` names them."""
    path = where.rpartition(" ")[2].partition("?")[0]
    named = {key for one in found.findings for key in one.endpoints}
    return {
        key for key in named if re.fullmatch(re.sub(r"\\\{.*?\\\}", "[^/]+", re.escape(key.partition(" ")[2])), path)
    }


def facts_of(of: Whole) -> list[Written]:
    return [each for each in written(of.loaded.document) if each.kind is not Kind.TELLS]


def judged(pair: Pair) -> tuple[Difference, list[str]]:
    found = diff(pair.old, pair.new)
    return found, [f"{pair.name}: {each}" for each in unsound(pair, found)]
