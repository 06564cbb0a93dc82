"""Examples with a fact taken out: what conventions say to the gap, and that it then compiles as before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.propose.keeping import assert_kept, compiled, wrong
from tests.propose.taking_out import removals
from tests.slices import LONG, some

from ninefold.contract.questions.question import QUESTIONS
from ninefold.language.table import vocabulary
from ninefold.pipeline import Loaded
from ninefold.plan.routes import Served
from ninefold.tools.propose.conventions import CONVENTIONS
from ninefold.tools.propose.propose import propose

EXAMPLES = Path(__file__).parents[2] / "examples"

WITH_A_CONVENTION = {convention.question.id for convention in CONVENTIONS if not convention.beside}

NEVER = {
    "purpose", "resources", "fields", "does", "body", "schemes", "presented", "credential",
    "lasts", "audience", "callers", "rows", "readable", "kinds", "upon", "payload", "body size", "timeout",
    "idempotency keys kept", "rate", "versioning", "versions", "default", "changes",
}  # fmt: skip
"""The questions that no convention answers."""

ASKING = {
    (key.part, key.path) for key in vocabulary()
    if key.is_asked or key.path.endswith(("on create", "otherwise", "codes", "codes.CODE"))
}  # fmt: skip
"""The keys without which a question is open."""

LEFT_OPEN = {
    "type": "the field is no identifier, or nothing says that a UUID would fit it",
    "primary key": "what identifies the rows is a number, or means something",
    "states": "an endpoint moves a state",
    "machine": "an endpoint moves a state",
    "responses": "it is the contract's own to show what is computed, or found to be there",
    "delivery": "how long a stream is kept, and the source of an envelope, are no convention",
    "error shape": "the media type is the contract's own",
}
"""Why a question that has a convention may stay open all the same."""


def cut_texts(name: str, only: set[str]) -> Iterator[tuple[str, str]]:
    """The example without one of its facts, where that opens a question of `only`; and where it stood."""
    whole = compiled((EXAMPLES / f"{name}.md").read_text(encoding="utf-8"))
    # Of fifteen codes one is enough.
    first = {(part, path): (part, place, text) for part, path, place, text in reversed([*removals(whole.document)])}
    for part, place, text in some([each for key, each in sorted(first.items()) if key in ASKING], 12):
        loaded = compiled(text)
        if not wrong(loaded) and only & {each.question.id for each in loaded.open_questions}:
            yield f"{part}/{place}", text


def test_the_table_and_what_stays_open_are_all_questions() -> None:
    ids = {question.id for question in QUESTIONS}
    assert WITH_A_CONVENTION <= ids and NEVER <= ids
    assert not WITH_A_CONVENTION & NEVER
    assert all(each.source and "\n" not in each.source for each in CONVENTIONS)


@pytest.mark.parametrize("name", ["orders", "conduit"])
def test_a_complete_contract_gets_no_proposal(name: str) -> None:
    text = (EXAMPLES / f"{name}.md").read_text(encoding="utf-8")
    outcome = propose(compiled(text, accept=True))
    assert outcome.text == text and outcome.answers == () and outcome.open == ()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", ["orders", "conduit"])
def test_a_fact_taken_out_is_proposed_where_there_is_a_convention(name: str) -> None:
    """The gap has a candidate then, or stays open for a reason; accepted, the contract serves what the example does."""
    served = keys(compiled((EXAMPLES / f"{name}.md").read_text(encoding="utf-8")))
    told = set()
    for place, text in cut_texts(name, WITH_A_CONVENTION):
        before = compiled(text, accept=True)
        outcome = propose(before)
        assert_kept(before, outcome.text)
        as_it_stands, accepted = compiled(outcome.text), compiled(outcome.text, accept=True)
        for each in as_it_stands.open_questions:
            assert each.candidate or each.question.id in LEFT_OPEN.keys() | NEVER, (place, each.text)
        if outcome.answers and not accepted.open_questions:
            assert keys(accepted) == served, place
            assert accepted.plan is not None and accepted.plan.proposals, place
        told |= {answer.convention.question.id for answer in outcome.answers}
    # A sample has some of the gaps; all of them together have these.
    assert not LONG or told >= {
        "primary key",
        "patch",
        "order",
        "codes",
        "status",
        "error shape",
        "pages",
        "unknown members",
    }


def keys(loaded: Loaded) -> set[str]:
    """The endpoints that are served."""
    assert loaded.plan is not None
    return {route.key for route in loaded.plan.routes if isinstance(route, Served)}


SKETCH = """
resources:
  user:
    fields:
      name: {type: string}
      key:  {type: string, secret: token, on create: token()}
  board: {primary key: slug, fields: {slug: {type: string}, title: {type: string}}}
  card:
    fields:
      id:    {type: integer, on create: serial()}
      board: {references: board, on delete: cascade}
      owner: {references: user, on create: caller.user, on delete: restrict}
      text:  {type: string, maxLength: 200}
