"""What is offered for a name that is not known is known, and fits where it would stand."""

from __future__ import annotations

import re

import pytest
from tests.expressions.shapes import MODEL, ROOTS, problems

from ninefold.expressions.functions import TABLE
from ninefold.expressions.scope import Scope, describe
from ninefold.values import Boolean, Duration, Integer, Number, Row, Text, Timestamp, Type

CREATING = Scope({name: ROOTS[name] for name in ("order", "customer", "caller", "now")}, MODEL, serial=True)
NEEDED = (Boolean(), Integer(), Number(), Text(), Timestamp(), Duration(), Row(resource="customer"))
ELSEWHERE = (
    "autoincrement",
    "CURRENT_TIMESTAMP",
    "today()",
    "nextval()",
    "gen_random_uuid()",
    "Zustand",
    "self.status",
)


@pytest.mark.parametrize("needed", NEEDED, ids=describe)
@pytest.mark.parametrize("written", ELSEWHERE)
def test_what_is_offered_fits(written: str, needed: Type) -> None:
    [problem] = problems(written, CREATING, needed)
    for line in problem.help:
        if line.startswith("text stands in quotes"):
            assert isinstance(needed, Text)
            assert "." not in written
        elif line.startswith("of what can be read here"):
            for offered in re.findall("`([^`]+)`", line.rpartition(" is ")[0] or line.rpartition(" are ")[0]):
                assert problems(offered, CREATING, needed) == []


@pytest.mark.parametrize(
    ("written", "needed", "help"),
    [
        ("autoincrement", Integer(), "of what can be read here, `serial()` is an integer"),
        ("CURRENT_TIMESTAMP", Timestamp(), "of what can be read here, `now` is a date-time"),
        ("self.note", Text(), "did you mean `order.note`?"),
        ("caller", Row(resource="customer"), "did you mean `caller.customer`?"),
        ("order.note.length", Integer(), "it is a function: write `.size()`"),
        ("order.note.trim", Text(), "it is a function: write `.trim()`"),
        ("open", Text(), "text stands in quotes: `'open'`"),
    ],
)
def test_the_nearest_is_told(written: str, needed: Type, help: str) -> None:
    assert problems(written, CREATING, needed)[0].help[0] == help


@pytest.mark.parametrize("name", sorted({each.name for each in TABLE if each.style == "function"} - set(ROOTS)))
def test_a_function_without_brackets_is_told_to_be_one(name: str) -> None:
    [help] = problems(name, CREATING, Text())[0].help
    assert re.fullmatch(f"it is a function: write `{name}\\((…(, …)*)?\\)`|did you mean `.*`\\?", help)
