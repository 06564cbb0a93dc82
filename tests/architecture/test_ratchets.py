"""What is to become better, and may not become worse: the length of files and functions, the sets of verbs that are
kept by hand, and the size of the whole. Where a change makes one of them lower, `NINEFOLD_BLESS=1` writes it down."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from tests.architecture import ratchets

Hold = Callable[[str, Mapping[str, int], int], None]

WHAT_TO_DO = {
    "long_files": "move a subject of the file into a module of its own, or into the one whose subject it is",
    "long_functions": "give steps of the function names: functions of their own",
    "sets_of_verbs": "ask a column of language/verbs.py, `kind_of(verb).makes`; where none says it, add one",
    "budget": "say it in fewer lines; else a commit of its own raises the number in ratchets/budget.txt, and names the "
    "package and its lines",
    "language": "let it take the place of another; else a commit of its own raises the number in "
    "ratchets/language.txt, and says why there is one more",
}
"""For whoever has made something worse, by the ratchet."""


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


def test_the_house_stays_within_its_budget(hold: Hold) -> None:
    """A budget is raised only in a commit of its own, which names the package and its lines."""
    hold("budget", ratchets.in_all(), 0)


def test_the_language_stays_small(hold: Hold) -> None:
    """The goal: 205 keys, 12 verbs, 26 conditions; of meanings that hold everywhere there may be 20."""
    hold("language", ratchets.of_language(), 0)
