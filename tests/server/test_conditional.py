from __future__ import annotations

import pytest

from ninefold.runtime.messages.conditional import EntityTag, entity_tags, of_row, unchanged


@pytest.mark.parametrize(
    ("field", "tags"),
    [
        ('"a"', (EntityTag("a"),)),
        ('W/"a"', (EntityTag("a", weak=True),)),
        ('"a", W/"b" ,"c"', (EntityTag("a"), EntityTag("b", weak=True), EntityTag("c"))),
        (', "a",,"b",', (EntityTag("a"), EntityTag("b"))),
        ('"a,b"', (EntityTag("a,b"),)),
        ('""', (EntityTag(""),)),
        ("*", "*"),
        (" * ", "*"),
        ("", None),
        ("a", None),
        ('"a', None),
        ('"a" "b"', None),
        ('w/"a"', None),
        ('*, "a"', None),
        ('"a b"', None),
    ],
)
def test_entity_tags(field: str, tags: object) -> None:
    assert entity_tags(field) == tags


@pytest.mark.parametrize(
    ("field", "expected"),
    [('"v1-x"', True), ('W/"v1-x"', True), ('"a", "v1-x"', True), ("*", True), ('"v1-y"', False), ("v1-x", False)],
)
def test_if_none_match_compares_weakly(field: str, expected: bool) -> None:
    assert unchanged(field, "v1-x") is expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ('"v1-x"', ["x"]),
        ('"v1-x", "v1-y"', ["x", "y"]),
        ('W/"v1-x"', []),
        ('"v2-x"', []),
        ("*", None),
        ("not a tag", []),
    ],
)
def test_if_match_compares_strongly(field: str, expected: list[str] | None) -> None:
    assert of_row({"if-match": field}, "v1-") == {"there": True} | ({} if expected is None else {"match": expected})


@pytest.mark.parametrize(
    ("headers", "prefix", "expected"),
    [
        ({}, "v1-", {}),
        ({"if-none-match": '"v1-x", W/"v1-y.z", "v2-x"'}, "v1-", {"others": ["x", "y"]}),
        ({"if-none-match": "*"}, "v1-", {"match": []}),
        ({"if-none-match": "not a tag"}, "v1-", {"others": []}),
        ({"if-none-match": '"v1-x"'}, "", {"others": []}),
        ({"if-match": '"x"'}, "", {"there": True, "match": []}),
        ({"if-match": "*", "if-none-match": '"v1-x"'}, "v1-", {"there": True, "others": ["x"]}),
        ({"if-match": '"v1-x"', "if-none-match": "*"}, "v1-", {"there": True, "match": []}),
    ],
)
def test_what_a_write_asks_of_its_row(headers: dict[str, str], prefix: str, expected: object) -> None:
    """`If-None-Match` compares weakly, and with `*` no revision of a row will do; a row without tags has no prefix."""
    assert of_row(headers, prefix) == expected
