"""A contract of the first words becomes one of the second: what changes, and that nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.diagnostics.source import Source
from ninefold.syntax.nodes import Document
from ninefold.syntax.parser import form_of, parse
from ninefold.tools.fix.fix import Fixed, fixed

pytestmark = pytest.mark.usefixtures("nothing_of_it_is_in_force")

OLD = sorted((Path(__file__).parent / "old").glob("*/contract.*"))
"""The frozen contracts (`freeze.py`)."""


def document(name: str, text: str) -> tuple[Document, set[str]]:
    """With the codes of what is wrong with how it is written."""
    source = Source(name, text)
    outcome = parse(source, form_of(name, text))
    return outcome.value, {str(each.code) for each in outcome.diagnostics}


def fix(part: str, old: str) -> Fixed:
    indented = "".join(f"  {line}\n" for line in old.splitlines())
    return fixed(document("contract.yaml", f"{part}:\n{indented}")[0])


REWRITTEN = [
    pytest.param(
        "resources",
        """note:
  identifier: id   # who made it: the client
  fields:
    owner: {refers to: user, back: notes, on delete: clear}
    slug:  {type: string, on create: slug(note.title) + '-1', again on: [title]}
  invariants:
    - {when: "note.text != '', note", otherwise: too_long}
    - {when: "!note.text.endsWith('!')"}
  expires: {at: note.end}
  records:
    first: {id: "'a'"}
    second: {id: "'b'"}
types:
  line:
    fields: {sku: {type: string}}
    required: [sku]
""",
        """note:
  primary key: id   # who made it: the client
  fields:
    owner: {references: user, inverse: notes, on delete: set null}
    slug:  {type: string, on change: {title: slug(note.title) + '-1'}}
  check: [{that: "note.text != '', note", else: too_long}, {that: "!note.text.endsWith('!')", else: refused}]
  expires: note.end
  records: [{id: "'a'"}, {id: "'b'"}]
types:
  line:
    type: object
    properties: {sku: {type: string}}
    required: [sku]
""",
        id="resources",
    ),
    pytest.param(
        "states",
        """order:
  # how it goes
  field: status
  initial: open
  final: [done]   # nothing leaves it
  transitions:
    close:
      from: open
      to: done
      when: >
        order.total > 0
        && order.paid
      otherwise: unpaid
      then:
        - {update: product, row: order.product, sets: {stock: product.stock - order.n}}
        - {take: release seat, where: seat.order == order}
        - {create: order, sets: {n: this.n}}
""",
        """order:
  # how it goes
  initial: open
  # nothing leaves it
  transitions:
    close:
      from: open
      to: done
      check:
        that: >
          order.total > 0
          && order.paid
        else: unpaid
      also:
        - {does: update product, where: product == this.product, sets: {stock: product.stock - this.n}}
        - {does: release seat, where: seat.order == this}
        - {does: create order, sets: {n: this.n}}
""",
        id="states",
    ),
    pytest.param(
        "endpoints",
        """responses: {media type: application/json}
cross origin: {origins: any, kept: PT1H}
GET /user: {does: read user, row: caller.user, responses: {200: user}}
PUT /user: {does: ensure follow, body: none, responses: {200: user}}
GET /orders:
  does: list order
  query:
    dogs: {type: integer, otherwise: too_many_dogs}
  filters:
    status: order.status == value
    tags: {is: value in order.tags, written: repeated}
  sorts: {parameter: sort, default: [-at], offered: [at, -at]}
  pages: {by: page, default: 9, largest: none, parameters: {size: n, number: p}}
  validators: etag
  responses: {200: page.items}
POST /hooks: {does: subscribe, body: [url], when: a || b, responses: {201: subscription}}
""",
        """produces: application/json
cors: {origins: all, max age: PT1H, preflight: 204}
GET /user: {does: read user, where: user == caller.user, responses: {200: user}}
PUT /user: {does: put follow, body: none, responses: {created or unchanged: {200: user}}}
GET /orders:
  does: list order
  query:
    dogs: {type: integer}
    status: order.status == value
    tags: {where: value in order.tags, explode: true}
    sort: {sorts: [at, -at]}
  sort: [-at]
  pages: {by: page, default: 9, maximum: none, size: n, at: p, first: 1}
  etag: true
  responses: {200: page.items}
  errors: {invalid query.dogs: too_many_dogs}
