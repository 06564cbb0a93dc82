"""What remains may answer in the place of what was taken out: that is no breach, and what only looks like it is one."""

from __future__ import annotations

from functools import cache

import pytest
from tests.contracts import ROOT
from tests.honesty.test_contracts import work

from ninefold.diff.ablate.ablate import Work, ablate
from ninefold.diff.ablate.compare import body_is_less
from ninefold.diff.ablate.facts import Removal, written
from ninefold.diff.ablate.fixed import Whole
from ninefold.diff.ablate.law import Found
from ninefold.pipeline import compile_tree

CONTRACT = b"""
purpose: Sells lots.
resources:
  lot:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      title: {type: string}
  bid:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      lot:   {references: lot, inverse: bids, on delete: restrict}
      cents: {type: integer}
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /lots: {does: create lot, body: [title], responses: {201: lot}}
  GET /lots/{id}: {does: read lot, responses: {200: {title: lot.title, wanted: "lot.bids.exists(b, b.cents > 10)"}}}
  POST /lots/{lot.id}/bids: {does: create bid, body: [cents], responses: {201: {id: bid.id}}}
authentication:
  schemes: none
  rows: {lot: {anyone: "lot.title != 'hidden'"}, bid: {anyone: true}}
  unseen rows: forbidden
  permissions: {POST /lots: anyone, "GET /lots/{id}": anyone, "POST /lots/{lot.id}/bids": anyone}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    no_lot: {status: 403, for: forbidden lot}
    no:     {status: 403, for: forbidden}
limits: {rates: none, body size: none, timeout: none}
versioning: none
"""

REQUESTS = """
POST /lots
Content-Type: application/json

{"title": "hidden"}

HTTP 201

GET /lots/1

HTTP 403

POST /lots
Content-Type: application/json

{"title": "a chair"}

HTTP 201

POST /lots/2/bids
Content-Type: application/json

{"cents": 20}

HTTP 201

GET /lots/2

HTTP 200
"""


KEPT_BACK = (
    CONTRACT[: CONTRACT.index(b"resources:")]
    + b"""
resources:
  keeper:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      until: {type: string, format: date-time}
    required: [until]
    expires: keeper.until
  hive:
    primary key: id
    fields:
      id:     {type: integer, on create: serial()}
      keeper: {references: keeper, type: [integer, "null"], on delete: set null}
    check: {that: has(hive.keeper), else: kept}
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /keepers: {does: create keeper, body: [until], responses: {201: keeper}}
  GET /keepers/{id}: {does: read keeper, responses: {200: keeper}}
  POST /hives: {does: create hive, body: [keeper], responses: {201: hive}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes: {kept: {status: 409}, wrong: {status: 422, for: invalid}}
limits: {rates: none, body size: none, timeout: none}
versioning: none
"""
)

OF_KEPT_BACK = """
POST /keepers
Content-Type: application/json

{"until": "2026-07-01T13:00:00Z"}

HTTP 201

POST /hives
Content-Type: application/json

{"keeper": 1}

HTTP 201

POST /hives
Content-Type: application/json

{"keeper": null}

HTTP 409

@after PT2H
GET /keepers/1

HTTP 200
"""


@cache
def whole(contract: bytes = CONTRACT, requests: str = REQUESTS) -> Whole:
    return Work("lots.yaml", contract, (("lots.http", requests),), {}).whole()


def found(address: str, removal: Removal, within: Whole | None = None) -> Found:
    (fact,) = (fact for fact in written((within or whole()).loaded.document) if fact.address == address)
    (came,) = ablate(within or whole(), (fact,), (removal,), compile_tree)
    return came


@pytest.mark.parametrize("address", ["2 hive > check", "2 hive > check > that", "2 hive > fields > keeper > type"])
def test_what_was_kept_back_until_now_is_done_and_a_null_is_admitted_no_more(address: str) -> None:
    came = found(address, "taken out", whole(KEPT_BACK, OF_KEPT_BACK))
    assert came.outcome != "no difference"
    assert not came.breaches


def test_a_wider_code_speaks_for_the_condition_of_a_narrower_one() -> None:
    assert not found("7 codes > no_lot > for", "taken out").breaches


def test_that_there_is_none_is_not_more_than_that_there_is_one() -> None:
    came = found("5 rows > bid > anyone", "none")
    assert came.outcome != "no difference"
    assert not came.breaches


@pytest.mark.parametrize(
    ("case", "address", "removal"),
    [
        # The line of `anyone` stands, and as such the caller comes now.
        ("a-session-in-a-cookie", "5 permissions > GET /hello > 2", "taken out"),
        # Who calls is not known, nor the version that the caller has: the request is of another one, with other paths.
        ("a-version-pinned-by-the-account", "5 schemes > key > name", "taken out"),
        # A bound that each list says itself is not asked of all.
        ("articles-in-envelopes", "8 pages > by", "taken out"),
        # What an older version shows is of the endpoint as well, which has another path there.
        ("a-version-pinned-by-the-account", "4 GET /charges/{id} > responses > 200 > id", "taken out"),
        # Of what was stated to be none, leaving it out leaves nothing out.
        ("services-that-take-their-time", "9 default", "not shown"),
        # A tag is of what a GET shows: of less, it stays the same more often.
        ("boards-with-entity-tags", "5 rows > note", "none"),
        # The row of a request that is no longer refused has a number, which no later request gets to see.
        ("rights-that-terms-ask-of", "2 member > required", "taken out"),
        # What an `immutable` identifier says by the path, a body that may change it has to say.
        ("bodies-that-repeat-the-identifier", "2 board > fields > name > immutable", "taken out"),
        # Of rows that nobody sees any more none refuses what is done to all of them.
        ("tasks-that-change-all-at-once", "5 rows > task", "none"),
    ],
)
def test_what_another_line_says_is_no_breach(case: str, address: str, removal: Removal) -> None:
    assert_no_breach(case, address, removal)


@pytest.mark.parametrize(
    ("case", "address", "removal"),
    [
        # By another scheme, which is all shown, a caller is the row that it was.
        ("clients-of-oauth", "5 schemes > desk > matches", "taken out"),
        # Whether a court may go is for its bookings to say, and those are not kept.
        ("bookings-with-a-unique-pair", "2 booking > fields > player > minLength", "not shown"),
    ],
)
def test_what_is_left_is_as_it_was_or_not_served(case: str, address: str, removal: Removal) -> None:
    assert_no_breach(case, address, removal)


def assert_no_breach(case: str, address: str, removal: Removal) -> None:
    of = work(ROOT / "tests" / "cases" / case).whole()
    (fact,) = (fact for fact in written(of.loaded.document) if fact.address == address)
    (came,) = ablate(of, (fact,), (removal,), compile_tree)
    assert not came.breaches, came.breaches


@pytest.mark.parametrize(("new", "old", "less"), [(b"false", b"true", True), (b"true", b"false", False)])
def test_what_comes_to_be_true_may_tell_of_more(new: bytes, old: bytes, less: bool) -> None:
    assert body_is_less(new, old, counts=True) is less
