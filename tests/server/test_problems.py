from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace
from tests.server.plans import PROBLEMS, member

from ninefold.expressions.tree import Variable
from ninefold.plan.problems import ErrorCode
from ninefold.plan.responses import FromExpression, ObjectOf
from ninefold.runtime.messages.message import Response
from ninefold.runtime.messages.problems import Failure, FieldFailure, Problems, invalid, pointer
from ninefold.values import Object, Timestamp


def said(response: Response) -> object:
    return msgspec.json.decode(response.body)


@pytest.mark.parametrize(
    ("precedence", "failures", "code"),
    [
        (("not found", "invalid"), [Failure("invalid"), Failure("not found", "note")], "not_found"),
        (("invalid", "not found"), [Failure("invalid"), Failure("not found", "note")], "invalid"),
        # The place of a narrowed condition counts before the condition's; a code stands where its condition does.
        (("is_done", "invalid", "check"), [Failure("invalid"), Failure("check", "note", "is_done")], "invalid"),
        (("not found note", "invalid", "not found"), [Failure("invalid"), Failure("not found", "note")], "not_found"),
        (("not found note", "invalid", "not found"), [Failure("invalid"), Failure("not found", "person")], "invalid"),
        (("check",), [Failure("check", code="is_done"), Failure("check", code="too_many_stars")], "is_done"),
        # What the precedence does not hold comes behind everything in it.
        (("precondition failed",), [Failure("not found"), Failure("precondition failed")], "stale"),
    ],
)
def test_the_lowest_rank_counts(precedence: tuple[str, ...], failures: list[Failure], code: str) -> None:
    response = Problems(replace(PROBLEMS, precedence=precedence)).answer(failures, {}, {})
    assert msgspec.json.decode(response.body)["code"] == code


def test_codes_of_an_endpoint_and_of_a_subject() -> None:
    problems = Problems(
        replace(
            PROBLEMS,
            codes=(*PROBLEMS.codes, ErrorCode("no_note", 410), ErrorCode("own", 418)),
            conditions={**PROBLEMS.conditions, "not found note": "no_note"},
        )
    )
    assert problems.answer([Failure("not found", "note")], {}, {}).status == 410
    assert problems.answer([Failure("not found", "person")], {}, {}).status == 404
    assert problems.answer([Failure("not found", "person")], {"not found": "own"}, {}).status == 418
    assert problems.answer([Failure("not found", "note")], {"not found note": "own"}, {}).status == 418


def test_fields_of_one_code_are_said_together() -> None:
    problems = Problems(replace(PROBLEMS, messages={"required": "must be given"}))
    failures = [
        invalid("query", "limit", "maximum"),
        Failure("invalid", fields=(FieldFailure("body", "/user/name", "name", "required"),)),
        Failure("conflict", fields=(FieldFailure("body", "/title", "title", "unique"),)),
    ]
    assert said(problems.answer(failures, {}, {})) == {
        "code": "invalid",
        "title": "It is invalid",
        "fields": [
            {"place": "query", "pointer": "/limit", "name": "limit", "rule": "maximum"},
            {"place": "body", "pointer": "/user/name", "name": "name", "rule": "required", "message": "must be given"},
        ],
        "messages": {"name": ["must be given"]},
    }


def test_an_error_that_is_not_about_fields_has_its_entry() -> None:
    problems = Problems(
        replace(PROBLEMS, codes=(ErrorCode("not_found", 404, said={"title": "not found"}, about="note"),))
    )
    assert said(problems.answer([Failure("not found")], {}, {})) == {
        "code": "not_found",
        "title": "not found",
        "fields": [],
        "messages": {"note": ["not found"]},
    }


def test_what_the_contract_has_no_code_for_is_a_bare_status() -> None:
    assert Problems(replace(PROBLEMS, conditions={})).answer([Failure("precondition failed")], {}, {}) == Response(412)
    assert Problems(replace(PROBLEMS, content=None)).answer([Failure("precondition failed")], {}, {}) == Response(412)


def test_a_detail_that_cannot_be_said_is_left_out() -> None:
    codes = (ErrorCode("stale", 412, detail=member("caller", "name")),)
    problems = Problems(replace(PROBLEMS, codes=codes))
    assert said(problems.answer([Failure("precondition failed")], {}, {"caller": {"name": "Ann"}})) == {
        "code": "stale",
        "detail": "Ann",
        "fields": [],
        "messages": {},
    }
    answer = problems.answer([Failure("precondition failed")], {}, {"caller": {}})
    assert "detail" not in msgspec.json.decode(answer.body)


def test_a_body_that_reads_the_request_is_made_each_time() -> None:
    content = ObjectOf(
        (("at", FromExpression(Variable("now", Timestamp()))), ("error", FromExpression(Variable("error", Object()))))
    )
    problems = Problems(replace(PROBLEMS, content=content))
    for now in ("1", "2"):
        answer = problems.answer([Failure("precondition failed")], {}, {"now": now})
        assert msgspec.json.decode(answer.body)["at"] == now


def test_a_pointer_escapes_its_tokens() -> None:
    assert pointer(("a/b", 0, "~")) == "/a~1b/0/~0"
    assert invalid("query", "\udcff", "unknown").fields == (FieldFailure("query", "/?", "?", "unknown"),)