endpoints:
  base: /api
  POST /users: {does: create user, body: [name]}
  GET /me: {does: read user, where: user == caller.user}
  POST /boards: {does: create board, body: [slug, title]}
  GET /boards/{slug}: {does: read board}
  GET /boards: {does: list board}
  GET /boards/{board.slug}/cards: {does: list card}
  POST /boards/{board.slug}/cards: {does: create card, body: [text]}
  GET /boards/{board.slug}/cards/{id}: {does: read card}
  PUT /boards/{board.slug}/cards/{id}: {does: put card, body: [text]}
  PATCH /boards/{board.slug}/cards/{id}: {does: update card, body: [text]}
  DELETE /boards/{board.slug}/cards/{id}: {does: delete card}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: user.key}}
  rows: all
  permissions: {POST /users: anyone, all others: key}
"""
"""Resources, endpoints and permissions, and nothing else."""


def test_a_sketch_is_a_service_after_propose() -> None:
    outcome = propose(compiled(SKETCH, "sketch.yaml", accept=True))
    loaded = compiled(outcome.text, "sketch.yaml", accept=True)
    assert not wrong(loaded) and len(keys(loaded)) == 11
    shown = {
        "POST /users": "{201: {id: user.id, name: user.name, key: issued.key}}",
        "POST /boards": "{201: board}, headers: !proposed {Location: \"'/api/boards/' + board.slug\"}",
        "GET /boards": "{200: {items: page.items, next: page.next}}",
        "POST /boards/{board.slug}/cards": "{201: card}, headers: !proposed"
        " {Location: \"'/api/boards/' + card.board.slug + '/cards/' + string(card.id)\"}",
        "GET /boards/{board.slug}/cards/{id}": "{200: card}",
        "PUT /boards/{board.slug}/cards/{id}": "{replaced: {200: card}}",
        "PATCH /boards/{board.slug}/cards/{id}": "{200: card}",
        "DELETE /boards/{board.slug}/cards/{id}": "{204: none}",
    }
    for key, answer in shown.items():
        line = next(line for line in outcome.text.splitlines() if line.strip().startswith(f"{key}: "))
        assert f"responses: !proposed {answer}" in line, line


KEPT = """
purpose: Invoices.
resources:
  invoice:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      state: {state: true}
      net:   {type: integer}
      due:   {type: string, format: date-time, on create: now}
    required: [net]
