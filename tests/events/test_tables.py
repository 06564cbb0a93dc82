"""Every table that a statement of a plan reads is there when the service starts, whatever of part 6 is in force."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import pytest
from tests.agreement.writing import NONE, written
from tests.contracts import plan_of
from tests.mutations.judged import planned

ENVELOPE: Final = {"envelope": {"format": "cloudevents 1.0", "source": "'/items'"}}
READERS: Final[dict[str, dict[str, Any]]] = {
    "GET /stream": {"does": "stream event", "responses": {200: "stream"}},
    "GET /events": {"does": "list event", "sort": ["-time"], "responses": {200: "page.items"}},
    "POST /subscriptions": {
        "does": "create subscription",
        "body": ["url", "kinds"],
        "responses": {201: {"id": "subscription.id", "secret": "issued.secret"}},
    },
}
TOLD: Final[dict[str, dict[str, Any]]] = {
    "GET /stream": {
        "delivery": {"stream": "server-sent events", **ENVELOPE},
        "kept": "P1D",
    },
    "GET /events": {"delivery": NONE, "kept": "P30D"},
    "POST /subscriptions": {
        "delivery": {
            "webhooks": {"to": "subscription", "signature": "standard-webhooks", "attempts": 2, "backoff": ["PT5S"]},
            **ENVELOPE,
        }
    },
}
NO_VERSIONS, VERSIONS, THE_OLDER_ONE = "no versions", "in all versions", "in the older version alone"


def contract(reader: str, upon: str | None, versions: str) -> str:
    """A contract with one reader of events. `upon`: what its only kind arises upon; None: a gap."""
    kind = {"payload": {"id": "item.id"}, **({} if upon is None else {"upon": upon})}
    changes = [{"add": reader, "was": READERS[reader]}] if versions == THE_OLDER_ONE else []
    older = {"in": "query", "name": "v", "default": NONE, "versions": {"2": {}, "1": {"changes": changes}}}
    said = {
        "purpose": "Tells what happens.",
        "resources": {"item": {"primary key": "id", "fields": {"id": {"type": "string"}}}},
        "states": NONE,
        "endpoints": {
            "requests": {
                "media type": "application/json",
                "unknown members": "refused",
                "unknown parameters": "refused",
            },
            "produces": "application/json",
            "POST /items": {"does": "create item", "body": ["id"], "responses": {201: "item"}},
            **({} if versions == THE_OLDER_ONE else {reader: READERS[reader]}),
        },
        "authentication": {"schemes": NONE, "rows": "all", "permissions": {"all others": "anyone"}},
        "events": {
            "kinds": {"item.made": kind},
            **TOLD[reader],
        },
        "errors": NONE,
        "limits": {
            "rates": NONE,
            "timeout": NONE,
            "body size": NONE,
            "pages": {"default": 5, "maximum": 10, "by": "cursor", "size": "limit", "at": "cursor"},
        },
        "versioning": NONE if versions == NO_VERSIONS else {**older, "compatible": ["add an endpoint"]},
    }
    return written(said)


CASES: Final = [
    (reader, upon, versions)
    for reader, upon, versions in product(READERS, ("create item", None), (NO_VERSIONS, VERSIONS, THE_OLDER_ONE))
    if not (reader == "GET /events" and versions == THE_OLDER_ONE)  # `log` stands where the newest version reads it
]


@pytest.mark.parametrize(("reader", "upon", "versions"), CASES)
def test_what_reads_events_finds_their_tables(reader: str, upon: str | None, versions: str) -> None:
    plan = plan_of(contract(reader, upon, versions), "contract.yaml")
    planned(plan)
