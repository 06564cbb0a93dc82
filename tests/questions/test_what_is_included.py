"""What is not shown of a group that resources include concerns their endpoints as what they write themselves does."""

from __future__ import annotations

import pytest

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.pipeline import compile_document

GROUP = {
    "fields": {
        "since": "{type: integer, on create: '2026'}",
        "until": "{type: integer, computed: RESOURCE.since + 1}",
    },
    "required": "[since]",
    "unique": "[[since]]",
    "check": {"that": "RESOURCE.since <= 2030", "else": "late"},
    "views": {"brief": "[since, {recent: RESOURCE.since > 2020}]"},
}
"""What is included, or is the resource's own."""

PLACES = ["'2026'", "RESOURCE.since + 1", "[since]", "[[since]]", "RESOURCE.since <= 2030", "RESOURCE.since > 2020"]
PLACES += ["late", "[since, {recent: RESOURCE.since > 2020}]", "integer"]

REST = """
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /things/{id}: {does: read thing, responses: {200: brief(thing)}}
  POST /things: {does: create thing, body: none, responses: {201: brief(thing)}}
  DELETE /notes/{id}: {does: delete note, responses: {204: none}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    late: {status: 422}
    no: {status: 400, for: [no such path, method not allowed, not acceptable, not found, conflict, malformed,
      invalid, too large, unsupported media type, internal, unavailable]}
limits: {rates: none, body size: none, timeout: none, pages: none}
versioning: none
"""


def _written(value: object, depth: int) -> str:
    if not isinstance(value, dict):
        return f" {value}\n"
    return "\n" + "".join("  " * depth + f"{name}:{_written(each, depth + 1)}" for name, each in value.items())


def _contract(*, included: bool) -> str:
    identified = {"id": "{type: integer, on create: serial()}"}
    note = {"primary key": "id", "fields": identified}
    thing: dict[str, object]
    if included:
        thing = {"includes": "[whole]", "primary key": "id", "fields": identified}
        resources = {"dated": GROUP, "whole": {"includes": "dated"}, "thing": thing, "note": note}
    else:
        thing = {"primary key": "id", **GROUP, "fields": {**identified, **GROUP["fields"]}}  # type: ignore[dict-item]
        resources = {"thing": thing, "note": note}
    text = _written(resources, 1).replace("RESOURCE", "dated" if included else "thing")
    return "purpose: Keeps things.\nresources:" + text + REST.lstrip()


def _blocked(text: str) -> tuple[frozenset[str], int]:
    """The endpoints that are blocked, and how many questions are open."""
    loaded = compile_document("contract.yaml", text.encode())
    assert not has_errors(loaded.diagnostics), [each.message for each in loaded.diagnostics]
    return frozenset(key for each in loaded.open_questions for key in each.blocks), len(loaded.open_questions)


@pytest.mark.parametrize("word", ["not shown", "!proposed VALUE"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_shown_of_it_blocks_as_in_the_resource_itself(place: str, word: str) -> None:
    told = []
    for included in (True, False):
        value = place.replace("RESOURCE", "dated" if included else "thing")
        text = _contract(included=included)
        assert text.count(value) >= 1 and _blocked(text) == (frozenset(), 0)
        told.append(_blocked(text.replace(value, word.replace("VALUE", value), 1)))
    assert told[0] == told[1]
    assert told[0][1] == 1
    assert "DELETE /notes/{id}" not in told[0][0]
