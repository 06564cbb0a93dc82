"""For whom a difference is: all of them, and nobody else."""

from __future__ import annotations

import pytest
from tests.diff.test_pairs import TEXT, edited, loaded
from tests.diff.test_witness import GUESTS

from ninefold.diff.compare import diff
from ninefold.diff.verdicts import VERDICTS

CORS = [
    "requests:  {media type",
    "cors: {origins: all, exposed: [ETag], max age: PT1H, preflight: 204}\nrequests:  {media type",
]
UNIQUE = ["  required: [lines]", "  required: [lines]\n  unique: [[customer, note]]"]
LOG = 'pages: none, responses: {200: "page.items.map(e, e.payload)"}'
PAIRS: dict[str, tuple[list[list[str]], list[list[str]], dict[str, str]]] = {
    # Values that fields are given: those who are shown them, told of them, asked by them.
    "where rows begin": (
        [],
        [["initial: draft", "initial: placed"]],
        {"readers": "breaking", "receivers": "breaking", "senders": "look"},
    ),
    "where rows begin, and the log is listed": (
        [
            ["GET /events: ", f"GET /log: {{does: list event, sort: [position], {LOG}}}\nGET /events: "],
            ["  POST /orders:             key", "  GET /log: key\n  POST /orders:             key"],
        ],
        [["initial: draft", "initial: placed"]],
        {"readers": "breaking", "receivers": "breaking", "senders": "look"},
    ),
    "a value that is shown and told": (
        [['note:       {type: [string, "null"]', 'note:       {on create: "\'a\'", type: [string, "null"]']],
        [["on create: \"'a'\"", "on create: \"'b'\""]],
        {"readers": "breaking", "receivers": "breaking"},
    ),
    "a value that is unique as it is normalised": (
        [["    email:      {type: string, ", "    email:      {normalise: value.lowerAscii(), type: string, "]],
        [["normalise: value.lowerAscii(), ", ""]],
        {"readers": "breaking", "senders": "look"},
    ),
    "a value that only permissions read": (
        [
            ["    api_key:", "    rank: {type: string, on create: \"'low'\"}\n    api_key:"],
            ["  POST /orders:             key", "  POST /orders:             {key: \"caller.customer.rank == 'low'\"}"],
        ],
        [["on create: \"'low'\"", "on create: \"'high'\""]],
        {"senders": "look"},
    ),
    "a value that nobody is shown": (
        [["    api_key:", "    rank: {type: string, on create: \"'low'\"}\n    api_key:"]],
        [["on create: \"'low'\"", "on create: \"'high'\""]],
        {"operators": "look"},
    ),
    # Rows that are there: whoever starts the service over them.
    "a text that may be too long": (
        [],
        [["maxLength: 500", "maxLength: 400"]],
        {"senders": "breaking", "operators": "look"},
    ),
    "a text that may be longer and is shown to nobody": (
        [],
        [["maxLength: 80", "maxLength: 90"]],
        {"senders": "look", "readers": "look"},
    ),
    "fields that are unique": ([], [UNIQUE], {"senders": "breaking", "operators": "look"}),
    "fields of which some are unique already": (
        [UNIQUE],
        [["[[customer, note]]", "[[customer, note, created_at]]"]],
        {"senders": "look"},
    ),
    "a check that refuses with another code": (
        [["  required: [lines]", '  required: [lines]\n  check: {that: "order.total < 100", else: empty_order}']],
        [['100", else: empty_order', '100", else: not_a_draft']],
        {"readers": "breaking"},
    ),
    "a type": (
        [],
        [['note:       {type: [string, "null"], maxLength: 500}', "note:       {type: integer}"]],
        {"senders": "breaking", "readers": "breaking", "receivers": "breaking", "operators": "look"},
    ),
    # What is sent for nothing, and what is read by nobody.
    "a timer of its own": (
        [],
        [
            ["    expire: {from: placed, to: cancelled, after: PT30M}\n", ""],
            ["[cancel order, expire order]", "cancel order"],
        ],
        {"readers": "breaking", "receivers": "breaking"},
    ),
    "when rows go by themselves, of which nobody is told": (
        [["  required: [lines]", "  required: [lines]\n  expires: order.created_at"]],
        [["expires: order.created_at", "expires: \"order.created_at + duration('P1D')\""]],
        {"readers": "look"},
    ),
    "when rows go by themselves, of which receivers are told": (
        [
            ["  required: [lines]", "  required: [lines]\n  expires: order.created_at"],
            ["[cancel order, expire order]", "[cancel order, expire order, delete order]"],
        ],
        [["expires: order.created_at", "expires: \"order.created_at + duration('P1D')\""]],
        {"readers": "look", "receivers": "look"},
    ),
    "a value by which rows go by themselves": (
        [
            ["    created_at:", "    until: {type: string, format: date-time, on create: now}\n    created_at:"],
            ["  required: [lines]", "  required: [lines]\n  expires: order.until"],
            ["[cancel order, expire order]", "[cancel order, expire order, delete order]"],
        ],
        [["on create: now}", "on create: \"now + duration('P1D')\"}"]],
        {"readers": "look", "receivers": "look"},
    ),
    "a sort": (
        [],
        [["sorts: [created_at, -created_at]", "sorts: [created_at, -created_at, total]"]],
        {"senders": "look"},
    ),
    "tags of what is changed": (
        [],
        [["else: not_a_draft}\n  etag: true", "else: not_a_draft}"]],
        {"senders": "breaking", "readers": "breaking"},
    ),
    "tags of what is read": (
        [],
        [["  does: read order\n  etag: true\n", "  does: read order\n"]],
        {"readers": "breaking"},
    ),
    "headers that scripts read": ([CORS], [["exposed: [ETag], ", ""]], {"readers": "breaking"}),
    "how long a browser keeps an answer": ([CORS], [["max age: PT1H", "max age: PT2H"]], {"senders": "look"}),
    "since when a version is deprecated": (
        [],
        [['deprecated: "2026-06-01"', 'deprecated: "2026-07-01"']],
        {"readers": "look"},
    ),
}


@pytest.mark.parametrize(("old", "edit", "expected"), PAIRS.values(), ids=PAIRS.keys())
def test_a_difference_is_for_these(old: list[list[str]], edit: list[list[str]], expected: dict[str, str]) -> None:
    before = edited(TEXT, old)
    found: dict[str, str] = {}
    for finding in diff(loaded("old.md", before), loaded("new.md", edited(before, edit))).findings:
        for each in finding.effects:
            gravest = min(each.verdict, found.get(each.audience, each.verdict), key=VERDICTS.index)
            found[each.audience] = gravest
    assert {who: verdict for who, verdict in found.items() if verdict not in ("compatible", "words")} == expected


ENDS = {"presented": "all", "others": "presented", "all": "others"}


@pytest.mark.parametrize("was", ENDS)
def test_what_ends_and_what_goes_on(was: str) -> None:
    def said(word: str) -> str:
        return edited(GUESTS, [["ends: presented", f"ends: {word}"]])

    [finding] = diff(loaded("old.yaml", said(was)), loaded("new.yaml", said(ENDS[was]))).findings
    expected = {"presented": {"breaking"}, "others": {"breaking", "opens"}, "all": {"opens"}}[was]
    assert {each.verdict for each in finding.effects} == expected
