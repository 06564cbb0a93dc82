"""Part 9: the scheme, or none; the versions; the version of a request that names none; what is compatible."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.survey import Survey
from ninefold.language.fact import StatedNone, value_of
from ninefold.language.versioning import CHANGES
from ninefold.questions.open import open_in
from ninefold.questions.question import OpenQuestion


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    versioning = survey.contract.versioning
    if isinstance(versioning.scheme, StatedNone):
        return
    newest = next((each.name for each in value_of(versioning.versions) or ()), None)
    for each in open_in(versioning, survey.contract.document.part("versioning").place, {}):
        if each.question is not CHANGES or each.subject != newest:
            yield each
