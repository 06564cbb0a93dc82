"""How callers are known, in the words of OpenAPI: scopes, flows and certificates."""

from __future__ import annotations

from typing import Any

from openapi_spec_validator import validate
from tests.server.test_certificates import PRESSES
from tests.server.test_scopes import NOTES

from ninefold.pipeline import compile_document
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

CALLER = "    caller: {user: claims.sub}\n"
FLOWS = "    flows: {clientCredentials: {tokenUrl: 'https://id.example/token', scopes: {notes.read: Read notes}}}\n"


def document_of(text: str) -> dict[str, Any]:
    loaded = compile_document("service.md", text.encode())
    assert loaded.checked is not None and loaded.plan is not None
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    validate(document)
    return document


def test_scopes_are_those_that_an_endpoint_needs() -> None:
    document = document_of(NOTES.replace(CALLER, FLOWS + CALLER))
    scheme = document["components"]["securitySchemes"]["app"]
    words = {"notes.read": "Read notes", "notes.write": "", "notes.delete": ""}
    assert scheme["type"] == "oauth2"
    assert scheme["flows"] == {"clientCredentials": {"tokenUrl": "https://id.example/token", "scopes": words}}
    paths = document["paths"]
    assert paths["/notes/{id}"]["delete"]["security"] == [{"app": ["notes.write", "notes.delete"]}]
    assert paths["/notes"]["get"]["security"] == [{"app": []}], "one of several ways to be admitted"


def test_without_flows_a_token_is_told_as_what_goes_over_the_wire() -> None:
    for text in (NOTES, NOTES.replace(CALLER, FLOWS.replace("https://id.example/token", "/token") + CALLER)):
        scheme = document_of(text)["components"]["securitySchemes"]["app"]
        assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
        assert scheme["x-ninefold"]["scopes"] == ["notes.read", "notes.write", "notes.delete"]


def test_certificates() -> None:
    schemes = document_of(PRESSES)["components"]["securitySchemes"]
    assert [each["type"] for each in schemes.values()] == ["mutualTLS", "mutualTLS"]
