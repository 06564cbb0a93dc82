"""What depends on the two contracts alone is worked out once, however many differences there are between them; and what
is compiled already is not compiled anew."""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from inspect import CO_GENERATOR
from types import FrameType
from typing import Final

import pytest
from benchmarks.families import business
from tests.contracts import compiled_once

from ninefold.diff.compare import diff
from ninefold.pipeline import Loaded, compile_tree
from ninefold.syntax.nodes import Document

STAGES: Final = ("/ninefold/diff/", "/ninefold/contract/", "/ninefold/upgrade/")

FORMS: Final = frozenset(("shape",))
"""What is only another form of what it is given."""

EDITS: Final = (
    ("note: {type: [string, 'null'], maxLength: 2000}", "note: {type: [string, 'null'], maxLength: 1000}"),
    ("on delete: restrict}", "on delete: cascade}"),
    ("title: Nothing to open", "title: Empty"),
    ("caller.person.name != 'guest'", "caller.person.name != 'host'"),
    ("initial: draft", "initial: open"),
    (
        "amount: {type: integer, minimum: 0}",
        "amount: {type: integer, minimum: 0}\n      more: {type: [string, 'null']}",
    ),
    ("from: draft, to: open,", "from: draft, to: closed,"),
)


def _compiled(text: str) -> Loaded:
    loaded = compiled_once("contract.yaml", text.encode())
    assert loaded.plan is not None, loaded.diagnostics
    return loaded


def _edited(was: str, now: str, times: int) -> str:
    edited = business(3).replace(was, now, times)
    assert edited.count(now.partition("\n")[0]) >= times
    return edited


@pytest.mark.parametrize(("was", "now"), EDITS)
def test_one_difference_is_the_new_contract(was: str, now: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ninefold.diff.alone.compile_tree", lambda document: pytest.fail("it is compiled already"))
    assert diff(_compiled(business(3)), _compiled(_edited(was, now, 1))).findings


def test_each_of_several_differences_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = list[Document]()

    def counted(document: Document) -> Loaded:
        compiled.append(document)
        return compile_tree(document)

    monkeypatch.setattr("ninefold.diff.alone.compile_tree", counted)
    assert len(diff(_compiled(business(3)), _compiled(_edited(*EDITS[0], 3))).findings) == len(compiled) == 3


@pytest.mark.parametrize(("was", "now"), EDITS)
def test_what_depends_on_the_contracts_alone_is_worked_out_once(was: str, now: str) -> None:
    few, many = (_asked(_compiled(business(3)), _compiled(_edited(was, now, times))) for times in (2, 3))
    assert {name: (few[name], times) for name, times in many.items() if times > max(few[name], 2)} == {}


def _asked(old: Loaded, new: Loaded) -> Counter[str]:
    """The functions that are given nothing but what belongs to one of the contracts, who asks them, and how often."""
    whole = {
        id(each)
        for loaded in (old, new)
        for each in (loaded, loaded.document, loaded.contract, loaded.plan, loaded.plan and loaded.plan.schema)
    }
    found, frames = Counter[str](), set[FrameType]()

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_name in FORMS or not _is_of_stages(code.co_filename):
            return
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
        if not given or any(id(each) not in whole for each in given) or frame in frames:
            return
        if code.co_flags & CO_GENERATOR:
            frames.add(frame)  # it is called each time that it goes on
        found[f"{frame.f_back.f_code.co_qualname if frame.f_back else ''} asks {code.co_qualname}"] += 1

    sys.setprofile(called)
    try:
        diff(old, new)
    finally:
        sys.setprofile(None)
    return found


@cache
def _is_of_stages(file: str) -> bool:
    return any(each in file for each in STAGES)
