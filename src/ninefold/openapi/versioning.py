"""Part 9: where the service is found, and how a request names its version. Each version has a document of its own."""

from __future__ import annotations

from ninefold.openapi.service import Json, Service


def servers(service: Service) -> list[Json]:
    """Relative to where the document is, since where a service runs is the operator's. A version in the path is part
    of the address; the address without one comes besides where the newest is the default."""
    base = "".join("/" + segment for segment in service.plan.base)
    versions = service.plan.versions
    if versions is None or versions.by != "path":
        return [{"url": base or "/"}]
    found = [{"url": f"{base}/{versions.current}"}]
    return [*found, {"url": base or "/"}] if versions.default == versions.current else found


def version_parameters(service: Service) -> list[Json]:
    versions = service.plan.versions
    if versions is None or versions.by in ("path", "media type"):
        return []
    schema: Json = {"type": "string", "enum": [versions.current]}
    optional = versions.default == versions.current
    if optional:
        schema["default"] = versions.current
    return [{"name": versions.name, "in": versions.by, "required": not optional, "schema": schema}]
