"""SARIF: accepted by the standard's own schema, with the right places, and with texts that are shown as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contracts import ALL, compiled, title
from tests.sarif import VALIDATOR
from tests.slices import some

from ninefold.diagnostics.diagnostic import Code, Diagnostic, Label, Severity
from ninefold.diagnostics.sarif import Result, Rule, Tool, result_of, to_sarif
from ninefold.diagnostics.source import Source, Span
from ninefold.tools.gaps import to_results

TOOL = Tool("ninefold", "1.2.3")


@pytest.mark.long
@pytest.mark.parametrize("path", some(ALL, 4), ids=title)
def test_the_schema_of_the_standard_accepts_it(path: Path) -> None:
    loaded = compiled(path)
    for results in (tuple(map(result_of, loaded.diagnostics)), to_results(loaded.open_questions)):
        log = to_sarif(results, loaded.source, TOOL, path.name)
        VALIDATOR.validate(json.loads(json.dumps(log)))
        run = log["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        assert len(run["results"]) == len(results)
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_the_schema_is_not_indulgent() -> None:
    log = to_sarif((), Source("a.md", ""), TOOL, "a.md")
    VALIDATOR.validate(log)
    log["runs"][0]["columnKind"] = "bytes"
    assert not VALIDATOR.is_valid(log)


CODE = Code("NF0106", Severity.WARNING)


def told(text: str, *labels: Label, message: str = "odd", help: tuple[str, ...] = ()) -> dict[str, Any]:
    diagnostic = Diagnostic(CODE, message, labels, help)
    log: dict[str, Any] = to_sarif([result_of(diagnostic)], Source("a.md", text), TOOL, "a.md")["runs"][0]
    return log


def test_a_region_counts_code_points_from_1() -> None:
    run = told("a\r\nb🍰: c\r", Label(Span(5, 8)))
    assert run["columnKind"] == "unicodeCodePoints"
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["region"] == {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 6}
    assert location["artifactLocation"] == {"uri": "a.md", "index": 0}


def test_labels_are_related_locations_and_help_is_told() -> None:
    run = told("one\ntwo\n", Label(Span(0, 3), "here"), Label(Span(4, 7), "there"), help=("write it",))
    result = run["results"][0]
    assert result["level"] == "warning"
    assert result["message"]["text"] == "odd: here\nhelp: write it"
    (related,) = result["relatedLocations"]
    assert related["message"]["text"] == "there"
    assert related["physicalLocation"]["region"]["startLine"] == 2


def test_the_rule_explains_itself() -> None:
    (rule,) = told("")["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "A heading names no part"
    assert rule["help"]["markdown"].endswith("```markdown\n# Orders\n\n## 4. Endpoints\n```")
    assert "```" not in rule["help"]["text"] and "## Endpiont" in rule["help"]["text"]


def test_a_text_is_neither_placeholder_nor_link() -> None:
    rule = Rule("x", "x", "note", "x")
    log = to_sarif([Result(rule, "a {0} [b](1) `/c/{d}`", Span(0, 0))], Source("a.md", ""), TOOL, "a.md")
    assert log["runs"][0]["results"][0]["message"]["text"] == "a {{0}} [b] (1) `/c/{d}`"
