"""What is no value, at every key of the table: `none`, `not shown`, an empty mapping and an empty list.

Each is written at each key, where the contracts of the cases and the examples have it and where they could have it,
and what comes of it is one of these:

| written     | of what is asked for, or falls back to a line | else                                               |
|-------------|-----------------------------------------------|----------------------------------------------------|
| `none`      | refused, unless the table says that it answers | the same service as without the key, or refused     |
| `not shown` | an open question, or refused                   | the same                                           |
| `{}`, `[]`  | where the key takes no such value, refused     | the same                                           |
| `{}`, `[]`  | where it does, but for templates and schemas:  | an open question, refused, or as without the key   |

Nothing is taken for something else in silence. `make test` tries an eighth of all rows.

Where nothing at all is written, that is told, and each of these words that is advised instead is taken there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from tests.contracts import compiled
from tests.slices import PARTS, piece, some

from ninefold.contract.resolve.contract import resolve
from ninefold.diagnostics.codes import NEEDS_WHAT_IS_NONE
from ninefold.diagnostics.diagnostic import Diagnostic, Severity, has_errors
from ninefold.diagnostics.place import Place as PlanPlace
from ninefold.diagnostics.source import Span
from ninefold.diff.ablate.facts import row_of_entry, row_of_item
from ninefold.language import shapes
from ninefold.language.json_schema import KEYWORDS
from ninefold.language.key import Key, Kind
from ninefold.language.table import keys_under, vocabulary
from ninefold.pipeline import Loaded, compile_tree
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Scalar, Sequence, Style

ROOT: Final = Path(__file__).parents[2]
CONTRACTS: Final = (*(ROOT / "tests" / "cases").glob("*/contract.*"), *(ROOT / "examples").glob("*.md"))


PROVENANCE: Final = frozenset({"places", "seen", "trace"})
"""What of a plan says where things stand: a line that says `none` stands too."""


def _word(text: str) -> Callable[[Span], Node]:
    return lambda span: Scalar(
        span, text, text, Style.PLAIN, tuple(min(span.start + i, span.end) for i in range(len(text) + 1))
    )


WRITTEN: Final[dict[str, Callable[[Span], Node]]] = {
    "none": _word("none"),
    "not shown": _word("not shown"),
    "{}": lambda span: Mapping(span, ()),
    "[]": lambda span: Sequence(span, ()),
}


@dataclass(frozen=True)
class Place:
    """A mapping in which a key stands, or could stand."""

    contract: Path
    part: int
    route: tuple[int, ...]
    key: Key
    is_there: bool


@cache
def _contracts() -> dict[Path, Loaded]:
    """All without errors: those in which no question is open first, and of these the shortest."""
    found = {path: compiled(path) for path in CONTRACTS}
    sound = {path: each for path, each in found.items() if not has_errors(each.diagnostics)}
    order = sorted(sound, key=lambda path: (bool(sound[path].open_questions), len(sound[path].source.text), path))
    return {path: sound[path] for path in order}


@cache
def _places() -> dict[tuple[int, str, bool], Place]:
    """For each key of the table where it stands, and where it could: the first place of each."""
    found: dict[tuple[int, str, bool], Place] = {}
    for path, loaded in _contracts().items():
        for part in loaded.document.parts:
            for keys, route, node in _mappings(part.facts, part.number, "", None, ()):
                for key in keys:
                    is_there = node.get(key.name) is not None
                    place = Place(path, part.number, route, key, is_there)
                    found.setdefault((part.number, key.path, is_there), place)
    return found


def _mappings(
    node: Node, part: int, path: str, holder: Key | None, route: tuple[int, ...]
) -> Iterator[tuple[list[Key], tuple[int, ...], Mapping]]:
    """Each mapping below a node, with the keys that the table has for it."""
    match node:
        case Mapping(entries=entries):
            yield [key for key in keys_under(part, path) if not key.is_placeholder], route, node
            for index, entry in enumerate(entries):
                key, _ = row_of_entry(part, path, entry, holder)
                yield from _mappings(entry.value, part, key.path, key, (*route, index))
        case Sequence(items=items) if holder is not None:
            for index, item in enumerate(items):
                key = row_of_item(part, holder)
                yield from _mappings(item, part, key.path, key, (*route, index))


def _with(loaded: Loaded, place: Place, written: Callable[[Span], Node] | None) -> Loaded:
    """The contract with something else written at a key; None: with nothing."""
    parts = list(loaded.document.parts)
    part = parts[place.part - 1]
    facts = _put(part.facts, place.route, place.key.name, written)
    assert isinstance(facts, Mapping)
    parts[place.part - 1] = replace(part, facts=facts)
    document: Document = replace(loaded.document, parts=tuple(parts))
    return compile_tree(document)


def _put(node: Node, route: tuple[int, ...], name: str, written: Callable[[Span], Node] | None) -> Node:
    if route:
        first, *rest = route
        if isinstance(node, Sequence):
            items = list(node.items)
            items[first] = _put(items[first], tuple(rest), name, written)
            return replace(node, items=tuple(items))
        assert isinstance(node, Mapping)
        entries = list(node.entries)
        entries[first] = replace(entries[first], value=_put(entries[first].value, tuple(rest), name, written))
        return replace(node, entries=tuple(entries))
    assert isinstance(node, Mapping)
    kept = [entry for entry in node.entries if entry.name != name]
    if written is None:
        return replace(node, entries=tuple(kept))
    if len(kept) < len(node.entries):
        entries = [
            replace(entry, value=written(entry.value.span), proposed=False) if entry.name == name else entry
            for entry in node.entries
        ]
        return replace(node, entries=tuple(entries))
    span = Span(node.span.start, node.span.start + 1)
    key = _word(name)(span)
    assert isinstance(key, Scalar)
    return replace(node, entries=(*node.entries, Entry(key, written(span))))


def _service(loaded: Loaded) -> Any:
    """What is served, without where it stands, and what is asked."""
    return _without_places(loaded.plan), _questions(loaded)


def _questions(loaded: Loaded) -> frozenset[tuple[str, str, str]]:
    return frozenset((each.question.id, str(each.subject), each.text) for each in loaded.open_questions)


def _is_asked_there(loaded: Loaded, place: Place) -> bool:
    node: Node = loaded.document.parts[place.part - 1].facts
    for step in place.route:
        assert not isinstance(node, Scalar)
        node = node.entries[step].value if isinstance(node, Mapping) else node.items[step]
    entry = node.get(place.key.name) if isinstance(node, Mapping) else None
    return entry is not None and any(each.span.meets(entry.value.span) for each in loaded.open_questions)


def _without_places(value: Any) -> Any:
    match value:
        case PlanPlace():
            return None
        case msgspec.Struct():
            names = (name for name in value.__struct_fields__ if name not in PROVENANCE)
            return type(value), {name: _without_places(getattr(value, name)) for name in names}
        case dict():
            return {name: _without_places(each) for name, each in value.items()}
        case list() | tuple():
            return [_without_places(each) for each in value]
    return value


def _takes(shape: shapes.Shape, written: str) -> bool:
    match shape:
        case shapes.OneOf(several):
            return any(_takes(each, written) for each in several)
        case shapes.Template() | shapes.JSON() | shapes.Expression():
            return True
        case shapes.Members() | shapes.MappingOf() | shapes.JSONSchema():
            return written == "{}"
        case shapes.ListOf() | shapes.Names():
            return written == "[]"
    return False


def _says_something(key: Key) -> bool:
    """Whether an empty mapping or list is a value: where an expression or a template stands, and in a schema, where
    JSON Schema says which."""
    alternatives = key.shape.shapes if isinstance(key.shape, shapes.OneOf) else (key.shape,)
    return key.name in KEYWORDS or any(
        isinstance(each, shapes.Template | shapes.JSON | shapes.Expression) for each in alternatives
    )


def _wrong(place: Place, written: str, absent: Any, before: Loaded) -> str | None:
    loaded = _with(before, place, WRITTEN[written])
    if written == "not shown" and any(each.code is NEEDS_WHAT_IS_NONE for each in loaded.diagnostics):
        return "it is told to be `none`"
    if has_errors(loaded.diagnostics):
        return None
    asked = bool(_questions(loaded) - _questions(before)) or _is_asked_there(loaded, place)
    is_as_absent = _service(loaded) == absent
    match written:
        case "not shown":
            return None if asked else "no question is open"
        case "none" if not place.key.admits_none:
            return "it is no answer, and it is taken for one"
        case "none":
            return None if place.key.says_none or is_as_absent else "it is not as if the key were absent"
    if {each.code.id for each in loaded.diagnostics} - {each.code.id for each in before.diagnostics}:
        return None
    if not _takes(place.key.shape, written):
        return "it is no value of the key, and nothing says so"
    if asked or is_as_absent or _says_something(place.key):
        return None
    if place.key.says_none and _service(_with(before, place, WRITTEN["none"])) == _service(loaded):
        return None
    return "it is taken for something"


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_what_is_no_value_is_taken_for_nothing_else(part: int) -> None:
    wrong = []
    for place in piece(list(_places().values()), part, 49):
        before = _contracts()[place.contract]
        absent = _service(_with(before, place, None))
        for written in WRITTEN:
            try:
                why = _wrong(place, written, absent, before)
            except Exception as error:  # whatever it is, it is told with its place
                why = f"{type(error).__name__}: {error}"
            if why is not None:
                name = place.contract.parent.name
                wrong.append(f"{place.part} {place.key.path}: {written} (in {name}, at {place.route}): {why}")
    assert not wrong, "\n".join(wrong)


@cache
def _entries() -> dict[tuple[int, str], tuple[Path, int, tuple[int, ...], str]]:
    """Where something is written: for each row of the table, those of names too, the first such place."""
    found: dict[tuple[int, str], tuple[Path, int, tuple[int, ...], str]] = {}

    def walk(path: Path, part: int, at: str, holder: Key | None, route: tuple[int, ...], node: Node) -> None:
        for index, each in enumerate(() if isinstance(node, Scalar) else _inside(node)):
            if isinstance(each, Entry):
                key, _ = row_of_entry(part, at, each, holder)
                found.setdefault((part, key.path), (path, part, route, each.name))
                walk(path, part, key.path, key, (*route, index), each.value)
            elif holder is not None:
                key = row_of_item(part, holder)
                walk(path, part, key.path, key, (*route, index), each)

    for path, loaded in _contracts().items():
        for part in loaded.document.parts:
            walk(path, part.number, "", None, (), part.facts)
    return found


def _inside(node: Mapping | Sequence) -> tuple[Entry | Node, ...]:
    return node.entries if isinstance(node, Mapping) else node.items


def _said_there(place: tuple[Path, int, tuple[int, ...], str], written: Callable[[Span], Node]) -> list[Diagnostic]:
    """What the reader says of the very value that is written there."""
    path, number, route, name = place
    document = _contracts()[path].document
    part = document.parts[number - 1]
    at: list[Span] = []

    def here(span: Span) -> Node:
        at.append(span)
        return written(span)

    facts = _put(part.facts, route, name, here)
    assert isinstance(facts, Mapping)
    parts = [replace(each, facts=facts) if each is part else each for each in document.parts]
    said = resolve(replace(document, parts=tuple(parts))).diagnostics
    return [each for each in said if each.span == at[0] and each.code.severity is Severity.ERROR]


@pytest.mark.long
def test_what_is_advised_where_nothing_is_written_is_taken_there() -> None:
    """And `not shown` is taken everywhere, be it advised or not."""
    nothing = lambda span: Scalar(span, "", None, Style.PLAIN, (span.start,))  # noqa: E731
    advised, wrong = set(), []
    for (part, path), place in some(list(_entries().items()), 9):
        helps = [help for each in _said_there(place, nothing) for help in each.help]
        if not helps:
            wrong.append(f"{part} {path}: nothing is advised")
        advised_there = {each for each in WRITTEN if any(f"`{each}`" in help for help in helps)}
        advised |= advised_there
        for written in advised_there | {"not shown"}:
            told = _said_there(place, WRITTEN[written])
            wrong += [f"{part} {path}: {written} may be written, and {each.code.id}: {each.message}" for each in told]
    assert not wrong, "\n".join(wrong)
    assert advised >= {"none", "not shown"}


UNTRIED: Final = frozenset({"cases.CASE.also.EFFECT"})
"""What no sound contract of the cases has, nor the mapping that it would stand in."""


def test_every_other_key_has_a_place() -> None:
    """What a new key brings is tried too: some contract has it, or the mapping that it would stand in."""
    seen = {(part, path) for part, path, _ in _places()}
    unseen = [key.path for key in vocabulary() if not key.is_placeholder and (key.part, key.path) not in seen]
    assert not [path for path in unseen if not any(each in path for each in UNTRIED)]


def test_it_can_fail() -> None:
    """What is as if it were not there, and should not be; and what is not as if it were not there."""
    place = _places()[2, "RESOURCE.fields.FIELD.on change", False]
    before = _contracts()[place.contract]
    absent = _service(before)
    assert _wrong(place, "none", absent, before) is None
    assert _wrong(replace(place, key=replace(place.key, kind=Kind.FALLS_BACK)), "none", absent, before)
    assert _wrong(place, "none", "another service", before)