POST /hooks: {does: create subscription, body: [url], check: {that: a || b, else: cannot_subscribe}, """
        """responses: {201: subscription}}
""",
        id="endpoints",
    ),
    pytest.param(
        "authentication",
        """schemes:
  key:   {type: http, scheme: bearer, matches: user.key}
  press: {type: mutualTLS, matches: any}
  staff: {type: openIdConnect, openIdConnectUrl: operator.issuer, audience: notes}
  app:   {type: oauth2, openIdConnectUrl: operator.issuer, flows: {implicit: {}}, audience: notes}
  robot: {type: http, scheme: bearer, openIdConnectUrl: operator.issuer, audience: notes}
  other: {type: http, scheme: bearer, issuer: operator.a, keys: operator.b, algorithms: [ES256], audience: notes}
rows:
  user: {key: any, anyone: none}
  note: any
unseen rows: missing
permissions:
  GET /notes: any
  GET /users: {key: any, press: none}
  all others: [key, anyone]
""",
        """schemes:
  key:   {type: http, scheme: bearer, matches: user.key}
  press: {type: mutualTLS, matches: all}
  staff: {type: openIdConnect, issuer: operator.issuer, audience: notes}
  app:   {type: openIdConnect, issuer: operator.issuer, audience: notes}
  robot: {type: openIdConnect, issuer: operator.issuer, audience: notes}
  other: {type: http, scheme: bearer, issuer: operator.a, keys: operator.b, algorithms: [ES256], audience: notes}
rows:
  user: {key: true, anyone: false}
  note: all
unseen rows: not found
permissions:
  GET /notes: [key, press, staff, app, robot, other, anyone]
  GET /users: {key: true, press: false}
  all others: [key, anyone]
""",
        id="authentication",
    ),
    pytest.param(
        "authentication",
        "rows: any\npermissions: {all others: any}\n",
        "rows: all\npermissions: {all others: anyone}\n",
        id="nobody is known",
    ),
    pytest.param(
        "events",
        """kinds: {order.paid: {upon: pay order, when: order.total > 0, payload: order}}
log: {lasts: P1D}
delivery:
  webhooks: {when: "true", attempts: 3}
  stream: {format: server-sent events, resume: Last-Event-ID, kept: P7D}
  order: per resource
""",
        """kinds: {order.paid: {upon: pay order, where: order.total > 0, payload: order}}
delivery:
  webhooks: {to: subscription, where: "true", attempts: 3}
  stream: server-sent events
kept: P7D
""",
        id="events",
    ),
    pytest.param(
        "limits",
        """headers: [RateLimit]
sizes: {body: 64 KiB}
time-outs: none
idempotency keys: {kept: PT24H}
pages: {default: 20, largest: 100, by: cursor, parameters: {size: limit, next: cursor}}
""",
        """rate headers: [RateLimit]
body size: 64 KiB
timeout: none
idempotency keys kept: PT24H
pages: {default: 20, maximum: 100, by: cursor, size: limit, at: cursor}
""",
        id="limits",
    ),
    pytest.param(
        "errors",
        """shape: {media type: application/json, body: {fields: error.fields, places: "error.fields.map(f, f['in'])"}}
""",
        """error shape: {media type: application/json, body: {fields: "error.fields.map(f, {'in': f.place, 'pointer': \
f.pointer, 'name': f.name, 'rule': f.rule, 'message': f.message})", places: "error.fields.map(f, f.place)"}}
""",
        id="the fields of an error are shown as they were",
    ),
    pytest.param(
        "limits",
        """sizes: !proposed
  body: 64 KiB  # as nginx
time-outs: {request: !proposed PT10S}
""",
        """body size: !proposed 64 KiB  # as nginx
