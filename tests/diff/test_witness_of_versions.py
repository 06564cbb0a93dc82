"""What is said of a version is shown to who is served by it."""

from __future__ import annotations

from functools import partial

import pytest
from tests.diff.test_kept import NEWER, NONE, ROOMS, WAY, ZERO, newer, versions

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.compare import diff
from ninefold.diff.finding import Difference
from ninefold.diff.report import to_text
from ninefold.diff.witness import made, showing
from ninefold.pipeline import Loaded, compile_document


def shown(old: str, new: str) -> Difference:
    was, now = map(loaded, (old, new))
    assert now.plan is not None
    return diff(was, now, showing(now.plan, None, partial(made, was, now, {}, lambda: False), lambda: False))


def loaded(text: str) -> Loaded:
    found = compile_document("c.md", text.encode())
    assert found.plan is not None and not has_errors(found.diagnostics), [each.message for each in found.diagnostics]
    return found


@pytest.mark.parametrize(
    ("by", "named"),
    [("in: header\nname: Api-Version", "api-version: 2"), ("in: query\nname: v", "v=2"), ("in: path", "/2/")],
)
def test_a_version_on_top_is_shown_to_who_names_it(by: str, named: str) -> None:
    """With a difference that makes no sense without it, and which it cannot do without."""
    old, new = (
        each.replace("in: header\nname: Api-Version", by)
        for each in (versions(ROOMS, '"1"', '  "1": {}\n'), newer('"1"'))
    )
    [finding] = [each for each in shown(old, new).findings if each.address == "9 versions > 2"]
    assert finding.witness is not None and finding.told
    assert named in f"{finding.witness.request}, {finding.witness.by}"
    assert finding.witness.was[:2] == "40" and finding.witness.now[:2] == "20"


def test_what_becomes_of_an_older_version_is_shown_to_who_names_it() -> None:
    old = versions(ROOMS, '"1"', f'  "1": {{}}\n{ZERO}')
    more = ZERO.replace("{remove: room.beds}", "{rename: room.view, to: look}, {remove: room.beds}")
    difference = shown(old, versions(NEWER, '"2"', f'  "2": {{}}\n  "1": {{changes: [{WAY}]}}\n{more}'))
    of_older = [each for each in difference.findings if each.address.startswith("9 versions > 0")]
    assert of_older and all(each.witness and "api-version: 0" in each.witness.by for each in of_older), of_older


def test_why_nothing_shows_that_there_are_versions_is_told() -> None:
    difference = shown(versions(ROOMS, NONE, ""), newer('"1"'))
    [finding] = [each for each in difference.findings if each.address == "9 versions"]
    assert finding.witness is None
    assert "= no request is told: none names a version that it is of" in to_text(difference, (finding,))
