"""What is said of an older version, beside what is said of the versions above it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ninefold.contract.versioning import Version
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Severity
from ninefold.questions.question import OpenQuestion


def of_version(version: Version, diagnostics: Iterable[Diagnostic], said: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """What is wrong in a version alone, or not in force there, each with the version. Oddities are told of the newest
    version: what an older one no longer uses, others do."""
    known = {(each.code.id, each.labels[:1]) for each in said}
    for each in diagnostics:
        if each.code.severity is not Severity.WARNING and (each.code.id, each.labels[:1]) not in known:
            label = Label(version.span, f"in the version `{version.name}`")
            yield replace(each, labels=(*each.labels, label))


def in_that_version(asked: Iterable[OpenQuestion], known: Iterable[OpenQuestion]) -> list[OpenQuestion]:
    """The questions that only this version leaves open."""
    before = {(each.question.id, each.span) for each in known}
    return [each for each in asked if (each.question.id, each.span) not in before]
