"""Which requests change their endpoint, beside what the router of the server says of each."""

from __future__ import annotations

from itertools import combinations, product

from ninefold.diff.paths import NOT_THERE, REFUSED, behind, elsewhere
from ninefold.plan.routes import Blocked, PathParameter, Segment
from ninefold.runtime.request.routes import Found, NotAllowed, Routes
from ninefold.values import Integer, Text

ID = PathParameter("id", Text(), None)
RETRY = PathParameter("id", Text(), None, after="retry")
FAST = PathParameter("id", Text(), None, after="fast:retry")

PATHS: dict[str, tuple[Segment, ...]] = {
    "/{id}": (ID,),
    "/new": ("new",),
    "/{id}:retry": (RETRY,),
    "/{id}:fast:retry": (FAST,),
    "/new:retry": ("new:retry",),
    "/{id}/{id}": (ID, ID),
    "/new/{id}": ("new", ID),
    "/{id}/new": (ID, "new"),
    "/{id}:retry/{id}": (RETRY, ID),
}
ROUTES = [
    Blocked(key=f"{method} {path}", method=method, segments=segments, reasons=())
    for path, segments in PATHS.items()
    for method in ("GET", "POST")
]
TEXTS = ("new", "a", "a:retry", "new:retry", "a:fast:retry", "new:fast:retry", "a%3Aretry")
ASKED = [f"/{one}" for one in TEXTS] + [f"/{one}/{other}" for one, other in product(TEXTS, TEXTS)]


def answered(of: tuple[Blocked, ...]) -> list[str | None]:
    """What answers each request; None: nothing is there."""
    routes = Routes((each.method, each.segments, each) for each in of)
    found = (routes.at(method, path) for path in ASKED for method in ("GET", "POST"))
    return [
        each.endpoint.key if isinstance(each, Found) else REFUSED if isinstance(each, NotAllowed) else None
        for each in found
    ]


def test_requests_that_others_answer_are_those_of_the_endpoints_that_are_told() -> None:
    sets = [each for number in (1, 2) for each in combinations(ROUTES, number)]
    by_set = {each: answered(each) for each in sets}
    for old in sets:
        for one in ROUTES:
            new = tuple(each for each in old if each != one) if one in old else (*old, one)
            was, now = by_set[old], by_set.get(new) or answered(new)
            moved = {
                (x, y) for x, y in zip(was, now, strict=True) if x not in (None, REFUSED) and y is not None and x != y
            }
            told = {(key, other) for key, others in elsewhere(old, new).items() for other in others}
            assert told == moved, (old, one)


def test_requests_that_a_version_takes_are_those_of_the_endpoints_that_are_told() -> None:
    """Whatever the version has behind its name, beside what routers say of each path with and without it."""
    for old in (each for number in (1, 2) for each in combinations(ROUTES, number)):
        was = Routes((each.method, each.segments, each) for each in old)
        for later in ((), (ROUTES[0],), (ROUTES[2], ROUTES[5])):
            now = Routes((each.method, each.segments, each) for each in later)
            moved = set()
            for method, rest in product(("GET", "POST"), ("", *(f"/{text}" for text in TEXTS))):
                first, then = was.at(method, f"/new{rest}"), now.at(method, rest or "/")
                if isinstance(first, Found):
                    by = then.endpoint.key if isinstance(then, Found) else NOT_THERE
                    moved.add((first.endpoint.key, REFUSED if isinstance(then, NotAllowed) else by))
            told = {(key, other) for key, others in behind(old, {"new": later}, 0).items() for other in others}
            assert {key for key, _ in told} == {key for key, _ in moved} and told <= moved, (old, later)


def test_a_name_that_is_called_otherwise_is_no_other_path() -> None:
    other = Blocked(key="GET /{job}", method="GET", segments=(PathParameter("job", Text(), None),), reasons=())
    assert elsewhere((ROUTES[0],), (other,)) == {}


def test_what_no_row_is_called_was_not_answered() -> None:
    """That of a column's own schema is among the pairs of orders (`pairs.yaml`)."""
    number = Blocked(key="GET /{no}", method="GET", segments=(PathParameter("no", Integer(), None),), reasons=())
    twelve = Blocked(key="GET /12", method="GET", segments=("12",), reasons=())
    for other in ROUTES:
        assert elsewhere((number,), (number, other)) == {}
    assert elsewhere((number,), (number, twelve)) == {number.key: (twelve.key,)}
