"""What may refuse a request to an endpoint, drawn from what the contract states: also of one that is half-written.

Wherever there is a plan it says what that says (`ninefold.trace.refusals`), which a law holds it to."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.refusals import requests, rows
from ninefold.contract.survey import Survey
from ninefold.language.amounts import duration
from ninefold.language.authentication import ANYONE
from ninefold.language.conditions import CHECK, Step
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Shown, value_of
from ninefold.language.limits import applying
from ninefold.language.versioning import Version
from ninefold.trace.refusal import Refusal, told


def of_any(survey: Survey) -> Iterator[Refusal]:
    """What may refuse a request whatever it asks for."""
    limits, versioning = survey.contract.limits, survey.contract.versioning
    yield told("no such path", Step.ROUTE)
    yield told("method not allowed", Step.ROUTE)
    if isinstance(versioning.location, Shown) and versioning.location.value.text != "path":
        none = "" if isinstance(versioning.default, Shown) else ", or none"
        if requests.is_computed(versioning.default):
            none = ", or none, and what the default gives is no version"
        words = f"the request names a version that there is not{none}"
        yield told("unknown version", Step.ROUTE, versioning.location.span, words)
    yield from _retired((value_of(versioning.versions) or ())[:1])
    words = "there is too much to do, the database cannot be written, or the service is stopping"
    yield told("unavailable", Step.ANY, None, words, "too much")
    if isinstance(limits.timeout, Shown):
        words = f"it takes longer than {duration(limits.timeout.value)}"
        yield told("timed out", Step.ANY, limits.timeout.span, words)
    yield told("internal", Step.ANY, None, "the service itself fails")
    yield from requests.of_the_table("any request", ("unavailable", "internal"))


def of_older(survey: Survey) -> Iterator[Refusal]:
    """What may refuse a request that names an older version, whatever it asks for."""
    yield from _retired((value_of(survey.contract.versioning.versions) or ())[1:])


def _retired(versions: tuple[Version, ...]) -> Iterator[Refusal]:
    for version in versions:
        if isinstance(version.retired, Shown):
            words = f"the request names the version `{version.name}`, after {version.retired.value}"
            yield told("retired version", Step.ROUTE, version.retired.span, words, version=version.name)


def of_case(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    """What may refuse a request to an endpoint in one of its cases besides, in the order of the steps."""
    for rate in applying(survey.contract.limits, endpoint.key):
        words = f"there are more requests than the rate `{rate.name}` allows"
        meanings = ("what rates count", "how rates count")
        yield told("too many requests", Step.RATES, rate.span, words, *meanings, rate=rate.name)
    named = {each.who.text for each in survey.admitted(endpoint)}
    for scheme in survey.schemes if named != {ANYONE} else ():
        if scheme.is_signed:
            words = f"a token comes along, and the keys of the issuer of `{scheme.name}` cannot be had"
            yield told("unavailable", Step.ANY, scheme.span, words, "signed tokens")
    yield from requests.of_path(survey, endpoint)
    yield from requests.of_callers(survey, endpoint)
    yield from requests.of_content(survey, endpoint)
    yield from requests.of_case_chosen(endpoint)
    yield from requests.of_parameters(survey, endpoint)
    yield from rows.of_rows(survey, endpoint)
    yield from rows.of_writes(survey, endpoint)
    name = None if endpoint.call is None else endpoint.call.subject
    for function in value_of(survey.contract.endpoints.functions) or ():
        if function.name == name:
            yield from requests.of_arguments(endpoint, function)
        for code in (value_of(function.refuses) or ()) if function.name == name else ():
            words = f"the function `{function.name}` refuses"
            yield told(CHECK, Step.DONE, code.span, words, code=code.text)


def of_cases(survey: Survey) -> tuple[tuple[Endpoint, tuple[Refusal, ...]], ...]:
    """Each endpoint in each of its cases, with what may refuse a request to it besides."""
    return tuple((each, tuple(of_case(survey, each))) for each in survey.endpoints)


def refusals(survey: Survey, key: str) -> tuple[Refusal, ...]:
    """Everything that may refuse a request to an endpoint, in each of its cases."""
    cases = (each for each in survey.endpoints if each.key == key)
    return tuple(dict.fromkeys((*of_any(survey), *(found for case in cases for found in of_case(survey, case)))))
