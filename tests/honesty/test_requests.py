"""Files of requests: what can be read, and what is said of what cannot."""

from __future__ import annotations

import pytest

from ninefold.diff.requests import Excuse, Known, Unreadable, excuses, filled, learn, read_exchanges


def test_a_request_may_stand_without_its_response() -> None:
    first, second = read_exchanges(
        "GET /a\nAccept: text/html\n\nPOST /b\n\n{}\n\nHTTP 201\nLocation: /b/{{id}}\n!ETag\n"
    )
    assert (first.method, first.target, first.headers, first.expected) == (
        "GET",
        "/a",
        (("Accept", "text/html"),),
        None,
    )
    assert second.content == "{}" and second.expected is not None
    assert (second.expected.status, second.expected.absent) == (201, ("ETag",))


def test_what_happens_to_a_request_stands_before_it() -> None:
    (late,) = read_exchanges("@after PT1H\n@unavailable\nGET /a\n")
    assert (late.after, late.happening) == (3_600_000_000, "unavailable")


def test_a_request_may_come_several_times() -> None:
    *others, last = read_exchanges("@times 3\nGET /a\n\nHTTP 429\n")
    assert [each.expected for each in others] == [None, None]
    assert last.expected is not None and last.expected.status == 429


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "line 1: neither a request nor a response"),
        ("HTTP 200\n", "line 1: a response without a request"),
        ("GET /a\n\nHTTP 200\n\nHTTP 200\n", "line 5: a response without a request"),
        ("GET /a\nAccept text/html\n", "line 1: `Accept text/html` is not a header"),
        ("@after tomorrow\nGET /a\n", "line 1: `after tomorrow` is not `after` and an ISO 8601 duration"),
        ("@on fire\nGET /a\n", "line 1: `on fire` is none of after, times, unavailable"),
    ],
)
def test_what_is_no_request_is_told(text: str, words: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read_exchanges(text)
    assert words in str(raised.value)


def test_names_stand_for_what_came() -> None:
    known: Known = {}
    (exchange,) = read_exchanges('GET /a\n\nHTTP 200\nETag: {{tag}}\n\n{"id": "{{id}}", "rest": "{{*}}"}\n')
    assert exchange.expected is not None
    learn(exchange.expected, {"etag": '"1"'}, '{"id": 7, "rest": [1]}', known)
    assert known == {"tag": '"1"', "id": 7}
    assert filled("/a/{{id}}", known) == "/a/7"


def test_a_token_is_asked_for_by_its_scheme_and_claims() -> None:
    def token(scheme: str, claims: object) -> str:
        return f"{scheme} {claims}"

    assert filled('{{staff role=billing level=3 all=["a"]}}', {}, token) == (
        "staff {'role': 'billing', 'level': 3, 'all': ['a']}"
    )
    with pytest.raises(Unreadable):
        filled("{{nobody}}", {})


def test_letters_and_arrays_may_be_long() -> None:
    assert filled("{{letters 3}} {{nested 2}}", {}) == "aaa [[]]"


def test_a_reason_names_facts_by_a_pattern() -> None:
    assert excuses("# not exercised: 8 rates > *: nobody is that fast\n# a comment\n") == (
        Excuse("8 rates > *", "nobody is that fast"),
    )
