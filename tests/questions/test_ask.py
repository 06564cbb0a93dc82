"""What is asked of whole contracts, and what of one that lacks a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from tests.contracts import ROOT
from tests.parts import contract

from ninefold.contract.questions.ask import ask
from ninefold.contract.questions.errors import arising
from ninefold.contract.questions.question import PART_QUESTIONS, QUESTIONS
from ninefold.contract.service import Contract
from ninefold.contract.survey import Survey
from ninefold.language.conditions import STATUSES
from ninefold.language.fact import value_of
from ninefold.language.question import OpenQuestion
from ninefold.syntax.nodes import NUMBERED_TITLES

Asked: TypeAlias = Callable[[str], tuple[OpenQuestion, ...]]


def ids(open_questions: tuple[OpenQuestion, ...]) -> list[tuple[str, str]]:
    return [(each.question.id, each.subject) for each in open_questions]


def without(text: str, *lines: str) -> str:
    """The text without each of these stretches, which it has exactly once."""
    for line in lines:
        assert text.count(line) == 1, line
        text = text.replace(line, "")
    return text


def instead(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


@pytest.mark.parametrize("name", ["orders", "conduit"])
def test_an_example_answers_every_question(name: str, asked: Asked, request: pytest.FixtureRequest) -> None:
    assert ids(asked(request.getfixturevalue(name))) == []


@pytest.mark.parametrize("name", ["orders", "conduit"])
def test_the_codes_of_an_example_are_for_exactly_what_can_arise(
    name: str, read_contract: Callable[[str], Contract], request: pytest.FixtureRequest
) -> None:
    contract = read_contract(request.getfixturevalue(name))
    stated = {
        condition.condition
        for code in value_of(contract.errors.codes) or ()
        for condition in value_of(code.conditions) or ()
    }
    assert {each.condition for each in arising(Survey(contract))} == stated


def test_nine_parts_that_show_nothing_are_nine_gaps(asked: Asked) -> None:
    text = "# Nothing\n\n" + "\n\n".join(f"## {title}\n\nAll of it: not shown." for title in NUMBERED_TITLES)
    found = asked(text)
    assert sorted(each.question.part for each in found) == list(range(1, 10))
    assert {each.question for each in found} == set(PART_QUESTIONS)
    assert all(text[each.span.start : each.span.end].startswith("All of it") for each in found)


def test_an_empty_document_is_nine_gaps_at_its_start(asked: Asked) -> None:
    found = asked("")
    assert len(found) == 9
    assert {each.span.start for each in found} == {0}


def test_an_absent_part_is_a_gap_at_the_title(asked: Asked) -> None:
    (only,) = asked("# Title\n\n" + "\n\n".join(f"## {title}\n\nIt: none." for title in NUMBERED_TITLES[:8]))
    assert only.question.id == "versioning"
    assert only.span.start == 0


def test_what_blocks_comes_first(orders: str, asked: Asked) -> None:
    text = instead(orders, "patch: merge", "patch: not shown")
    text = instead(text, "order.paid:      {upon: pay order,     payload: order}", "order.paid: {upon: pay order}")
    assert [each.effect for each in asked(text)] == ["blocks", "leaves out"]


LINES = {
    "the primary key": ("\ncustomer:\n  primary key: id\n", "\ncustomer:\n", "primary key", "customer"),
    "a type": ("quantity:   {type: integer, minimum: 1}", "quantity:   {minimum: 1}", "type", "types.line.quantity"),
    "what a secret is": (", secret: token,", ",", "readable", "customer.api_key"),
    "who makes the primary key": (
        "{type: string, format: uuid, on create: uuid()}\n    customer", "{type: string}\n    customer",
        "primary key", "order",
    ),
    "the states of a resource": ("customer: none\n", "", "machine", "customer"),
    "the initial state": ("  initial: draft\n", "", "initial", "order"),
    "where a transition goes": ("pay:    {from: placed, to: paid}", "pay:    {from: placed}", "to", "pay order"),
    "a body": ("  body: [email, name]\n", "", "body", "POST /customers"),
    "that there is no body": ("{does: pay order,    body: none,", "{does: pay order,", "body", "POST /orders/{id}/pay"),
    "how a patch is read": ("  patch: merge\n", "", "patch", "PATCH /orders/{id}"),
    "an order": ("  sort: [-created_at]\n", "", "order", "GET /orders"),
    "no responses at all": ("  responses: {204: none}\n\nPOST /orders/{id}/place", "\nPOST /orders/{id}/place",
                            "responses", "DELETE /orders/{id}"),
    "responses that list none": ("responses: {200: stream}", "responses: {}", "responses", "GET /events"),
    "unknown members": (", unknown members: refused", "", "unknown members", "requests"),
    "unknown parameters": (", unknown parameters: refused", "", "unknown parameters", "requests"),
    "where a credential is looked up": (", matches: customer.api_key", "", "credential", "key"),
    "an audience": (", audience: orders", "", "audience", "staff"),
    "the rows of a scheme": (", staff: true}\n  order", "}\n  order", "rows", "customer"),
    "unseen rows": ("unseen rows: not found\n", "", "unseen rows", "rows"),
    "a payload": ("{upon: pay order,     payload: order}", "{upon: pay order}", "payload", "order.paid"),
    "attempts": (", attempts: 8", "", "delivery", "webhooks"),
    "a status": ("{status: 409, title: Only a draft can be changed}", "{title: Only a draft can be changed}",
                 "status", "not_a_draft"),
    "a burst": (", burst: 20,", ",", "rate", "sign-ups"),
    "the largest body": ("body size: 64 KiB\n", "", "body size", "body size"),
    "the parameter of the page": (", at: cursor}", "}", "pages", "GET /orders"),
    "how long keys are kept": ("idempotency keys kept: PT24H\n", "", "idempotency keys kept", "idempotency keys kept"),
    "the way back": ("    changes:\n      - {rename: order.note, to: comment}\n      - {remove: order.updated_at}\n",
                     "", "changes", "2026-01-01"),
    "what is compatible": ("compatible: [add an optional field, add an endpoint, add an event kind]\n", "",
                           "compatible", "compatible"),
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_taken_out_leaves_one_question(line: str, orders: str, asked: Asked) -> None:
    old, new, question, subject = LINES[line]
    assert ids(asked(instead(orders, old, new))) == [(question, subject)]


def test_conditions_without_a_code_are_one_line(orders: str, asked: Asked) -> None:
    text = without(
        orders,
        "  stale:         {status: 412, title: It changed since you read it, for: precondition failed}\n",
        "  broken:        {status: 500, title: Our fault, for: internal}\n",
    )
    (only,) = asked(text)
    assert only.subject == "precondition failed, internal"
    assert only.text.endswith("`precondition failed`, `internal`")


def test_a_condition_that_cannot_arise_needs_no_code(orders: str, asked: Asked) -> None:
    text = without(
        orders, "  stale:         {status: 412, title: It changed since you read it, for: precondition failed}\n"
    ).replace("  etag: true\n", "")
    assert asked(text) == ()


def test_a_check_that_names_no_error_needs_one(orders: str, asked: Asked) -> None:
    (only,) = asked(instead(orders, ", else: empty_order}", "}"))
    assert (only.question.id, only.question.part, only.subject) == ("else", 3, "place order")


def test_where_its_error_is_not_shown_the_check_is_a_gap(orders: str, asked: Asked) -> None:
    (only,) = asked(instead(orders, ", else: empty_order}", ", else: not shown}"))
    assert (only.question.id, only.effect) == ("written", "blocks")


@pytest.mark.parametrize(
    ("old", "new", "part", "subject", "blocks"),
    [
        ('check: {that: "order.total > 0", else: empty_order}', "check: {else: empty_order}", 3, "place order",
         ("POST /orders/{id}/place",)),
        ("  etag: true\n", "  etag: true\n  check: {else: empty_order}\n", 4, "GET /orders/{id}",
         ("GET /orders/{id}",)),
    ],
)  # fmt: skip
def test_what_a_check_holds_is_asked_for(
    orders: str, asked: Asked, old: str, new: str, part: int, subject: str, blocks: tuple[str, ...]
) -> None:
    (only,) = asked(orders.replace(old, new, 1))
    assert (only.question.id, only.question.part, only.subject, only.blocks) == ("that", part, subject, blocks)


def test_webhooks_are_asked_for_where_a_subscription_can_be_made(orders: str, asked: Asked) -> None:
    begin = orders.index("  webhooks: {to: subscription")
    text = orders[:begin] + orders[orders.index("\n", begin) + 1 :]
    (only,) = asked(text)
    assert (only.question.id, only.subject, only.left_out) == ("delivery", "webhooks", "delivery by webhooks")
    told_nothing = orders[:begin] + "  webhooks: none\n" + orders[orders.index("\n", begin) + 1 :]
    assert asked(told_nothing) == ()


def test_a_code_that_part_7_does_not_have_is_a_gap_of_it(orders: str, asked: Asked) -> None:
    (only,) = asked(instead(orders, "else: empty_order", "else: empty_ordr"))
    assert (only.question.id, only.question.part, only.subject) == ("status", 7, "empty_ordr")
    assert only.text == "the status of `empty_ordr`, which part 7 does not have (did you mean `empty_order`?)"


def test_a_narrowed_code_leaves_the_rest_of_its_condition_open(conduit: str, asked: Asked) -> None:
    (only,) = asked(without(
        conduit, "  no_comment:       {status: 404, about: comment,     title: not found,  for: not found comment}\n"
    ))  # fmt: skip
    assert only.subject == "not found comment"


def test_a_code_for_one_endpoint_is_a_code(orders: str, asked: Asked) -> None:
    text = instead(orders, "such thing, for: [not found, no such path]}", "such thing, for: no such path}")
    assert asked(text)[0].subject == "not found"
    endpoints = text.replace("does: read order\n", "does: read order\n  errors: {missing: not_found}\n")
    assert "not found" in asked(endpoints)[0].subject, "the other endpoints have no code for it"


def test_permissions_that_are_missing_are_one_question(orders: str, asked: Asked) -> None:
    start, end = orders.index("permissions:\n"), orders.index("```\n\n## 6.")
    (only,) = asked(orders[:start] + orders[end:])
    assert (only.question.id, len(only.blocks)) == ("callers", 13)


def test_without_all_others_each_endpoint_without_a_line_is_asked_about(orders: str, asked: Asked) -> None:
    found = asked(without(orders, "  all others:               staff\n"))
    assert [each.blocks for each in found] == [("POST /webhooks",), ("DELETE /webhooks/{id}",), ("GET /events",)]


def test_deleting_a_target_is_asked_about_only_where_something_deletes_it(orders: str, asked: Asked) -> None:
    silent = instead(orders, ", on delete: restrict}", "}")
    assert asked(silent) == ()
    deletion = "DELETE /customers/{id}: {does: delete customer, responses: {204: none}}\n\n"
    deleting = instead(silent, "GET /orders:\n", deletion + "GET /orders:\n")
    (only,) = [each for each in asked(deleting) if each.question.id == "on delete"]
    assert (only.subject, only.blocks) == ("order.customer", ("DELETE /customers/{id}",))


def test_a_deletion_that_cascades_asks_on(conduit: str, asked: Asked) -> None:
    like = (
        "like:\n  primary key: id\n  fields:\n"
        "    id: {type: integer, on create: serial()}\n    comment: {references: comment}\n\n"
    )
    (only,) = asked(instead(conduit, "favorite:\n  primary key", like + "favorite:\n  primary key"))
    assert only.subject == "like.comment"
    assert only.blocks == ("DELETE /articles/{slug}", "DELETE /articles/{article.slug}/comments/{id}")


def test_a_created_row_needs_no_row_rule_and_a_listed_one_does(orders: str, asked: Asked) -> None:
    listing = instead(orders, "GET /orders:\n", "GET /customers: {does: list customer, sort: [name], "
                      "responses: {200: {data: page.items}}}\n\nGET /orders:\n")  # fmt: skip
    listing = instead(listing, "  POST /orders:             key\n", "  POST /orders: key\n  GET /customers: anyone\n")
    (only,) = asked(listing)
    assert only.question.id == "rows"
    assert (only.text, only.blocks) == (
        "which rows of `customer` may be seen by `anyone` (`GET /customers`, `list customer`)",
        ("GET /customers",),
    )


def test_a_sign_in_needs_a_password_and_no_row_rule(conduit: str, asked: Asked) -> None:
    (only,) = asked(instead(conduit, ", minLength: 8, secret: password}", ", minLength: 8}"))
    assert (only.question.id, only.blocks) == ("readable", ("POST /users/login",))
    rules = "rows: {user: {token: true}, article: all, comment: all, favorite: all, follow: all}"
    found = asked(instead(conduit, "rows: all", rules))
    assert {each.subject for each in found} == {"user"}
    assert "POST /users/login" not in found[0].blocks


def test_a_row_that_an_effect_creates_is_known_by_what_the_effect_sets(conduit: str, asked: Asked) -> None:
    line = "  responses: {201: {article: full(article)}}\n"
    given = instead(conduit, line, line + "  also: [{does: create favorite, sets: {article: this}}]\n")
    assert ("primary key", "favorite") not in ids(asked(given))
    assert ("primary key", "favorite") in ids(asked(given.replace("article: this", "user: caller.user")))


def test_an_update_whose_method_has_no_body_is_no_patch(conduit: str, asked: Asked) -> None:
    text = instead(
        conduit, "DELETE /articles/{slug}: {does: delete article,", "DELETE /articles/{slug}: {does: update article,"
    )
    assert "patch" not in [each.question.id for each in asked(text)]


def test_not_shown_is_a_gap_for_a_key_that_nobody_asks_for(orders: str, asked: Asked) -> None:
    (guard,) = asked(instead(orders, 'check: {that: "order.total > 0", else: empty_order}', "check: not shown"))
    assert (guard.effect, guard.blocks) == ("blocks", ("POST /orders/{id}/place",))
    (header,) = asked(instead(orders, """headers: {Location: "'/orders/' + order.id"}""", "headers: not shown"))
    assert (header.effect, header.left_out) == ("leaves out", "`POST /orders.headers`")
    (stored,) = asked(instead(orders, "on change: now", "on change: not shown"))
    assert stored.effect == "blocks" and "GET /orders" in stored.blocks


def test_a_quoted_not_shown_is_text(orders: str, asked: Asked) -> None:
    assert asked(instead(orders, "title: Our fault", 'title: "not shown"')) == ()


def test_none_answers(orders: str, asked: Asked) -> None:
    start, end = orders.index("rates:\n"), orders.index("headers: [RateLimit")
    text = orders[:start] + "rates: none\n" + orders[end:]
    text = without(text, "  slow_down:     {status: 429, title: Too many requests, for: too many requests}\n")
    assert asked(text) == ()


def test_a_proposal_is_a_gap_with_a_candidate(orders: str, read_contract: Callable[..., Contract]) -> None:
    text = instead(orders, "patch: merge", "patch: !proposed merge")
    (only,) = ask(read_contract(text))
    assert only.candidate and only.question.id == "patch"
    assert ask(read_contract(text, accept=True)) == ()


def test_a_part_of_proposals_alone_is_one_gap(orders: str, read_contract: Callable[..., Contract]) -> None:
    before, after = orders.split("## 8. Limits\n\n```yaml")
    text = f"{before}## 8. Limits\n\n```yaml proposed{after}"
    (only,) = ask(read_contract(text))
    assert only.candidate and only.question.id == "limits"
    assert set(only.blocks) == {"POST /orders", "GET /orders"}
    assert ask(read_contract(text, accept=True)) == ()


def test_silence_about_limits_blocks_lists_and_keys(orders: str, asked: Asked) -> None:
    start, end = orders.index("## 8. Limits"), orders.index("## 9.")
    (only,) = asked(orders[:start] + orders[end:])
    assert (only.question.id, only.effect, only.blocks) == ("limits", "blocks", ("POST /orders", "GET /orders"))


def test_long_chains_of_computed_fields_and_references_are_walked(asked: Asked) -> None:
    fields = "\n".join(f"    f{n}: {{type: integer, computed: a.f{n + 1}}}" for n in range(3000))
    chain = "\n".join(f"r{n}: {{primary key: id, fields: {{id: {{type: string}}, to: {{references: r{n + 1}}}}}}}"
                      for n in range(3000))  # fmt: skip
    found = asked(
        "# T\n\n## 2\n\n```yaml\n"
        f"a:\n  primary key: id\n  fields:\n    id: {{type: string}}\n{fields}\n{chain}\n```\n\n"
        "## 4\n\n```yaml\nGET /as/{id}: {does: read a, responses: {200: a}}\n"
        "GET /rs/{id}: {does: read r0, responses: {200: r0}}\n```\n"
    )
    assert any(each.question.id == "authentication" or each.question.id == "schemes" for each in found)


def test_questions_are_listed_in_the_order_of_the_parts_and_named_once() -> None:
    assert [each.part for each in QUESTIONS] == sorted(each.part for each in QUESTIONS)
    assert len({each.id for each in QUESTIONS}) == len(QUESTIONS)
    assert set(PART_QUESTIONS) <= set(QUESTIONS)


def test_conditions_are_told_in_the_order_of_the_closed_list(
    orders: str, read_contract: Callable[[str], Contract]
) -> None:
    places = [tuple(STATUSES).index(each.condition) for each in arising(Survey(read_contract(orders)))]
    assert places == sorted(places)


def test_a_grant_that_is_not_shown_blocks_its_endpoint_alone(asked: Asked) -> None:
    text = (ROOT / "tests" / "cases" / "clients-of-oauth" / "contract.md").read_text(encoding="utf-8")
    (only,) = asked(instead(text, "grant: client_credentials", "grant: not shown"))
    assert only.text == "by which grant clients sign in by `POST /oauth/token`"
    assert only.blocks == ("POST /oauth/token",)


@pytest.mark.parametrize("inside", ["additionalProperties: {}", "properties: {a: {}}", "properties: {a: {pattern: x}}"])
def test_what_a_value_inside_a_filter_is_is_asked(inside: str, asked: Asked) -> None:
    """Its own type may follow from what it is compared with; that of what it holds is stated."""
    filtered = f"{{content: application/json, type: object, {inside}, where: thing.tags == value}}"
    written = contract(
        """
        thing:
          primary key: id
          fields: {id: {type: integer}, tags: {type: object, additionalProperties: {type: string}}}
        """,
        f"""
        GET /things:
          does: list thing
          query: {{tags: {filtered}}}
          sort: [id]
          pages: {{by: none}}
          responses: {{200: page.items}}
        """,
    )
    assert "the type of the parameter `tags` of `GET /things`" in [each.text for each in asked(written)]
