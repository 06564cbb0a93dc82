"""What a contract states outside its endpoints and this build does not put in force."""

from __future__ import annotations

from collections.abc import Mapping

from ninefold.checked.resources import Resource
from ninefold.checks.contents import Showing, check_content
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.contract.fact import Shown, value_of
from ninefold.contract.service import Contract
from ninefold.values import Text


def left_for_later(
    contract: Contract, resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
) -> None:
    """Events and versions: read and checked, noted one by one."""
    events = contract.events
    for kind in value_of(events.kinds) or ():
        findings.left_for_later(f"the event kind `{kind.name}`", "no such event is written", kind.span)
        template = value_of(kind.payload)
        if template is not None:
            showing = Showing(contract, resources, vocabulary, findings)
            check_content(template, vocabulary.scope(*resources), showing)
    delivery = value_of(events.delivery)
    if delivery is not None:
        for name, fact in (
            ("webhooks", delivery.webhooks),
            ("stream", delivery.stream),
            ("broker", delivery.broker),
            ("envelope", delivery.envelope),
        ):
            if isinstance(fact, Shown):
                findings.left_for_later(f"delivery by `{name}`" if name != "envelope" else "the `envelope` of events",
                                        "no event is delivered", fact.span)  # fmt: skip
        envelope = value_of(delivery.envelope)
        source = None if envelope is None else value_of(envelope.source)
        if source is not None:
            typed(source, vocabulary.scope(), Text(), findings)
    cross_origin = contract.endpoints.cross_origin
    if isinstance(cross_origin, Shown):
        findings.left_for_later("`cross origin`", "no header for other origins is sent", cross_origin.span)
    versions = value_of(contract.versioning.versions) or ()
    for version in versions[1:]:
        findings.left_for_later(
            f"the version `{version.name}`", "a request that names it is answered 501", version.span
        )
