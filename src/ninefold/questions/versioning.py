"""Part 9: the scheme, or none; the versions; the version of a request that names none; what is compatible."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.survey import Survey
from ninefold.language.fact import StatedNone, value_of
from ninefold.questions.question import (
    CHANGES,
    COMPATIBLE,
    DEFAULT,
    VERSIONING,
    VERSIONS,
    OpenQuestion,
    leaving_out,
    unanswered,
)


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    versioning = survey.contract.versioning
    place = survey.contract.document.part("versioning").place
    if at := unanswered(versioning.scheme, place):
        yield leaving_out(VERSIONING, "scheme", at, "versions")
    if isinstance(versioning.scheme, StatedNone):
        return
    if at := unanswered(versioning.versions, place):
        yield leaving_out(VERSIONS, "versions", at, "versions")
    if at := unanswered(versioning.default, place):
        left_out = "an answer to such a request: it is `unknown version`"
        yield leaving_out(DEFAULT, "default", at, left_out)
    for version in (value_of(versioning.versions) or ())[1:]:
        if at := unanswered(version.changes, version.span):
            yield leaving_out(CHANGES, version.name, at, f"the version `{version.name}`")
    if at := unanswered(versioning.compatible, place):
        yield leaving_out(COMPATIBLE, "compatible", at, "the verdict of `diff`")