timeout: !proposed PT10S
""",
        id="a proposal stays one",
    ),
]


@pytest.mark.parametrize(("part", "old", "new"), REWRITTEN)
def test_a_part_is_said_in_the_second_words(part: str, old: str, new: str) -> None:
    result = fix(part, old)
    assert result.text == f"{part}:\n" + "".join(f"  {line}\n" for line in new.splitlines())
    assert result.left == ()


def test_what_cannot_be_rewritten_is_told_with_its_place() -> None:
    result = fix("resources", 'note: {fields: {mine: {type: boolean, computed: "note.owner == caller.user"}}}\n')
    (left,) = result.left
    assert "whoever asks" in left.message
    assert result.text[left.span.start : left.span.end].startswith("computed")


@pytest.mark.parametrize(
    ("shown", "asked", "told"),
    [
        ("error.fields.map(f, f.pointer)", "filters: {id: {is: note.id in value, written: repeated}}", ["pointer"]),
        ("error.fields.map(f, f.pointer)", "projection: {parameter: f, offered: [id], written: repeated}", ["pointer"]),
        ("error.fields.map(f, f.pointer)", "filters: {id: note.id == value}", []),
        ("error.fields", "expand: {parameter: e, offered: [of], written: comma separated}", ["rule", "pointer"]),
        ("error.fields", "", ["rule"]),
        ("error.fields.map(f, f.rule)", "", ["rule"]),
        ("error.fields.size()", "", []),
        ("error.code", "path: {a: {type: string, otherwise: lost}, b: {type: string}}", ["not found"]),
    ],
)
@pytest.mark.parametrize("own", [False, True])
def test_what_errors_tell_otherwise_is_named(shown: str, asked: str, told: list[str], own: bool) -> None:
    """`own`: by the shape of an endpoint's own errors."""
    shape, other = f"{{body: '{shown}'}}", "{body: error.code}"
    old = f"""endpoints:
  GET /notes: {{does: list note, validators: etag, error shape: {shape if own else other}, {asked}}}
errors: {{shape: {other if own else shape}}}
"""
    changed = fixed(document("contract.yaml", old)[0]).changed
    assert [each.message.split("`")[1] for each in changed] == told


@pytest.mark.parametrize(
    ("tags", "told"),
    [
        (("", ""), [(3, "here, and at 1 more")]),
        ((", validators: etag", ""), [(4, "here")]),
        ((", validators: etag", ", validators: etag"), []),
    ],
)
def test_conditions_of_requests_are_judged_without_entity_tags_too(
    tags: tuple[str, str], told: list[tuple[int, str]]
) -> None:
    old = f"""resources: {{note: {{identifier: id}}}}
endpoints:
  GET /notes/{{id}}: {{does: read note{tags[0]}}}
  DELETE /notes/{{id}}: {{does: delete note{tags[1]}}}
"""
    source = document("contract.yaml", old)[0]
    found = [(each.span.start, each.message) for each in fixed(source).changed if "If-Match" in each.message]
    lines = [(source.source.place(at).line, words.split(": ")[1].partition(";")[0]) for at, words in found]
    assert lines == told


def test_every_contract_is_rewritten_once_and_stays_one_that_can_be_read() -> None:
    """Reading the result finds nothing wrong that was not wrong before, and rewriting it changes nothing."""
    offenders = []
    for path in OLD:
        text = path.read_bytes().decode("utf-8", "replace")
        before, codes = document(path.name, text)
        result = fixed(before)
        after, still = document(path.name, result.text)
        if still - codes or fixed(after).text != result.text:
            offenders.append(f"{path.parent.name}: {sorted(still - codes)}")
        if result.text.count("#") < text.count("#"):
            offenders.append(f"{path.parent.name}: a comment is lost")
    assert offenders == []


def test_a_check_without_a_code_keeps_its_answer() -> None:
    """Part 7 had a code for all of them, or of some rows; else a name is taken that part 7 does not have."""
    old = """resources:
  note: {invariants: [{when: note.a}]}
  line: {invariants: [{when: line.a}]}
endpoints:
  PATCH /notes/{id}: {does: update note, when: note.b}
errors:
  codes:
    full: {status: 409, when: [conflict, invariant note]}
    odd: {status: 422, when: invariant}
    cannot_update: {status: 400, when: invalid}
"""
    assert (
        fixed(document("contract.yaml", old)[0]).text
        == """resources:
  note: {check: {that: note.a, else: full}}
  line: {check: {that: line.a, else: odd}}
endpoints:
  PATCH /notes/{id}: {does: update note, check: {that: note.b, else: cannot_update_}}
errors:
  codes:
    full: {status: 409, for: conflict}
    odd: {status: 422}
    cannot_update: {status: 400, for: invalid}
"""
    )


