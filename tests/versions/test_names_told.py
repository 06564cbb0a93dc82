"""Whoever reads of an older version reads the names that it has: none that only the program gives what it works out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from tests.contracts import ALL, compiled, title
from tests.slices import some

from ninefold.language.conditions import BY_NAME
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document
from ninefold.tools import gaps, obstacles
from ninefold.tools.explain import render as explain
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import all_items
from ninefold.tools.explain.render import to_text
from ninefold.tools.explain.service import explain_service
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service
from ninefold.tools.permissions import render as permissions
from ninefold.tools.permissions.matrix import matrix
from ninefold.trace.identifier import Refused
from ninefold.trace.nodes import editions
from ninefold.trace.refused import refusal

OLDER = some([path for path in ALL if b"changes:" in path.read_bytes()], 4)


def told(loaded: Loaded, version: str) -> list[str]:
    """What is explained of every endpoint of a version."""
    own = loaded.of(version)
    if own is None or own.checked is None:
        return []
    return [to_text(explain_endpoint(own, each)) for each in value_of(own.contract.endpoints.endpoints) or ()]


@pytest.mark.long
@pytest.mark.parametrize("path", OLDER, ids=title)
def test_no_name_is_told_that_no_document_has(path: Path) -> None:
    loaded = compiled(path)
    said = [
        text for each in loaded.diagnostics for text in (each.message, *each.help, *(of.text for of in each.labels))
    ]
    for version in [each.version for each in loaded.older]:
        found = [text for text in (*said, *told(loaded, version)) if f" of {version}`" in text]
        assert not found, found[0]


RENAMED = """purpose: Stops of a railway.
resources:
  stop:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      zone: {type: [integer, "null"]}
      fare: {type: integer, on create: 1}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /stops:
    does: create stop
    body: [zone, fare]
    check: {that: stop.fare < 100, else: bad_fare}
    errors: {malformed: bad_text}
    responses: {201: stop}
  GET /stops:
    does: list stop
    sort: [id]
    pages: none
    query: {zone: stop.zone == value, most: stop.fare <= value}
    responses: {200: page.items}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    bad_zone: {status: 400, title: No such zone, for: [invalid query.zone, invalid query.most]}
    bad_word: {status: 400, title: Not understood, for: [invalid, method not allowed]}
    bad_fare: {status: 409, title: Too dear}
    bad_text: {status: 400, title: No JSON}
limits: none
versioning:
  in: header
  name: Version
  default: "2"
  compatible: none
  versions:
    "2": {}
    "1":
      changes:
        - {rename: stop.zone, to: ring}
        - {rename: GET /stops.query.most, to: up_to}
        - {rename: bad_zone, to: wrong_ring}
        - {rename: bad_word, to: wrong_word}
        - {rename: bad_fare, to: wrong_fare}
        - {rename: bad_text, to: wrong_text}
"""


def test_a_code_is_explained_of_a_parameter_by_whatever_name_a_version_has_for_it() -> None:
    own = compile_document("stops.yaml", RENAMED.encode()).of("1")
    assert own is not None and own.plan is not None
    endpoint = own.contract.endpoints_by_key["GET /stops"]
    answers = {
        item.text: [each.text.partition(": ")[2] for each in item.items]
        for item in all_items(explain_endpoint(own, endpoint))
        if item.items and item.items[0].cause is not None
    }
    found = answers["400 `wrong_ring`, No such zone"]
    assert [each.split("`")[1] for each in found] == ["ring", "up_to"]


def endpoints(own: Loaded) -> tuple[Endpoint, ...]:
    return value_of(own.contract.endpoints.endpoints) or ()


def of_explain(own: Loaded) -> Iterator[Any]:
    for explanation in (explain_service(own), *map(partial(explain_endpoint, own), endpoints(own))):
        yield from (explain.to_json(explanation), to_text(explanation), explain.to_markdown(explanation))


def of_permissions(own: Loaded) -> Iterator[Any]:
    found = matrix(own.contract, own.checked)
    yield from (permissions.to_json(found), permissions.to_text(found), permissions.to_markdown(found))


def of_openapi(own: Loaded) -> Iterator[Any]:
    assert own.checked is not None and own.plan is not None
    yield openapi(Service(own.contract, own.checked, own.plan, own.open_questions))


def of_gaps(own: Loaded) -> Iterator[Any]:
    yield gaps.to_json(own.contract, own.open_questions)
    for endpoint in endpoints(own):
        yield obstacles.to_json(
            obstacles.obstacles(endpoint.key, own.contract, own.open_questions, own.checked, ()), own.source
        )


def of_traces(own: Loaded) -> Iterator[Any]:
    assert own.plan is not None
    for edition in editions(own.plan):
        for number, _ in enumerate(edition.problems.codes):
            yield to_builtins(refusal(edition, None, -1, Refused(list(BY_NAME).index("unavailable"), code=number)))


@pytest.mark.parametrize("told_by", [of_explain, of_permissions, of_openapi, of_gaps, of_traces])
def test_a_code_is_called_everywhere_as_the_callers_of_the_version_know_it(
    told_by: Callable[[Loaded], Iterator[Any]],
) -> None:
    own = compile_document("stops.yaml", RENAMED.encode()).of("1")
    assert own is not None
    found = re.sub(r"\{rename: .*?\}", "", json.dumps(list(told_by(own))))  # the changes stand as they are written
    assert not re.findall(r"\bbad_\w+", found)
    assert re.findall(r"\bwrong_\w+", found) or told_by in (of_permissions, of_gaps)
