"""What the document is called, where the service is found, and how a request names its version. Each version has a
document of its own."""

from __future__ import annotations

from hashlib import sha256

from ninefold.language.fact import value_of
from ninefold.plan.versioning import Pin
from ninefold.tools.openapi.service import Json, Service


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


def servers(service: Service) -> list[Json]:
    """Relative to where the document is, since where a service runs is the operator's. A version in the path is part
    of the address; the address without one comes besides where the newest is the default, or may be."""
    base = "".join("/" + segment for segment in service.plan.base)
    versions = service.plan.versions
    if versions is None or versions.by != "path":
        return [{"url": base or "/"}]
    found = [{"url": f"{base}/{versions.current}"}]
    may_be = versions.default == versions.current or isinstance(versions.default, Pin)
    return [*found, {"url": base or "/"}] if may_be else found


def version_parameters(service: Service) -> list[Json]:
    versions = service.plan.versions
    if versions is None:
        return []
    pin = versions.default if isinstance(versions.default, Pin) else None
    text: Json = {"type": "string"}
    read = [{"name": name, "in": "header", "required": False, "schema": text} for name in pin.headers] if pin else []
    if versions.by in ("path", "media type"):
        return read
    schema: Json = {"type": "string", "enum": [versions.current]}
    optional = versions.default == versions.current
    if optional:
        schema["default"] = versions.current
    # A request of a caller whose version this is need not name it; whose it is no document can say.
    required = not optional and pin is None
    return [{"name": versions.name, "in": versions.by, "required": required, "schema": schema}, *read]
