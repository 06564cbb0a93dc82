"""A document to a contract: each part by its own module, then the names between them."""

from __future__ import annotations

from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import TOO_MANY
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome, in_order
from ninefold.language.authentication import Authentication
from ninefold.language.endpoints import endpoints
from ninefold.language.errors import Errors
from ninefold.language.events import Events
from ninefold.language.limits import Limits
from ninefold.language.purpose import purpose
from ninefold.language.reading import Reading
from ninefold.language.records import part_of
from ninefold.language.resources import Resources
from ninefold.language.states import states
from ninefold.language.table import keys_under
from ninefold.language.terms import terms
from ninefold.language.versioning import Versioning
from ninefold.resolve.includes import taken_over
from ninefold.resolve.names import judge
from ninefold.syntax.nodes import Document
from ninefold.syntax.parser import MOST_DIAGNOSTICS


def resolve(document: Document, accept_proposals: bool = False) -> Outcome[Contract]:
    """The typed facts of a document, and what is wrong with them. Always yields a contract: what cannot be read is a
    gap in it. With `accept_proposals`, what is proposed is in force, and marked so."""
    r = Reading(document, accept_proposals, keys_under)
    terms(r, document.part("resources"))  # first: every part reads them
    contract = Contract(
        document=document,
        purpose=purpose(r, document.part("purpose")),
        resources=taken_over(r, part_of(r, Resources, document.part("resources"))),
        states=states(r, document.part("states")),
        endpoints=endpoints(r, document.part("endpoints")),
        authentication=part_of(r, Authentication, document.part("authentication")),
        events=part_of(r, Events, document.part("events")),
        errors=part_of(r, Errors, document.part("errors")),
        limits=part_of(r, Limits, document.part("limits")),
        versioning=part_of(r, Versioning, document.part("versioning")),
    )
    judge(r, contract)
    return Outcome(contract, listed(in_order(r.diagnostics)))


def listed(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """As many as a reader can do something about."""
    if len(diagnostics) <= MOST_DIAGNOSTICS:
        return diagnostics
    message = f"the document has {len(diagnostics) - MOST_DIAGNOSTICS} more problems"
    label = Label(diagnostics[MOST_DIAGNOSTICS].span, "not listed from here")
    return (*diagnostics[:MOST_DIAGNOSTICS], Diagnostic(TOO_MANY, message, (label,)))
