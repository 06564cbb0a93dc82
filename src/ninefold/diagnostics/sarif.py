"""Diagnostics and the like as SARIF, the format that code review tools and editors show at the lines concerned.

Static Analysis Results Interchange Format 2.1.0 (OASIS Standard, errata 01). Section numbers are those of the
standard.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from ninefold.diagnostics.diagnostic import Diagnostic, Label
from ninefold.diagnostics.explanations import explanation
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Level: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of result (3.49). `help` is Markdown."""

    id: str
    title: str
    level: Level
    help: str


@dataclass(frozen=True, slots=True)
class Result:
    """What was found at a place (3.27). `labels` are the further places that belong to it, `beside` those in the other
    document of two that are compared; `fingerprint` is the same for the same result, wherever it stands (3.27.17)."""

    rule: Rule
    message: str
    span: Span
    labels: tuple[Label, ...] = ()
    fingerprint: str = ""
    beside: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """Who says it (3.19)."""

    name: str
    version: str


def result_of(diagnostic: Diagnostic) -> Result:
    """A diagnostic as a result; what helps stands in lines of their own below the fact."""
    code = diagnostic.code
    about = explanation(code.id)
    rule = Rule(code.id, about.title, code.severity.value, about.markdown)
    first = diagnostic.labels[0].text if diagnostic.labels else ""
    lines = [diagnostic.message + (f": {first}" if first else ""), *(f"help: {help}" for help in diagnostic.help)]
    return Result(rule, "\n".join(lines), diagnostic.span, diagnostic.labels[1:])


def to_sarif(
    results: Iterable[Result], source: Source, tool: Tool, uri: str, beside: tuple[Source, str] | None = None
) -> dict[str, Any]:
    """A log with one run (3.13, 3.14), to be written as JSON. `uri` is a URI reference (RFC 3986) to the document,
    `beside` another one that it is compared with, and its URI. Lines and columns count from 1, columns in code points;
    an end is exclusive (3.30)."""
    found = tuple(results)
    documents = [(source, uri), *(() if beside is None else (beside,))]
    rules = {result.rule.id: result.rule for result in sorted(found, key=lambda result: result.rule.id)}
    indices = {id: index for index, id in enumerate(rules)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": tool.name,
                        "version": tool.version,
                        "rules": [_rule(rule) for rule in rules.values()],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "newlineSequences": ["\r\n", "\n", "\r"],
                "artifacts": [
                    {"location": {"uri": uri}, "encoding": "UTF-8", "roles": [role]}
                    for (_, uri), role in zip(documents, ("analysisTarget", "referencedOnCommandLine"), strict=False)
                ],
                "results": [_result(result, indices[result.rule.id], documents) for result in found],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": _message(rule.title)},
        "help": {"text": _message(_plain(rule.help)), "markdown": _message(rule.help)},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(result: Result, index: int, documents: Sequence[tuple[Source, str]]) -> dict[str, Any]:
    written = {
        "ruleId": result.rule.id,
        "ruleIndex": index,
        "level": result.rule.level,
        "message": {"text": _message(result.message)},
        "locations": [_location(result.span, documents, 0)],
    }
    if result.fingerprint:
        written["partialFingerprints"] = {"meaning/v1": result.fingerprint}
    related = [*((label, 0) for label in result.labels), *((label, 1) for label in result.beside)]
    if related:
        written["relatedLocations"] = [
            {
                "id": number,
                **_location(label.span, documents, of),
                "message": {"text": _message(label.text or "here")},
            }
            for number, (label, of) in enumerate(related, 1)
        ]
    return written


def _location(span: Span, documents: Sequence[tuple[Source, str]], of: int) -> dict[str, Any]:
    source, uri = documents[of]
    start, end = source.place(span.start), source.place(span.end)
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri, "index": of},
            "region": {
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
            },
        }
    }


def _message(text: str) -> str:
    """A text as a message: a number in braces would be a placeholder (3.11.5), and brackets before parentheses a link
    (3.11.6). Other braces, as in `GET /orders/{id}`, stay single: of those who show messages, few take doubled ones for
    one."""
    return re.sub(r"\{(\d+)\}", r"{{\1}}", text).replace("](", "] (")


def _plain(markdown: str) -> str:
    """An explanation without the fences around its examples."""
    return re.sub(r"^```.*\n?", "", markdown, flags=re.MULTILINE).strip()
