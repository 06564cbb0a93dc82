"""How callers are known, in the words of OpenAPI: scopes and certificates."""

from __future__ import annotations

from typing import Any

from tests.server.test_certificates import PRESSES
from tests.server.test_scopes import NOTES

from ninefold.pipeline import compile_document
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service


def document_of(text: str) -> dict[str, Any]:
    # To load it takes half a second, of each worker.
    from openapi_spec_validator import validate

    loaded = compile_document("service.md", text.encode())
    assert loaded.checked is not None and loaded.plan is not None
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    validate(document)
    return document


def test_scopes_are_those_that_an_endpoint_needs() -> None:
    paths = document_of(NOTES)["paths"]
    assert paths["/notes/{id}"]["delete"]["security"] == [{"app": ["notes.write", "notes.delete"]}]
    assert paths["/notes"]["get"]["security"] == [{"app": []}], "one of several ways to be admitted"


def test_a_token_of_somebody_else_is_told_as_what_goes_over_the_wire() -> None:
    scheme = document_of(NOTES)["components"]["securitySchemes"]["app"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert scheme["x-ninefold"]["scopes"] == ["notes.read", "notes.write", "notes.delete"]
    assert scheme["x-ninefold"]["issuer"].startswith("operator.")


def test_certificates() -> None:
    schemes = document_of(PRESSES)["components"]["securitySchemes"]
    assert [each["type"] for each in schemes.values()] == ["mutualTLS", "mutualTLS"]
