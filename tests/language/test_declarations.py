"""What has to be true of every declaration of a key."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass

import pytest
from tests.test_plain_values import CARRIERS, WITHOUT_ONE

from ninefold import language
from ninefold.contract.questions.question import PART_QUESTIONS, QUESTIONS
from ninefold.language import shapes
from ninefold.language.declaration import Declared, Each, join, members, rows
from ninefold.language.key import Kind
from ninefold.language.records import keys_of, reader
from ninefold.language.table import vocabulary


def _records() -> Iterator[type]:
    for found in pkgutil.iter_modules(language.__path__):
        module = importlib.import_module(f"{language.__name__}.{found.name}")
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and is_dataclass(value)
                and value.__module__ == module.__name__
                and members(value)
            ):
                yield value


RECORDS = tuple(_records())
DECLARED = [(record, each) for record in RECORDS for each in members(record)]


def _called(value: object) -> str:
    return value.__name__ if isinstance(value, type) else value.attribute if isinstance(value, Declared) else str(value)


def test_there_are_records() -> None:
    assert {"Rate", "Pages", "Limits", "Check", "Field", "Resource"} <= {record.__name__ for record in RECORDS}


@pytest.mark.parametrize(("record", "each"), DECLARED, ids=_called)
def test_a_key_can_be_read(record: type, each: Declared) -> None:
    if each.whole is None and (each.key.path or not isinstance(each.holding, Each)):
        assert callable(reader(each))


@pytest.mark.parametrize(("record", "each"), DECLARED, ids=_called)
def test_what_is_asked_for_has_a_question_of_the_list(record: type, each: Declared) -> None:
    """What adds may answer a question as well, where one of its group is asked for instead of it (`to` of webhooks)."""
    is_asked = each.key.kind in (Kind.ASKED, Kind.ASKED_WHEN)
    assert each.question is not None or not is_asked
    if each.question is not None:
        assert each.question in (*QUESTIONS, *PART_QUESTIONS)
        assert each.key.question == (each.question.id if is_asked or each.key.line is not None else None)
    assert each.when is not None or each.key.kind is not Kind.ASKED_WHEN


@pytest.mark.parametrize("record", RECORDS, ids=_called)
def test_a_key_is_declared_once(record: type) -> None:
    paths = [row.path for row in rows(record, 1)]
    assert len(paths) == len(set(paths))
    keys = [each.attribute for each in members(record) if each.key.path]
    assert len(keys) <= len(keys_of(record))


@pytest.mark.parametrize("record", RECORDS, ids=_called)
def test_what_is_not_written_is_none(record: type) -> None:
    """A record can be made of its name and place alone: each of its facts is then that nothing is written."""
    own = [each for each in fields(record) if each.default is MISSING]
    made = record(*(None for _ in own))
    assert all(not getattr(made, each.attribute) for each in members(record))


def test_each_record_stands_somewhere() -> None:
    """All of its rows are in the table, under one path at least."""
    table = {key.path for key in vocabulary()}
    for record in RECORDS:
        own = [row.path for row in rows(record, 1)]
        assert any(all(join(at, path) in table for path in own) for at in ("", *table)), record.__name__


PLAIN = (shapes.Boolean, shapes.Integer, shapes.Duration, shapes.Size, shapes.Date, shapes.Word, shapes.Text)


@pytest.mark.parametrize(("record", "each"), [(record, each) for record, each in DECLARED if each.planned], ids=_called)
def test_what_goes_along_to_the_plan_is_plain_and_has_a_carrier(record: type, each: Declared) -> None:
    """A record whose plan has a mapping `said` carries it; another has none yet, and its stages carry it by name."""
    assert isinstance(each.key.shape, PLAIN), "only what is one plain value goes along by itself"
    assert record in CARRIERS, "the plan has no `said` for this record: give it one"


def test_a_key_of_a_part_as_a_whole_is_of_one_part() -> None:
    """What parts say as a whole stands in one mapping of the plan."""
    keys = [key.path for key in vocabulary() if key.path and "." not in key.path and not key.is_placeholder]
    assert len(keys) == len(set(keys))


def test_every_record_has_a_carrier_or_a_reason() -> None:
    assert not CARRIERS.keys() & WITHOUT_ONE.keys()
    assert {*RECORDS} == CARRIERS.keys() | WITHOUT_ONE.keys()
