from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.slices import examples

from ninefold.plan.routes import PathParameter, Segment
from ninefold.runtime.request.paths import canonical
from ninefold.runtime.request.routes import NO_SUCH_PATH, Found, NotAllowed, Routes
from ninefold.values import Text

ID, SLUG = PathParameter("id", Text(), "note"), PathParameter("slug", Text(), "note")

ROUTES = Routes(
    [
        ("GET", ("notes",), "list"),
        ("POST", ("notes",), "create"),
        ("GET", ("notes", ID), "read"),
        ("DELETE", ("notes", ID), "delete"),
        ("GET", ("notes", "newest"), "newest"),
        ("GET", ("notes", ID, "lines"), "lines"),
        ("GET", ("notes", "all", SLUG), "all of"),
        ("GET", (ID, "all", SLUG), "odd"),
        ("GET", ("straße", "a/b"), "literal"),
        ("GET", (), "root"),
    ]
)


@pytest.mark.parametrize(
    ("method", "path", "found", "values"),
    [
        ("GET", b"/notes", "list", ()),
        ("HEAD", b"/notes", "list", ()),
        ("POST", b"/notes", "create", ()),
        ("GET", b"/notes/1", "read", ("1",)),
        ("GET", b"/notes/newest", "newest", ()),
        ("GET", b"/notes/1/lines", "lines", ("1",)),
        ("GET", b"/notes/all/lines", "all of", ("lines",)),
        ("GET", b"/x/all/y", "odd", ("x", "y")),
        ("GET", b"/%6Eotes", "list", ()),
        ("GET", b"/notes/a%2Fb", "read", ("a/b",)),
        ("GET", b"/notes/a%2fb", "read", ("a/b",)),
        ("GET", b"/notes/a%252Fb", "read", ("a%2Fb",)),
        ("GET", b"/notes/100%25", "read", ("100%",)),
        ("GET", b"/notes/%F0%9F%8D%B0", "read", ("🍰",)),
        ("GET", b"/notes/a+b", "read", ("a+b",)),
        ("GET", b"/notes/a%0Ab", "read", ("a\nb",)),
        ("GET", b"/stra%C3%9Fe/a%2Fb", "literal", ()),
        ("GET", b"/", "root", ()),
    ],
)
def test_a_path_leads_to_its_route(method: str, path: bytes, found: str, values: tuple[str, ...]) -> None:
    assert ROUTES.find(method, path) == Found(found, values)


@pytest.mark.parametrize(
    "path",
    [
        b"/note",
        b"/notes/",
        b"/notes//",
        b"//notes",
        b"/notes/1/",
        b"/notes/%",
        b"/notes/%zz",
        b"/notes/%FF",
        b"/notes/\xff",
        b"",
    ],
)
def test_a_path_that_is_no_route(path: bytes) -> None:
    assert ROUTES.find("GET", path) == NO_SUCH_PATH


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", b"/notes", b"GET, HEAD, OPTIONS, POST"),
        ("OPTIONS", b"/notes/1", b"DELETE, GET, HEAD, OPTIONS"),
        ("POST", b"/notes/newest", b"GET, HEAD, OPTIONS"),
        ("DELETE", b"/notes/newest", b"GET, HEAD, OPTIONS"),
        ("BREW", b"/notes/1/lines", b"GET, HEAD, OPTIONS"),
    ],
)
def test_a_path_with_other_methods_says_which(method: str, path: bytes, allow: bytes) -> None:
    assert ROUTES.find(method, path) == NotAllowed(allow)


def test_without_get_there_is_no_head() -> None:
    assert Routes([("POST", ("a",), 1)]).find("HEAD", b"/a") == NotAllowed(b"OPTIONS, POST")


def test_the_canonical_form_of_a_path_does_not_change_again() -> None:
    once = canonical(b"/a%2Fb/%25/%41")
    assert once == "/a%2Fb/%25/A"
    assert canonical(once.encode()) == once


TEXTS = ("a", "b", "a.b", "a%2Fb", "%61", "a:go", "%3Ago", "ä", "")
"""Segments as they are sent, the first three of which are plain."""

SEGMENTS = st.sampled_from([ID, PathParameter("id", Text(), "note", after="go"), "a", "b", "a.b", "ä", "a/b"])
SHAPES = st.lists(st.lists(SEGMENTS, max_size=3).map(tuple), min_size=1, max_size=6, unique=True)


@settings(max_examples=examples(200))
@given(SHAPES)
@example([("a", ID), ("a", "b")])
@example([(ID, "a"), ("a", ID)])
@example([("a", ID, ID), ("a", "a.b", ID), (ID, "a", "b")])
@example([()])
def test_a_path_that_is_plainly_an_endpoint_s_is_its_own(shapes: list[tuple[Segment, ...]]) -> None:
    """What is told of a path without looking at the other endpoints is what is found when they are looked at."""
    endpoints = [f"{method} {number}" for number in range(len(shapes)) for method in ("GET", "PUT")]
    routes = Routes((each.split()[0], shapes[int(each.split()[1])], each) for each in endpoints)
    paths = ["/" + "/".join(each) for many in range(4) for each in product(TEXTS, repeat=many)]
    for endpoint in endpoints:
        plain = routes.plain(endpoint)
        for path in paths if plain else ():
            assert plain is not None
            told = plain.fullmatch(path.encode().decode("latin-1"))
            if told is not None:
                method = endpoint.split()[0]
                assert routes.find(method, path.encode()) == Found(endpoint, told.groups()), (path, shapes)


@pytest.mark.parametrize(
    ("endpoint", "path", "is_told"),
    [
        ("list", "/notes", True),
        ("read", "/notes/1", True),
        ("delete", "/notes/0b8f-4.~_", True),
        ("read", "/notes/newest", False),
        ("read", "/notes/newest-of-all", True),
        ("read", "/notes/a%2Fb", False),
        ("lines", "/notes/1/lines", True),
        ("lines", "/notes/all/lines", False),
        ("all of", "/notes/all/x", True),
        ("root", "/", True),
    ],
)
def test_most_paths_are_plainly_an_endpoint_s(endpoint: str, path: str, is_told: bool) -> None:
    plain = ROUTES.plain(endpoint)
    assert plain is not None
    assert (plain.fullmatch(path) is not None) == is_told


def test_an_endpoint_whose_path_is_not_plain_is_looked_for() -> None:
    assert ROUTES.plain("literal") is None
