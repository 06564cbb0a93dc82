"""Part 4: what scripts of other origins may do."""

from __future__ import annotations

from ninefold.checked.endpoints import CrossOrigin
from ninefold.checks.codes import ANY_ORIGIN_WITH_CREDENTIALS, SAYS_NOTHING
from ninefold.checks.findings import Findings
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.language.fact import Shown


def check_cross_origin(contract: Contract, findings: Findings) -> CrossOrigin | None:
    fact = contract.endpoints.cross_origin
    if not isinstance(fact, Shown):
        return None
    stated = fact.value
    if stated.origins == ():
        findings.say(
            SAYS_NOTHING,
            "`cross origin` says nothing",
            Label(fact.span, "no origin is allowed anything"),
            help=("name them: `origins: [https://shop.example]`, or `origins: any`",),
        )
    if stated.origins is None and stated.credentials:
        findings.say(
            ANY_ORIGIN_WITH_CREDENTIALS,
            "scripts of any origin may send their user's credentials",
            Label(fact.span, "any page that a user opens can act for that user"),
            help=("name the origins that are trusted with them",),
        )
    return CrossOrigin(
        origins=None if stated.origins is None else tuple(each.text for each in stated.origins),
        headers=tuple(each.text for each in stated.headers),
        exposed=tuple(each.text for each in stated.exposed),
        credentials=stated.credentials,
        kept=stated.kept,
        place=findings.place(fact.span),
    )