def test_what_was_once_is_said_in_the_words_of_its_own_part() -> None:
    result = fix(
        "versioning",
        """versions:
  "1":
    changes:
      - {add: GET /old, endpoint: {does: list note, filters: {a: note.a == value}}}
      - {change: note.closed, kind: {upon: remove note, when: note.a, payload: note}}
      - {change: gone, code: {status: 404, when: missing}}
""",
    )
    assert result.text.splitlines()[4:] == [
        "        - {add: GET /old, was: {does: list note, query: {a: note.a == value}}}",
        "        - {change: note.closed, was: {upon: delete note, where: note.a, payload: note}}",
        "        - {change: gone, was: {status: 404, for: not found}}",
    ]


VERSIONS = """versioning:
  versions:
    "1":
      changes: [{}]
"""


@pytest.mark.parametrize(
    ("lines", "change", "now", "left"),
    [
        (
            "{all others: key}",
            "{add: GET /old, endpoint: {does: list note}, permissions: anyone}",
            "{all others: key, GET /old: anyone}",
            "{add: GET /old, was: {does: list note}}",
        ),
        (
            "{all others: any}",
            "{add: 'GET /old/{id}', permissions: {key: any, anyone: none}, was: {does: read note}}",
            '{all others: [key, anyone], "GET /old/{id}": {key: true, anyone: false}}',
            "{add: 'GET /old/{id}', was: {does: read note}}",
        ),
        (
            "{all others: any}",
            "{add: GET /old, endpoint: {does: list note}}",
            "{all others: [key, anyone], GET /old: [key, anyone]}",
            "{add: GET /old, was: {does: list note}}",
        ),
        (
            "\n    GET /notes: key\n    all others: anyone",
            "{add: 'GET /old/{id}', was: {does: read note}, permissions: !proposed key}",
            "\n    GET /notes: key\n    all others: anyone\n    GET /old/{id}: !proposed key",
            "{add: 'GET /old/{id}', was: {does: read note}}",
        ),
        (
            "{GET /old: key}",
            "{add: GET /old, endpoint: {does: list note}}",
            "{GET /old: key}",
            "{add: GET /old, was: {does: list note}}",
        ),
        (
            "{all others: key}",
            "{add: GET /old, was: {does: list note}}",
            "{all others: key}",
            "{add: GET /old, was: {does: list note}}",
        ),
        (
            "{all others: key}",
            "{add: note.old, schema: {type: string}}",
            "{all others: key}",
            "{add: note.old, was: {type: string}}",
        ),
    ],
)
def test_who_may_call_an_endpoint_of_an_older_version_is_a_line_of_part_5(
    lines: str, change: str, now: str, left: str
) -> None:
    told = f"authentication:\n  schemes: {{key: {{type: mutualTLS}}}}\n  permissions: {lines}\n"
    text = fixed(document("contract.yaml", told + VERSIONS.format(change))[0]).text
    assert text == told.replace(lines, now) + VERSIONS.format(left)


@pytest.mark.parametrize("lines", ["{GET /old: key}", "key", "{all others: key}"])
def test_one_that_cannot_be_a_line_is_left(lines: str) -> None:
    """Where there is such a line, or an endpoint of the newest version that has it."""
    newest = "endpoints:\n  GET /old: {does: list note}\n" if "others" in lines else ""
    change = "{add: GET /old, was: {does: list note}, permissions: key}"
    told = f"{newest}authentication:\n  permissions: {lines}\n{VERSIONS.format(change)}"
    result = fixed(document("contract.yaml", told)[0])
    assert result.text == told
    assert [each.message for each in result.left] == [
        "who may call an endpoint of an older version is a line of part 5 now"
    ]
