"""The law judges by what the table says: *asked*, *asked when*, *falls back to*, and whether `none` is an answer. What
the table says and the program does not is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import msgspec
import pytest

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.ablate.ablate import Work, ablate
from ninefold.diff.ablate.facts import Removal, Written, written
from ninefold.diff.ablate.fixed import Whole
from ninefold.diff.ablate.law import Found
from ninefold.language.key import Key, Kind
from ninefold.language.reading import Reading
from ninefold.language.table import vocabulary
from ninefold.pipeline import Loaded, compile_tree
from ninefold.syntax.nodes import Document

CONTRACT = b"""
purpose: Keeps weights.
resources:
  user:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, key: {type: string, secret: token, on create: token()}}
  w:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      ns: {type: array, items: {type: integer, minimum: 3}}
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /users: {does: create user, body: none, responses: {201: {id: user.id}}}
  POST /ws: {does: create w, body: [ns], responses: {201: {id: w.id}}}
  GET /ws/{id}: {does: read w, responses: {200: {id: w.id}}}
  GET /ws:
    does: list w
    sort: none
    pages: {by: offset, default: 2, maximum: 3, at: from, first: 0}
    responses: {200: {at: page.start}}
authentication:
  schemes: {key: {type: apiKey, in: header, name: X-Key, matches: user.key}}
  rows: all
  permissions: {all others: [key, anyone]}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    no_w:  {status: 404, for: not found w}
    no:    {status: 410, for: [not found, no such path]}
    wrong: {status: 422, for: invalid}
limits:
  {rates: none, body size: none, timeout: none,
   pages: {by: offset, default: 2, maximum: 3, at: from, first: 0}}
versioning: none
"""

REQUESTS = """
POST /ws
Content-Type: application/json

{"ns": ["text"]}

HTTP 422

GET /ws/1

HTTP 404

GET /ws?from=0

HTTP 200

GET /ws
X-Key: nobody

HTTP 401
"""


@cache
def whole() -> Whole:
    return Work("weights.yaml", CONTRACT, (("ws.http", REQUESTS),), {}).whole()


def fact(address: str) -> Written:
    (found,) = (each for each in written(whole().loaded.document) if each.address == address)
    return found


def found(
    fact: Written, removal: Removal = "taken out", compiler: Callable[[Document], Loaded] = compile_tree
) -> Found:
    (came,) = ablate(whole(), (fact,), (removal,), compiler)
    return came


FACTS = [
    "7 codes > no_w > status", "2 w > fields > ns > items > type", "4 GET /ws > pages > at",
    "4 GET /ws > pages > default", "5 schemes > key > type", "5 schemes > key > in", "5 schemes > key > name",
]  # fmt: skip


@pytest.mark.parametrize("address", FACTS)
@pytest.mark.parametrize("removal", ["taken out", "not shown", "none"])
def test_what_the_table_says_is_so(address: str, removal: Removal) -> None:
    assert found(fact(address), removal).breaches == ()


def test_a_wider_code_in_the_place_of_a_gap_is_found() -> None:
    def wider(document: Document) -> Loaded:
        loaded = compile_tree(document)
        assert loaded.plan is not None
        problems = loaded.plan.problems
        known = {code.name for code in problems.codes}
        conditions = {name: code for name, code in problems.conditions.items() if code in known}
        widened = msgspec.structs.replace(problems, conditions=conditions)
        plan = msgspec.structs.replace(loaded.plan, problems=widened)
        return replace(loaded, planned=lambda: plan)

    came = found(fact("7 codes > no_w > status"), compiler=wider)
    assert any("another line speaks" in words for words in came.breaches), came


def test_a_schema_inside_another_that_says_nothing_in_silence_is_found() -> None:
    def silent(document: Document) -> Loaded:
        loaded = compile_tree(document)
        # As if no question were asked: what it blocks is served.
        text = CONTRACT.replace(b"items: {type: integer, minimum: 3}", b"items: {enum: [text]}")
        plan = Work("weights.yaml", text, (), {}).whole().plan
        return replace(loaded, open_questions=(), planned=lambda: plan)

    came = found(fact("2 w > fields > ns > items > type"), compiler=silent)
    assert any("something changes" in words for words in came.breaches), came


def test_a_keyword_has_one_row_wherever_its_schema_stands() -> None:
    """And is asked for only where it says which values there are, and does not narrow those of another."""
    text = CONTRACT.replace(
        b"items: {type: integer, minimum: 3}",
        b"items: {type: integer, title: Weight, minimum: 3, not: {type: string}, anyOf: [{title: Heavy}]}",
    )
    facts = written(Work("weights.yaml", text, (), {}).whole().loaded.document)
    at = {each.address.removeprefix("2 w > fields > ns > "): each for each in facts}
    assert at["items > title"].kind is at["items > anyOf > 0 > title"].kind is Kind.TELLS
    assert at["items > minimum"].path == "RESOURCE.fields.FIELD.minimum"
    assert [at[f"items > {each}"].kind for each in ("minimum", "type", "not > type")] == [
        Kind.RESTRICTS, Kind.ASKED_WHEN, Kind.RESTRICTS,
    ]  # fmt: skip


def test_a_line_that_falls_back_in_silence_is_found() -> None:
    address = "4 GET /ws > pages > maximum"
    assert not found(fact(address)).breaches
    assert "no gap says that it is missing" in found(replace(fact(address), kind=Kind.ASKED)).breaches


def test_a_none_that_is_no_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(self: Reading, key: Key | None, value: object) -> bool:
        return False

    monkeypatch.setattr(Reading, "is_no_answer", taken)
    for name in ("type", "in", "name"):
        came = found(fact(f"5 schemes > key > {name}"), "none")
        assert any("no answer" in words for words in came.breaches) or came.outcome == "not in the language", came


def test_the_kinds_are_data() -> None:
    kinds = {key.kind for key in vocabulary()}
    assert kinds == set(Kind)
    assert not has_errors(whole().loaded.diagnostics)
