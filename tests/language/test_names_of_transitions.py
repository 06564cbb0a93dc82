"""A transition is called as no verb is, so that `does: lend book` says one thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.language.former import VERBS as FORMER
from ninefold.language.verbs import KINDS, VERBS
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.writes import Transition

LENDING = (Path(__file__).parents[2] / "examples" / "lending.yaml").read_text(encoding="utf-8")
FREE = sorted({word for verb in KINDS.values() for word in (verb.name, *verb.also)} | {*FORMER} - {*VERBS})


def called(name: str) -> Loaded:
    return compile_document(
        "lending.yaml", LENDING.replace("lend:", f"{name}:").replace("lend book", f"{name} book").encode()
    )


@pytest.mark.parametrize(
    "name", [each for each in FREE if each.isidentifier() and each not in VERBS and each != "return"]
)
def test_what_is_no_verb_of_a_contract_may_be_a_transition(name: str) -> None:
    loaded = called(name)
    assert loaded.plan is not None, [each.message for each in loaded.diagnostics]
    assert repr(loaded.plan).count(f"{Transition.__name__}(") == repr(called("lend").plan).count("Transition(") > 0


@pytest.mark.parametrize("name", [each for each in VERBS if each.isidentifier()])
def test_a_verb_is_no_name_of_a_transition(name: str) -> None:
    (found,) = (each for each in called(name).diagnostics if each.code.id == "NF0311")
    assert found.message == f"`{name}` is a word of the language, and cannot be the name of a transition"
