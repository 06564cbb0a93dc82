"""What refuses the same values is the same, however its bounds are written; what does not is never said to be."""

from __future__ import annotations

from collections import Counter
from functools import partial
from random import Random
from typing import Any, Final

import jsonschema_rs
import pytest
from tests.parts import contract

from ninefold.diff.compare import diff
from ninefold.diff.conditions import relation
from ninefold.diff.domains import Domains, Edges
from ninefold.diff.normal import Words
from ninefold.diff.schemas import steps
from ninefold.pipeline import compile_document

NUMBERS: Final = (-1, 0, 1, 2, 3, 0.5, 1.5, 2.0)
EDGES: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
VALUES: Final = (*(each / 8 for each in range(-80, 81)), *range(-12, 13), None, "a")
OPERATORS: Final = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


def schema(random: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"type": random.choice(["integer", ["integer", "null"], "number"])}
    made |= {edge: random.choice(NUMBERS) for edge in EDGES if random.random() < 0.4}
    return made | ({"multipleOf": random.choice([1, 2, 3, 0.5, 1.5, 6])} if random.random() < 0.3 else {})


def test_of_schemas_of_numbers_what_is_lost_and_what_comes_is_said() -> None:
    random, met = Random(9), Counter[frozenset[str]]()
    for _ in range(8_000):
        old, new = schema(random), schema(random)
        new = new if random.random() < 0.5 else {**old, **{name: new[name] for name in random.sample([*new], 1)}}
        was, now = ([*map(jsonschema_rs.validator_for(each).is_valid, VALUES)] for each in (old, new))
        truth = {"less"} if any(a and not b for a, b in zip(was, now, strict=True)) else set()
        truth |= {"more"} if any(b and not a for a, b in zip(was, now, strict=True)) else set()
        said = {each.direction for each in steps(old, new)}
        assert truth <= said or said & {"other", "unproved"}, (old, new)
        met[frozenset(truth)] += not said
    assert set(met) == {frozenset(), frozenset({"less"}), frozenset({"more"}), frozenset({"less", "more"})}
    assert met[frozenset()] > 500  # what is the same is said to be so, beside what is written alike


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}),
        ({"type": "integer", "maximum": 9}, {"type": "integer", "exclusiveMaximum": 9.5}),
        ({"type": ["integer", "null"], "minimum": 0.5}, {"type": ["integer", "null"], "minimum": 1}),
        ({"type": "integer", "multipleOf": 2, "minimum": 1}, {"type": "integer", "multipleOf": 2, "minimum": 2}),
        ({"type": "integer"}, {"type": "integer", "multipleOf": 0.5}),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": 3}, {"type": "number", "exclusiveMinimum": 3}),
        ({"type": "string"}, {"type": "string", "minLength": 0}),
        ({"type": "array", "uniqueItems": False}, {"type": "array", "minItems": 0}),
        ({"const": "a"}, {"enum": ["a"]}),
    ],
)
def test_the_same_values_by_other_keywords_are_no_step(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert [*steps(old, new), *steps(new, old)] == []


def test_a_decimal_is_a_multiple_as_it_is_written() -> None:
    [step] = steps({"type": "number", "multipleOf": 0.1}, {"type": "number", "multipleOf": 0.3})
    assert step.direction == "less"


def test_comparisons_of_whole_numbers_are_told_as_what_they_admit() -> None:
    random, words, met = Random(7), Words({}), Counter[str]()
    for _ in range(1_500):
        edges = {edge: random.choice(NUMBERS) for edge in EDGES if random.random() < 0.2}
        known = Domains(lambda _: None, lambda _: True, lambda path: path == ("name", "n"), partial(_among, edges))
        terms = [(random.choice([*OPERATORS]), random.choice(NUMBERS)) for _ in range(4)]
        joined = random.choice(["&&", "||"])
        of = all if joined == "&&" else any
        halves = terms[:2], terms[2:]
        whole = [*filter(jsonschema_rs.validator_for(edges).is_valid, range(-9, 12))]
        was, now = ({n for n in whole if of(OPERATORS[o](n, b) for o, b in half)} for half in halves)
        texts = [f" {joined} ".join(f"n {operator} {bound}" for operator, bound in half) for half in halves]
        expected = "same" if was == now else "more" if was < now else "less" if was > now else "other"
        old, new = map(words.read, texts)
        assert relation(old, new, known) == expected, (texts, edges)
        met[expected] += 1
    assert min(met[each] for each in ("same", "more", "less", "other")) > 20


def _among(edges: Edges, _: Any) -> tuple[Edges, ...]:
    return (edges,) if edges else ()


_ROOMS: Final = contract(
    """room:
  primary key: id
  fields: {id: {type: integer, on create: serial()}, beds: {type: integer, minimum: 1}}
  required: [beds]
""",
    """POST /rooms: {does: create room, body: [beds], responses: {201: room}}
GET /rooms:
  {does: list room, sort: [id], where: room.beds > 2,
   query: {most: {type: integer, maximum: 9, where: room.beds <= value}}, responses: {200: page.items}}
DELETE /rooms/{id}: {does: delete room, responses: {204: none}}
""",
    callers="schemes: none\nunseen rows: not found\nrows: {room: {anyone: room.beds > 0}}\n"
    'permissions: {all others: anyone, "DELETE /rooms/{id}": {anyone: room.beds < 50}}\n',
    limits="pages: none",
)  # fmt: skip
ROOMS: Final = _ROOMS.replace("unknown members: refused}", "unknown members: refused, unknown parameters: refused}")
FEW: Final = ROOMS.replace("minimum: 1}", "minimum: 1, maximum: 40}")
RULE: Final = ROOMS.replace("fields: error.fields}", 'fields: "error.fields.map(f, f.rule)"}')


@pytest.mark.parametrize(
    ("text", "was", "now", "verdict"),
    [
        (ROOMS, "where: room.beds > 2", "where: room.beds >= 3", "words"),
        (ROOMS, "room.beds < 50", "room.beds <= 49", "words"),
        (ROOMS, "room.beds < 50", "room.beds < 51", "opens"),
        (FEW, "room.beds < 50", "room.beds < 51", "words"),
        (FEW, "room.beds < 50", "room.beds <= 40", "words"),
        (FEW, "room.beds < 50", "room.beds < 40", "breaking"),
        (FEW, "anyone: room.beds > 0", "anyone: true", "words"),
        (ROOMS, "anyone: room.beds > 0", "anyone: room.beds >= 1", "words"),
        (ROOMS, "minimum: 1}", "exclusiveMinimum: 0}", "compatible"),
        (ROOMS, "maximum: 9", "exclusiveMaximum: 10", "compatible"),
        (ROOMS, "minimum: 1}", "exclusiveMinimum: 1}", "breaking"),
        (RULE, "minimum: 1}", "exclusiveMinimum: 0}", "look"),
        (RULE, "maximum: 9", "exclusiveMaximum: 10", "look"),
    ],
)
def test_what_is_felt_of_another_bound(text: str, was: str, now: str, verdict: str) -> None:
    assert text.count(was) == 1
    old, new = (compile_document("c.md", each.encode()) for each in (text, text.replace(was, now)))
    assert old.plan is not None and new.plan is not None, (old.diagnostics, new.diagnostics)
    assert [each.verdict for each in diff(old, new).findings] == [verdict]
