"""Proposals turned into facts: which words go, and that nothing else does."""

from __future__ import annotations

import pytest
from tests.propose.keeping import compiled

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.syntax.edits import edited
from ninefold.syntax.proposals import proposals
from ninefold.tools.propose.accept import acceptance, candidates, lines_of


def accepted(text: str, *paths: str, name: str = "contract.md") -> str:
    """The text after accepting the proposals with these paths, or all."""
    document = compiled(text, name).document
    chosen = [each for each in proposals(document) if not paths or each.path in paths]
    assert not paths or len(chosen) == len(paths)
    after = edited(text, acceptance(document, chosen))
    assert not has_errors(compiled(after, name).diagnostics)
    return after


def part_8(block: str, before: str = "") -> str:
    return f"# T\n\n## 8. Limits\n\n{before}{block}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```yaml\nrates: !proposed none\n```\n", "```yaml\nrates: none\n```\n"),
        ("```yaml\nrates: !proposed   none  # as ever\n```\n", "```yaml\nrates: none  # as ever\n```\n"),
        ("```yaml\npages: !proposed\n  by: none\n```\n", "```yaml\npages:\n  by: none\n```\n"),
        ("```yaml\npages: !proposed  # Ann\n  by: none\n```\n", "```yaml\npages: # Ann\n  by: none\n```\n"),
        (
            "```yaml\npages:  # !proposed by Ann\n  !proposed\n  by: none\n```\n",
            "```yaml\npages:  # !proposed by Ann\n\n  by: none\n```\n",
        ),
        (
            "```yaml\npages: {default: !proposed 20, maximum: 100, by: none}\n```\n",
            "```yaml\npages: {default: 20, maximum: 100, by: none}\n```\n",
        ),
        ("```yaml proposed\nrates: none\n```\n", "```yaml\nrates: none\n```\n"),
        ("~~~  yml\tproposed \nrates: none\n~~~\n", "~~~  yml \nrates: none\n~~~\n"),
        (
            "```yaml proposed\npages: {by: !proposed none}\nrates: !proposed none\n```\n",
            "```yaml\npages: {by: none}\nrates: none\n```\n",
        ),
        ("> ```yaml proposed\n> rates: none\n> ```\n", "> ```yaml\n> rates: none\n> ```\n"),
        (
            "```yaml\nrate headers: [!proposed Retry-After]\n```\n",
            "```yaml\nrate headers: [Retry-After]\n```\n",
        ),
    ],
)
@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_what_makes_it_a_proposal_goes(text: str, expected: str, break_: str) -> None:
    text, expected = part_8(text).replace("\n", break_), part_8(expected).replace("\n", break_)
    assert accepted(text) == expected
    assert not proposals(compiled(expected).document)


def test_the_sentence_of_the_part_says_that_it_is_shown() -> None:
    text = part_8("```yaml proposed\nrates: none\n```\n", "Limits: not\nshown. <!-- not shown -->\n\n")
    assert accepted(text) == part_8("```yaml\nrates: none\n```\n", "Limits: shown. <!-- not shown -->\n\n")


def test_one_of_a_block() -> None:
    text = part_8('```yaml proposed\nrates: none\n"body size" : 1 KiB\npages:\n  by: none\n```\n')
    assert accepted(text, "rates") == part_8(
        '```yaml\nrates: none\n"body size" : !proposed 1 KiB\npages: !proposed\n  by: none\n```\n'
    )
    assert accepted(accepted(text, "rates"), "body size", "pages") == accepted(text)


def test_a_whole_part_of_the_plain_form() -> None:
    text = "limits: !proposed\n  rates: none\n  body size: 1 KiB\n"
    assert accepted(text, name="contract.yaml") == "limits:\n  rates: none\n  body size: 1 KiB\n"
    assert [each.path for each in proposals(compiled(text, "contract.yaml").document)] == ["limits"]


def test_what_a_proposal_is_called() -> None:
    loaded = compiled(
        "# T\n\n## 4. Endpoints\n\n```yaml\nPATCH /x/{id}:\n  does: update x\n  patch: !proposed merge\n```\n\n"
        "## 2. Resources\n\n```yaml\nx: {primary key: !proposed id, fields: {id: {type: string}}}\n```\n"
    )
    found = {each.written.path: each for each in candidates(loaded.document, loaded.open_questions)}
    patch = found["PATCH /x/{id}.patch"]
    for name in ("PATCH /x/{id}.patch", "PATCH /x/{id}", "patch", "endpoints", "8"):
        assert patch.is_called(name, lines_of(loaded.document, patch.written)), name
    for name in ("7", "9", "merge", "", "x", "²"):
        assert not patch.is_called(name, lines_of(loaded.document, patch.written)), name
    identifier = found["x.primary key"]
    assert {"x.primary key", "x", "primary key"} <= set(identifier.names())
