"""A client of an older version, written against the contract when it was the newest, works unchanged: whatever it asks,
the version that is derived answers as the older contract did when it stood alone."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from tests.http_cases import serving
from tests.postgresql import server
from tests.slices import some

from ninefold.diagnostics.render import render
from ninefold.pipeline import compile_document
from ninefold.plan.service import ServicePlan

PAIRS = Path(__file__).parent / "pairs"

OF_THE_VERSION = frozenset({"date", "vary", "deprecation", "sunset", "link", "etag", "content-length"})
"""Headers that a version has besides, and those that tell apart what two contracts show."""

Request = tuple[str, str, Any]

TITLES = ("A", "Emma", "Persuasion", "", "x" * 90, None, 3)
ISBNS = ("1", "22", "333", "x", "4444")


def of_shelves(random: Random) -> Request:
    """What a client of the shelf asks, rightly or wrongly."""
    isbn, title = random.choice(ISBNS), random.choice(TITLES)
    members = {
        "isbn": isbn,
        "name": title,
        "title": "not there",
        "author": random.choice(("ann", "bo", "nobody")),
        "cents": random.choice((0, 5, 1250, -1, "5", None)),
        "shelf": random.choice(("main", "hidden", "attic", "much too long")),
        "pages": 3,
    }
    body = {name: value for name, value in members.items() if random.random() < (0.05 if name in ODD else 0.8)}
    asked = random.choice(
        ("", "name=Emma", "state=lent", "state=here", "sort=-name", "sort=cents", "sort=title", "pages=1")
    )
    return random.choice(
        (
            ("PUT", f"/authors/{random.choice(('ann', 'bo'))}", {"name": random.choice(("Ann", "Bo", ""))}),
            ("POST", "/books", body),
            ("POST", "/books", body),
            (
                "PATCH",
                f"/books/{isbn}",
                {name: value for name, value in body.items() if name in ("name", "cents", "shelf")},
            ),
            ("GET", f"/books?{asked}", None),
            ("GET", f"/books/{isbn}", None),
            ("GET", f"/books/{isbn}/short", None),
            ("POST", f"/books/{isbn}/lend", None),
            ("POST", f"/books/{isbn}/lose", None),
            ("DELETE", f"/books/{isbn}", None),
            ("GET", "/stats", None),
        )
    )


ODD = frozenset({"title", "pages"})


def of_accounts(random: Random) -> Request:
    """What a client of the accounts asks: an API that had another path, amounts in units, and one name in two."""
    id, other = random.choice(("a", "b", "c")), random.choice(("a", "b", "z"))
    amount = random.choice((0, 1.5, 2.25, 10, -3, "1", None))
    body = {
        name: value
        for name, value in {
            "id": id,
            "owner": {"name": random.choice(("Ada", "Bob", "", None))},
            "balance": amount,
            "kind": random.choice(("normal", "savings", "trust", 1)),
            "gold": True,
        }.items()
        if random.random() < (0.05 if name == "gold" else 0.85)
    }
    return random.choice(
        (
            ("POST", "/account", body),
            ("GET", f"/account/{id}", None),
            ("GET", f"/accounts/{id}", None),
            ("GET", f"/account?kind={random.choice(('normal', 'savings', 'trust'))}", None),
            ("GET", f"/account?sort={random.choice(('balance', '-balance', 'cents'))}", None),
            ("PATCH", f"/account/{other}", {name: value for name, value in body.items() if name != "id"}),
            ("DELETE", f"/account/{other}", None),
        )
    )


def of_notes(random: Random) -> Request:
    """What a client of the notes asks: nested paths, references, and errors that had other names and statuses."""
    id, list_ = random.choice(("1", "2", "3")), random.choice(("home", "work", "none"))
    text = random.choice(("milk", "bread", "", "x" * 60, None, 7))
    body = {"id": id, "text": text, "done": random.choice((True, False, "yes")), "due": "2026-01-01"}
    given = {name: value for name, value in body.items() if random.random() < (0.05 if name == "due" else 0.85)}
    return random.choice(
        (
            ("POST", "/lists", {"slug": list_}),
            ("GET", "/lists", None),
            ("POST", f"/lists/{list_}/items", given),
            ("GET", f"/lists/{list_}/items", None),
            ("GET", f"/lists/{list_}/items/{id}", None),
            ("GET", f"/lists/{list_}/items?text={random.choice(('milk', 'bread'))}", None),
            ("PATCH", f"/lists/{list_}/items/{id}", {name: value for name, value in given.items() if name != "id"}),
            ("DELETE", f"/lists/{list_}", None),
        )
    )


@pytest.mark.serves
@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "asks", "named"),
    [
        ("shelf", of_shelves, {"Api-Version": "2"}),
        ("accounts", of_accounts, {"Accept": "application/json; v=1"}),
        ("notes", of_notes, {}),
    ],
)
@pytest.mark.parametrize(
    ("database", "seed"),
    [
        *(pytest.param("sqlite", seed, marks=pytest.mark.long) for seed in some(range(24), 24)),
        ("postgresql", 3),
        *(pytest.param("postgresql", seed, marks=pytest.mark.long) for seed in some(range(4, 28), 24)),
    ],
)
def test_an_older_client_works_unchanged(
    pair: str, asks: Any, named: dict[str, str], database: str, seed: int, tmp_path: Path
) -> None:
    random, found = Random(seed), set[int]()
    base = "/1" if pair == "notes" else ""

    def kept(name: str) -> Path | str:
        return tmp_path / f"{name}.db" if database == "sqlite" else server.database()

    with (
        serving(compiled(pair, "older", database), kept("older"), {}) as alone,
        serving(compiled(pair, "newer", database), kept("newer"), {}) as derived,
    ):
        for number in range(250):
            method, path, body = asks(random)
            expected = answer(
                alone.request(method, path, json=body) if body is not None else alone.request(method, path)
            )
            content = {} if body is None else {"json": body}
            came = answer(derived.request(method, base + path, headers=named, **content))
            assert came == expected, (number, method, path, body)
            found.add(expected[0])
    # What is asked is right often enough, and wrong in every way.
    assert {200, 201, 404, 422 if pair != "notes" else 400} <= found, found


def compiled(pair: str, name: str, database: str) -> ServicePlan:
    loaded = compile_document("contract.md", (PAIRS / pair / f"{name}.md").read_bytes())
    plan = loaded.plan_for(database)
    assert plan is not None, render(loaded.diagnostics, loaded.source)
    return plan


def answer(response: httpx.Response) -> tuple[int, dict[str, str], Any]:
    headers = {name: value for name, value in response.headers.items() if name not in OF_THE_VERSION}
    # A media type says its version where that is how versions are named.
    if "content-type" in headers:
        headers["content-type"] = headers["content-type"].partition(";")[0]
    return response.status_code, headers, response.json() if response.content else None
