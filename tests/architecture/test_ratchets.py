"""What is to become better, and may not become worse: the length of files and functions, the sets of verbs that are
kept by hand, and the size of the whole. Where a change makes one of them lower, `NINEFOLD_BLESS=1` writes it down."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import pytest
from tests.architecture import ratchets

Hold = Callable[[str, Mapping[str, int], int], None]

WHAT_TO_DO = {
    "long_files": "move a subject of the file into a module of its own, or into the one whose subject it is",
    "long_functions": "give steps of the function names: functions of their own",
    "sets_of_verbs": "ask a column of language/verbs.py, `kind_of(verb).makes`; where none says it, add one",
    "names_of_verbs": "ask a column of language/verbs.py, where none says it add one; what is no verb has its reason "
    "in NO_VERBS",
    "budget": "say it in fewer lines; else a commit of its own raises the number in ratchets/budget.txt, and names the "
    "package and its lines",
    "language": "let it take the place of another; else a commit of its own raises the number in "
    "ratchets/language.txt, and says why there is one more",
}
"""For whoever has made something worse, by the ratchet."""


NO_VERBS = {
    "ninefold/cli/events.py: action": "what the operator does with events",
    "ninefold/diff/conditions.py: each[:1]": "the kind of a node of an expression",
    "ninefold/diff/normal.py: found[:1]": "the kind of a node of an expression",
    "ninefold/language/endpoints.py: name": "the member of an endpoint that holds what it calls",
    "ninefold/language/table.py: verb.name": "a place on the page: transitions are told behind what they are most like",
}
"""Where the word is that of a verb, and what the verb is like is not asked, and why it stands there."""


@pytest.fixture
def hold(capsys: pytest.CaptureFixture[str]) -> Hold:
    def holds(ratchet: str, measured: Mapping[str, int], limit: int) -> None:
        with capsys.disabled():
            worse = ratchets.exceeded(ratchet, measured, limit)
        assert not worse, "\n".join((*worse, f"What to do: {WHAT_TO_DO[ratchet]}."))

    return holds


def test_no_module_grows_too_long(hold: Hold) -> None:
    hold("long_files", ratchets.lines_of_modules(), ratchets.FILE_LINES)


def test_no_function_grows_too_long(hold: Hold) -> None:
    hold("long_functions", ratchets.lines_of_functions(), ratchets.FUNCTION_LINES)


def test_sets_of_verbs_are_columns_of_their_table(hold: Hold) -> None:
    hold("sets_of_verbs", ratchets.sets_of_verbs(), 0)


def test_no_verb_is_asked_for_by_its_name(hold: Hold) -> None:
    """Whoever adds a row to the table of verbs has its columns asked everywhere: `verb == "list"` would not be."""
    found = ratchets.names_of_verbs()
    hold("names_of_verbs", found, 0)
    assert found.keys() == NO_VERBS.keys()


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ('found = verb == "list"', ["verb"]),
        ('if action.verb not in ("create", "put"): pass', ["action.verb"]),
        ('found = "sign in" in verbs', ["verbs"]),
        ('found = (each.verb, each.subject) == ("create", own)', ["(each.verb, each.subject)"]),
        ('found = {("create", own), ("put", own)} & taken', ["taken"]),
        ("found = kind is not verbs.TRANSITION", ["kind"]),
        ('DOES_ALL: Final = "delete"\nfound = verb == DOES_ALL', ["verb"]),
        ('match verb, own:\n    case "read" | "list", None: pass', ["(verb, own)", "(verb, own)"]),
        ('found = text.startswith("call ")', ["text"]),
        ('found = {"list": "`where`"}.get(verb)', ["{'list': '`where`'}"]),
        ('found = VERBS["list"].lists and verb == "lists"', []),
    ],
)
def test_a_verb_that_is_asked_for_by_its_name_is_found(source: str, asked: list[str]) -> None:
    assert [*ratchets.asks(ast.parse(source))] == asked


def test_the_house_stays_within_its_budget(hold: Hold) -> None:
    """A budget is raised only in a commit of its own, which names the package and its lines."""
    hold("budget", ratchets.in_all(), 0)


def test_the_language_stays_small(hold: Hold) -> None:
    """The goal: 205 keys, 12 verbs, 26 conditions; of meanings that hold everywhere there may be 20."""
    hold("language", ratchets.of_language(), 0)
