"""Part 1, and what the document is called."""

from __future__ import annotations

from hashlib import sha256

from ninefold.contract.fact import value_of
from ninefold.openapi.service import Json, Service


def info(service: Service) -> Json:
    """OpenAPI asks for a version of every document. It is the contract's newest, and where the contract has no
    versions, a digest of the contract, which tells two documents apart and promises nothing."""
    document = service.contract.document
    found: Json = {"title": service.plan.title or service.plan.name}
    purpose = value_of(service.contract.purpose.text)
    if purpose:
        found["description"] = purpose
    digest = sha256(document.source.text.encode("utf-8", "surrogatepass")).hexdigest()
    versions = service.plan.versions
    found["version"] = f"sha256-{digest[:12]}" if versions is None else versions.current
    return found
