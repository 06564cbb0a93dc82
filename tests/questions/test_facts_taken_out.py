"""Each fact of an example, taken out alone: it is accounted for as the kind of its key says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.slices import some

from ninefold.contract.questions.ask import ask, written_path
from ninefold.contract.resolve.contract import resolve
from ninefold.language.key import Kind
from ninefold.language.table import key_at, vocabulary
from ninefold.syntax.nodes import Document, Mapping, Node, Part, Sequence
from ninefold.syntax.parser import Form, parse, read

EXAMPLES = Path(__file__).parents[2] / "examples"

ANSWERED_OTHERWISE = {
    "orders": {
        "on delete": "no endpoint deletes a customer",
        "permissions": "`all others` speaks for the endpoint",
        "to": "`rename` without `to` is an error",
    },
    "conduit": {
        "permissions": "`all others` speaks for the endpoint",
        "pages": "part 8 says it for the list",
        "unseen rows": "no row rule hides rows",
    },
}
"""Keys that a question asks for, and that an example states beyond what is asked of it."""

ASKING = {
    "on create": "primary key",
    "codes": "codes",
    "CODE": "status",
    "where": "does",
    "sorts": "does",
}
"""Keys of other kinds whose absence leaves a question open, and which: nobody makes the identifier then, a
condition has no code, a code that is used is not there, and nothing says which row is meant, or what a parameter is."""


KEYS = {(key.part, key.path) for key in vocabulary()}


def document(name: str) -> Document:
    source = read(name, (EXAMPLES / f"{name}.md").read_bytes()).value
    return parse(source, Form.LITERATE).value


def removals(part: int, path: str, node: Node, names: tuple[str, ...] = ()) -> Iterator[tuple[str, str, Node]]:
    """For each key below a node: its path in the table, its place, and the node without it."""
    match node:
        case Mapping(entries=entries):
            for index, entry in enumerate(entries):
                below, named = written_path(part, path, entry.name), (*names, entry.name)
                yield below, "/".join(named), replace(node, entries=entries[:index] + entries[index + 1 :])
                for found, place, value in removals(part, below, entry.value, named):
                    kept = replace(entry, value=value)
                    yield found, place, replace(node, entries=(*entries[:index], kept, *entries[index + 1 :]))
        case Sequence(items=items):
            for index, item in enumerate(items):
                below = written_path(part, path, "")
                for found, place, value in removals(part, below, item, (*names, str(index))):
                    yield found, place, replace(node, items=(*items[:index], value, *items[index + 1 :]))


def cases(name: str) -> Iterator[tuple[Part, str, str, Document]]:
    whole = document(name)
    for part in whole.parts[1:]:
        for path, place, facts in removals(part.number, "", part.facts):
            assert isinstance(facts, Mapping)
            parts = tuple(replace(each, facts=facts) if each is part else each for each in whole.parts)
            if (part.number, path) in KEYS:  # and not within a value, such as a template's member
                yield part, path, place, replace(whole, parts=parts)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["orders", "conduit"])
def test_a_fact_taken_out_is_accounted_for(name: str) -> None:
    wrong = []
    for part, path, place, cut in some([*cases(name)], 4):
        key = key_at(part.number, path)
        words = path.split(".")
        outcome = resolve(cut)
        found = {each.question.id for each in ask(outcome.value)}
        if key.kind is Kind.ASKED:
            accounted = bool(found) or any(word in ANSWERED_OTHERWISE[name] for word in words)
        elif key.is_asked:
            accounted = True  # it depends on its condition, or on another line: tests/honesty judges which
        elif any(word in ASKING for word in words):
            accounted = found <= set(ASKING.values())
        else:
            accounted = not found or key.kind is Kind.NAMES
        if not accounted:
            wrong.append((part.name, place, key.kind.value, sorted(found)))
    assert wrong == []
