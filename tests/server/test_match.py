from __future__ import annotations

import pytest

from ninefold.plan.routes import PathParameter
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
