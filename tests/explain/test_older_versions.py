"""What explain tells of an older version is what that version has: a field as its callers see it, wherever it is told,
and nothing of what it has not."""

from __future__ import annotations

import pytest
from tests.contracts import compiled_once
from tests.parts import contract, in_two_versions

from ninefold.language.fact import value_of
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import every
from ninefold.tools.explain.service import explain_service

NEWEST = contract(
    """
    parcel:
      primary key: id
      fields:
        id:    {type: integer, on create: serial()}
        grams: {type: integer, minimum: 1, on create: 7}
        grade: {type: string, maxLength: 9}
        tag:
          type: string
          maxLength: 11
      required: [grams]
    """,
    """
    POST /parcels: {does: create parcel, body: [grams, grade, tag], responses: {201: parcel}}
    GET /parcels:
      does: list parcel
      sort: [id]
      pages: none
      query:
        tag:
          where: parcel.tag == value
      responses: {200: {parcels: page.items}}
    GET /parcels/{id}: {does: read parcel, responses: {200: {grams: parcel.grams, grade: parcel.grade}}}
    PATCH /parcels/{id}:
      does: update parcel
      body: [grade]
      patch: merge
      check: {that: "parcel.grams > 1", else: too_light}
      responses: {200: parcel}
    """,
    codes="too_light: {status: 409}",
)
CHANGES = (
    '{change: parcel.grams, is: "double(parcel.grams) / 1000.0", stored: "int(value * 1000.0)", was: {type: number}}',
    "{rename: parcel.grams, to: kilos}",
    "{change: parcel.grade, was: {type: string, maxLength: 3}}",
    "{remove: parcel.tag}",
    "{rename: too_light, to: light}",
    "{rename: not_found, to: missing}",
)


def _told(version: str, key: str | None) -> list[str]:
    loaded = compiled_once("contract.md", in_two_versions(NEWEST, *CHANGES).encode()).of(version)
    assert loaded is not None
    endpoints = {each.key: each for each in value_of(loaded.contract.endpoints.endpoints) or ()}
    explanation = explain_service(loaded) if key is None else explain_endpoint(loaded, endpoints[key])
    sections = [each for each in explanation.sections if "ersion" not in each.title]
    return [item.text for section in sections for item in every(section.items)]


@pytest.mark.parametrize("key", [None, "POST /parcels", "GET /parcels/{id}"])
def test_a_field_is_told_as_callers_of_the_version_see_it(key: str | None) -> None:
    newest, older = "\n".join(_told("2", key)), "\n".join(_told("1", key))
    assert "`grams`: type: integer, minimum: 1" in newest and "type: integer, minimum: 1" not in older
    for words in ("`kilos`", "type: number", "`double(parcel.grams) / 1000.0`", "maxLength: 3"):
        assert words in older and words not in newest
    if key != "GET /parcels/{id}":
        assert "`int(value * 1000.0)`" in older and "maxLength: 11" in newest
    assert older.count("`double(parcel.grams) / 1000.0`") == (2 if key == "POST /parcels" else 1)
    assert "maxLength: 11" not in older


def test_nothing_is_told_of_a_parameter_that_the_version_has_not() -> None:
    assert any("parcel.tag == value" in each for each in _told("2", "GET /parcels"))
    assert not any("parcel.tag" in each for each in _told("1", "GET /parcels"))


@pytest.mark.parametrize("key", [None, "PATCH /parcels/{id}"])
def test_an_error_is_told_as_callers_of_the_version_know_it(key: str | None) -> None:
    newest, older = "\n".join(_told("2", key)), "\n".join(_told("1", key))
    for now, before in {"too_light": "light", "not_found": "missing"}.items():
        assert f"`{now}`" in newest and f"`{before}`" not in newest
        assert f"`{before}`" in older and f"`{now}`" not in older
