"""Part 8: rates and the headers that tell of them."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.service import Limits, Rate
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary, request_of_any
from ninefold.diagnostics.codes import HEADER_OF_RATES, LARGE_BODIES, NO_BURST
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.language import limits as stated
from ninefold.language.declaration import said
from ninefold.language.expressions import Expression
from ninefold.language.fact import Gap, Proposal, Shown, StatedNone, value_of
from ninefold.plan.limits import Algorithm, Carries
from ninefold.values import Anything, Object

BURSTING = "token bucket"
"""The algorithm that has a `burst`."""

_DRAFT: dict[str, Carries] = {
    "ratelimit-policy": "policies",
    "ratelimit": "standings",
    "retry-after": "retry after",
}
"""draft-ietf-httpapi-ratelimit-headers, and RFC 9110 10.2.3."""

LARGEST_AT_ONCE = 1024 * 1024
"""Bytes of a body of which nothing is noted: as many as are read where no size is stated."""

_ENDINGS: dict[str, Carries] = {"-policy": "policies", "-limit": "limit", "-remaining": "remaining", "-reset": "reset"}
"""What headers of a contract's own carry, as everybody calls them since: `X-RateLimit-Remaining`."""


def check_limits(vocabulary: Vocabulary, findings: Findings) -> Limits:
    body = findings.contract.limits.body_size
    if isinstance(body, Shown) and body.value > LARGEST_AT_ONCE:
        findings.say(
            LARGE_BODIES,
            "while a body of this size is looked at, other requests wait",
            Label(body.span, "is more than 1 MiB"),
        )
    rates = tuple(_rates(vocabulary, findings))
    limits = findings.contract.limits
    return Limits(rates, tuple(_headers(findings)), said=said(limits))


def _rates(vocabulary: Vocabulary, findings: Findings) -> Iterator[Rate]:
    """The rates that are in force: one of which something is a gap has been asked about, and one that states `none`
    where a rate has a number bounds nothing."""
    for rate in value_of(findings.contract.limits.rates) or ():
        # A rate counts before a body is read: of a request there are the parameters that what it counts declares.
        scope = replace(vocabulary.scope(request=_request(rate, findings)), request_only=True)
        of = value_of(rate.of)
        # A primary key stands for a row: another row is another value, another state of one row is not.
        counted = typed(of, scope, Anything(nullable=True), findings) if isinstance(of, Expression) else None
        word = None if of is None or isinstance(of, Expression) else of.text
        allow, per, algorithm = value_of(rate.allow), value_of(rate.per), value_of(rate.algorithm)
        if algorithm is not None and algorithm.text != BURSTING and isinstance(rate.burst, Shown):
            findings.say(
                NO_BURST,
                f"a {algorithm.text} has no `burst`",
                Label(rate.burst.span, "nothing would come of it"),
                Label(algorithm.span, "how the rate is counted"),
            )
        burst = _burst(rate)
        endpoints = value_of(rate.endpoints)
        if allow is None or per is None or algorithm is None or (word is None and counted is None):
            continue
        if (algorithm.text == BURSTING and burst is None) or (rate.endpoints is not None and endpoints is None):
            continue
        yield Rate(
            name=rate.name,
            of=counted if counted is not None else word,  # type: ignore[arg-type]
            allow=allow,
            per=per,
            algorithm=_algorithm(algorithm.text),
            burst=burst if algorithm.text == BURSTING else None,
            endpoints=None if endpoints is None else tuple(each.text for each in endpoints),
            place=findings.place(rate.span),
            said=said(rate),
        )


def _request(rate: stated.Rate, findings: Findings) -> Object | None:
    """What a request may carry of those that a rate counts."""
    endpoints = value_of(findings.contract.endpoints.endpoints)
    if endpoints is None or isinstance(rate.endpoints, Gap | Proposal):
        return Object()
    named = None if rate.endpoints is None else {each.text for each in value_of(rate.endpoints) or ()}
    return request_of_any([each for each in endpoints if named is None or each.key in named], findings.schemas)


def _burst(rate: stated.Rate) -> int | None:
    """`burst: none`: one at a time."""
    return 1 if isinstance(rate.burst, StatedNone) else value_of(rate.burst)


def _algorithm(word: str) -> Algorithm:
    return word  # type: ignore[return-value]  # the table of keys has admitted no other


def _headers(findings: Findings) -> Iterator[tuple[str, Carries]]:
    """What each header carries, told by its name."""
    for name in value_of(findings.contract.limits.headers) or ():
        lower = name.text.lower()
        carries = _DRAFT.get(lower)
        for ending, number in _ENDINGS.items():
            carries = number if lower.endswith(ending) and len(lower) > len(ending) else carries
        if carries is None:
            findings.say(
                HEADER_OF_RATES,
                f"what `{name.text}` tells of rates cannot be said",
                Label(name.span, "no header of rates that is known"),
                help=(
                    "`RateLimit-Policy`, `RateLimit`, `Retry-After`, or a name that ends in `-Policy`, `-Limit`, "
                    "`-Remaining` or `-Reset`",
                ),
            )
        else:
            yield name.text, carries