states: {invoice: {initial: open, states: [open, paid], transitions: {pay: {from: open, to: paid}}}}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /invoices: {does: create invoice, body: [net]}
  GET /invoices: {does: list invoice, pages: none}
  GET /invoices/{id}: {does: read invoice, responses: {200: invoice}}
  POST /invoices/{id}/pay: {does: pay invoice, body: none, responses: {200: invoice}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: none
limits: {rates: none, body size: 1 KiB, timeout: none}
versioning: none
"""

OTHERWISE = {
    "a constant": ("on create: now", "on create: \"timestamp('2000-01-01T00:00:00Z')\""),
    "the time of a change": ("on create: now", "on change: now"),
    "a body": ("body: [net]", "body: [net, due]"),
    "sets": ("body: [net]}", "body: [net], sets: {due: now + duration('P14D')}}"),
    "a transition": ("to: paid}", "to: paid, sets: {due: now}}"),
    "an effect": (
        "body: none,",
        "body: none, also: [{does: update invoice, where: invoice.net > this.net, sets: {due: now}}],",
    ),
}
"""By what a field is not the time at which its row was made."""


def proposed(text: str, key: str, fact: str) -> str | None:
    loaded = compiled(text, "kept.yaml", accept=True)
    assert not wrong(loaded)
    outcome = propose(loaded)
    assert not wrong(compiled(outcome.text, "kept.yaml", accept=True))
    [line] = [line for line in outcome.text.splitlines() if line.strip().startswith(f"{key}: ")]
    return line.partition(f"{fact}: ")[2] or None


@pytest.mark.parametrize("name", ["due", "created_at"])
def test_the_newest_come_first_where_rows_keep_their_time_of_creation(name: str) -> None:
    text = KEPT.replace("due", name)
    assert (proposed(text, "GET /invoices", "sort") or "").startswith(f"!proposed [-{name}]")
    for other, (now, then) in OTHERWISE.items():
        text = KEPT.replace(now, then).replace("due", name)
        assert text != KEPT.replace("due", name), other
        assert (proposed(text, "GET /invoices", "sort") or "").startswith("!proposed [id]"), other


VERSIONS = """
versioning:
  in: path
  default: none
  versions: {v2: {}, v1: {changes: []}}
  compatible: [add an endpoint]
"""


@pytest.mark.parametrize(
    ("versions", "location"),
    [
        ("versioning: none\n", "{Location: \"'/invoices/' + string(invoice.id)\"}"),
        (VERSIONS, "{Location: \"'invoices/' + string(invoice.id)\"}"),
        (VERSIONS.replace("in: path", "in: header\n  name: V"), "{Location: \"'/invoices/' + string(invoice.id)\"}"),
        (VERSIONS.replace("[]", '[{rename: "GET /invoices/{id}", to: "GET /bills/{id}"}]'), None),
        (VERSIONS.replace("[]", '[{remove: "GET /invoices/{id}"}]'), None),
        (VERSIONS.replace("[]", "[{rename: POST /invoices, to: POST /bills}]"), None),
        (VERSIONS.replace("in: path", "in: header\n  name: V").replace("[]", '[{remove: "GET /invoices/{id}"}]'), None),
    ],
)
def test_a_location_leads_to_the_row_in_each_version(versions: str, location: str | None) -> None:
    text = KEPT.replace("versioning: none\n", versions.lstrip())
    found = proposed(text, "POST /invoices", "headers")
    assert found == location if location is None else (found or "").startswith(f"!proposed {location}")
    whole = propose(compiled(text, "kept.yaml", accept=True)).text
    assert ("where it is" in whole) == (location is not None)


def test_no_location_is_told_where_no_row_is_read() -> None:
    lines = [line for line in KEPT.splitlines() if "GET /invoices/{id}" not in line]
    whole = propose(compiled("\n".join(lines), "kept.yaml", accept=True)).text
    assert "responses: !proposed {201: invoice}" in whole and "where it is" not in whole


def test_an_envelope_is_proposed_where_webhooks_do_not_say_what_happened() -> None:
    text = (EXAMPLES / "orders.md").read_text(encoding="utf-8")
    [line] = [line for line in text.splitlines(keepends=True) if line.startswith("  envelope: ")]
    without = compiled(text.replace(line, ""), accept=True)
    assert [each.code.id for each in without.diagnostics if each.code.severity.value == "warning"] == ["NF0629"]
    after = compiled(propose(without).text, accept=True)
    assert not any(each.code.id == "NF0629" for each in after.diagnostics)
    assert propose(compiled(text.replace(line, "  envelope: none\n"), accept=True)).answers == ()


def test_codes_that_are_used_before_any_is_shown() -> None:
    """Their names are kept: the guards and transitions that use them would be wrong otherwise."""
    text = (EXAMPLES / "orders.md").read_text(encoding="utf-8")
    start, end = text.index("codes:\n"), text.index("messages:\n")
    outcome = propose(compiled(text[:start] + text[end:], accept=True))
    assert "  not_a_draft: {status: 409, title: Conflict}  # RFC 9110, section 15.5.10\n" in outcome.text
    assert outcome.open == ()


@pytest.mark.parametrize(
    ("fields", "identifier", "expected"),
    [
        ("{text: {type: string}}", "", "primary key: !proposed id"),
        ("{id: {type: string}}", "primary key: id, ", "on create: !proposed uuid()"),
        ("{id: {type: string, format: uuid}}", "primary key: id, ", "on create: !proposed uuid()"),
        (
            "{id: {description: What it is called.}}",
            "primary key: id, ",
            "format: !proposed uuid, on create: !proposed uuid()",
        ),
        ("{id: not shown}", "primary key: id, ", "id: !proposed {type: string, format: uuid, on create: uuid()}"),
        ("{id: {type: integer}}", "primary key: id, ", None),
        ("{id: {type: string, maxLength: 12}}", "primary key: id, ", None),
        ("{id: {type: string, format: email}}", "primary key: id, ", None),
        ("not shown", "", None),
    ],
)
def test_primary_keys(fields: str, identifier: str, expected: str | None) -> None:
    endpoint = "endpoints:\n  POST /notes: {does: create note, body: none}\n"
    text = f"resources:\n  note: {{{identifier}fields: {fields}}}\n{endpoint}"
    before = compiled(text, "contract.yaml", accept=True)
    after = propose(before).text
    assert_kept(before, after)
    if expected is None:
        assert "uuid()" not in after
    else:
        assert expected in after


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ("", "default: 20\n    maximum: 100\n    by: cursor\n    size: limit\n    at: cursor\n"),
        ("limits: {pages: {by: offset}}", "by: offset, default: !proposed 20, maximum: !proposed 100, size: "),
        ("limits: {pages: {by: offset}}", "at: !proposed offset, first: !proposed 0}}"),
        ("limits: {pages: {maximum: 10}}", "maximum: 10, default: !proposed 10, by: !proposed cursor"),
        ("limits: {pages: {by: none}}", None),
        ("limits: {pages: none}", None),
    ],
)  # fmt: skip
def test_page_bounds(pages: str, expected: str | None) -> None:
    text = (
        "resources:\n  note: {primary key: id, fields: {id: {type: string, on create: uuid()}}}\nendpoints:\n"
        f"  GET /notes: {{does: list note, responses: {{200: {{data: page.items, next: page.next}}}}}}\n{pages}\n"
    )
    before = compiled(text, "contract.yaml", accept=True)
    after = propose(before).text
    assert_kept(before, after)
    if expected is None:
        assert "cursor" not in after and "offset" not in after
    else:
        assert expected in after


def test_a_cursor_that_nobody_is_shown_is_not_proposed() -> None:
    text = "endpoints:\n  GET /notes: {does: list note, responses: {200: {data: page.items}}}\n"
    after = propose(compiled(f"resources: {{note: {{primary key: id}}}}\n{text}", "contract.yaml", accept=True)).text
    assert "by: offset" in after and "at: offset" in after


def test_headers_of_rates_are_proposed_beside_rates() -> None:
    rates = "limits:\n  rates: {calls: {of: address, allow: 10, per: PT1M, algorithm: fixed window}}\n"
    after = propose(compiled(rates, "contract.yaml", accept=True)).text
    assert "  rate headers: !proposed [RateLimit-Policy, RateLimit, Retry-After]  # draft-ietf-httpapi" in after
    none = rates + "  rate headers: none\n"
    assert "RateLimit" not in propose(compiled(none, "contract.yaml", accept=True)).text


def test_what_is_computed_is_the_contracts_own_to_show() -> None:
    endpoints = "  DELETE /a/{id}: {does: delete note}\n  POST /c: {does: compute, body: none}\n"
    text = f"resources: {{note: {{primary key: id}}}}\nendpoints:\n{endpoints}"
    after = propose(compiled(text, "contract.yaml", accept=True)).text
    assert "{does: delete note, responses: !proposed {204: none}}" in after
    assert "{does: compute, body: none}\n" in after
