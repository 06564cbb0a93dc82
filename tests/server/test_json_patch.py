"""JSON Patch: the examples of RFC 6902, appendix A, and what must not be possible."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import examples

from ninefold.plan.json_patch import SCHEMA
from ninefold.runtime.messages.json_text import DEEPEST
from ninefold.runtime.messages.patches import CannotBeDone, same
from ninefold.runtime.messages.patches import edited as edited_within

MOST = 10_000
PATCH = jsonschema_rs.Draft202012Validator(SCHEMA)


def edited(document: Any, patch: list[dict[str, Any]]) -> Any:
    return edited_within(document, patch, MOST)[0]


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


DONE: list[tuple[str, Any, list[dict[str, Any]], Any]] = [
    ("A.1", {"foo": "bar"}, [add("/baz", "qux")], {"baz": "qux", "foo": "bar"}),
    ("A.2", {"foo": ["bar", "baz"]}, [add("/foo/1", "qux")], {"foo": ["bar", "qux", "baz"]}),
    ("A.3", {"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
    ("A.4", {"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}),
    (
        "A.5",
        {"baz": "qux", "foo": "bar"},
        [{"op": "replace", "path": "/baz", "value": "boo"}],
        {"baz": "boo", "foo": "bar"},
    ),
    (
        "A.6",
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    (
        "A.7",
        {"foo": ["all", "grass", "cows", "eat"]},
        [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    (
        "A.8",
        {"baz": "qux", "foo": ["a", 2, "c"]},
        [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
        {"baz": "qux", "foo": ["a", 2, "c"]},
    ),
    ("A.10", {"foo": "bar"}, [add("/child", {"grandchild": {}})], {"foo": "bar", "child": {"grandchild": {}}}),
    (
        "A.11",
        {"foo": "bar"},
        [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}],
        {"foo": "bar", "baz": "qux"},
    ),
    ("A.14", {"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
    ("A.16", {"foo": ["bar"]}, [add("/foo/-", ["abc", "def"])], {"foo": ["bar", ["abc", "def"]]}),
    ("the whole document", {"foo": 1}, [add("", [1]), add("/0", 2)], [2, 1]),
    ("an empty name", {"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
    ("to itself", {"foo": 1}, [{"op": "move", "from": "/foo", "path": "/foo"}], {"foo": 1}),
]


@pytest.mark.parametrize(("document", "patch", "expected"), [each[1:] for each in DONE], ids=[each[0] for each in DONE])
def test_it_is_done(document: Any, patch: list[dict[str, Any]], expected: Any) -> None:
    assert PATCH.is_valid(patch)
    before = repr((document, patch))
    assert same(edited(document, patch), expected)
    assert repr((document, patch)) == before


REFUSED: list[tuple[str, Any, dict[str, Any], tuple[str, str]]] = [
    ("A.9", {"baz": "qux"}, {"op": "test", "path": "/baz", "value": "bar"}, ("value", "test")),
    ("A.12", {"foo": "bar"}, add("/baz/bat", "qux"), ("path", "there")),
    ("A.15", {"/": 9, "~1": 10}, {"op": "test", "path": "/~01", "value": "10"}, ("value", "test")),
    ("beyond an array", {"foo": [1]}, add("/foo/2", 1), ("path", "there")),
    ("a leading zero", {"foo": [1, 2]}, {"op": "remove", "path": "/foo/01"}, ("path", "there")),
    ("behind the end", {"foo": [1]}, {"op": "remove", "path": "/foo/-"}, ("path", "there")),
    ("inside text", {"foo": "bar"}, {"op": "remove", "path": "/foo/0"}, ("path", "there")),
    ("from nowhere", {}, {"op": "copy", "from": "/foo", "path": "/bar"}, ("from", "there")),
    ("all of it", {"foo": 1}, {"op": "remove", "path": ""}, ("path", "whole")),
    ("into itself", {"foo": {}}, {"op": "move", "from": "/foo", "path": "/foo/bar"}, ("path", "inside")),
    ("a truth value is no number", {"foo": 1}, {"op": "test", "path": "/foo", "value": True}, ("value", "test")),
    ("no value is no null", {}, {"op": "test", "path": "/foo", "value": None}, ("path", "there")),
]


@pytest.mark.parametrize(("document", "edit", "why"), [each[1:] for each in REFUSED], ids=[each[0] for each in REFUSED])
def test_it_cannot_be_done(document: Any, edit: dict[str, Any], why: tuple[str, str]) -> None:
    with pytest.raises(CannotBeDone) as refused:
        edited(document, [{"op": "test", "path": "", "value": document}, edit])
    assert (refused.value.index, refused.value.member, refused.value.rule) == (1, *why)


def test_copies_of_copies_have_an_end() -> None:
    patch = [{"op": "copy", "from": "", "path": f"/{number}"} for number in range(100)]
    with pytest.raises(CannotBeDone) as refused:
        edited({"foo": 1}, patch)
    assert refused.value.rule == "most"
    assert 2**refused.value.index < MOST


@pytest.mark.parametrize(
    "edit",
    [
        lambda path: {"op": "add", "path": path + "/a", "value": {"a": 1}},
        lambda path: {"op": "replace", "path": path, "value": {"a": {"a": 1}}},
        lambda path: {"op": "copy", "from": "/small", "path": path + "/a"},
        lambda path: {"op": "move", "from": "/small", "path": path + "/a"},
    ],
    ids=["add", "replace", "copy", "move"],
)
def test_no_edit_leaves_a_document_that_is_deeper_than_a_body_may_be(edit: Any) -> None:
    def patch(levels: int) -> list[dict[str, Any]]:
        return [add("/a" * level, {}) for level in range(1, levels + 1)] + [edit("/a" * levels)]

    def levels(value: Any) -> int:
        return 1 + max(map(levels, value.values()), default=0) if isinstance(value, dict) else 0

    deepest = {"replace": DEEPEST - 2}.get(edit("")["op"], DEEPEST - 2)
    assert levels(edited({"small": {"a": 1}}, patch(deepest))) == DEEPEST
    with pytest.raises(CannotBeDone) as refused:
        edited({"small": {"a": 1}}, patch(deepest + 1))
    assert (refused.value.index, refused.value.rule) == (deepest + 1, "most")


def test_what_is_moved_again_and_again_to_the_end_has_an_end() -> None:
    patch = [{"op": "remove", "path": "/0"}, add("/0", 1)] * 1000
    with pytest.raises(CannotBeDone) as refused:
        edited([0] * 200_000, patch)
    assert refused.value.rule == "most"


def test_a_text_counts_by_its_length_when_it_is_copied() -> None:
    with pytest.raises(CannotBeDone):
        edited({"a": "a" * (MOST // 2)}, [{"op": "copy", "from": "/a", "path": f"/{each}"} for each in range(3)])


def test_what_was_copied_changes_alone() -> None:
    patch = [
        add("/a/b/0", 0),
        {"op": "copy", "from": "/a", "path": "/c"},
        add("/a/b/-", 3),
        {"op": "move", "from": "/c", "path": "/d"},
        add("/d/b/-", 4),
    ]
    assert edited({"a": {"b": [1, 2]}}, patch) == {"a": {"b": [0, 1, 2, 3]}, "d": {"b": [0, 1, 2, 4]}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "/", "~"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["", "a", "b", "0", "~/"]), inner, max_size=3)
    ),
    max_leaves=8,
)
POINTERS = st.lists(st.sampled_from(["", "a", "b", "0", "1", "-", "~0~1", "01"]), max_size=3).map(
    lambda tokens: "".join("/" + token for token in tokens)
)
EDITS = st.builds(
    lambda op, path, origin, value: {"op": op, "path": path, "from": origin, "value": value},
    st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
    POINTERS,
    POINTERS,
    JSON,
)


@settings(max_examples=examples(500))
@given(JSON, st.lists(EDITS, max_size=3))
def test_whatever_is_asked_it_is_done_or_refused(document: Any, patch: list[dict[str, Any]]) -> None:
    """And what came is not changed by it."""
    assert PATCH.is_valid(patch)
    before = repr(document)
    try:
        edited(document, patch)
    except CannotBeDone as refused:
        assert 0 <= refused.index < len(patch)
    assert repr(document) == before
