"""examples/conduit.md: the list of articles, which other back ends are slow at, is one statement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.http_cases import serving

from ninefold.cli.plan import listing
from ninefold.pipeline import load
from ninefold.plan.operations import List
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.writes import Ensure, Remove
from ninefold.runtime.store.sqlite import SQLite

EXAMPLE = Path(__file__).parents[2] / "examples" / "conduit.md"


@pytest.fixture(scope="module")
def plan() -> ServicePlan:
    found = load(str(EXAMPLE)).plan
    assert found is not None
    return found


def route(plan: ServicePlan, key: str) -> Served:
    found = next(each for each in plan.routes if each.key == key)
    assert isinstance(found, Served)
    return found


@pytest.mark.parametrize("key", ["GET /articles", "GET /articles/feed"])
def test_a_page_of_articles_is_one_statement_and_its_total_another(plan: ServicePlan, key: str) -> None:
    for admission in route(plan, key).admissions:
        operation = admission.operation
        assert isinstance(operation, List)
        text = "".join(piece.text for piece in operation.select.pieces)
        for shown in ('"user"', '"favorite"', '"follow"', '"tagList"', "count(*)"):
            assert shown in text
        assert operation.count is not None
        assert listing(plan).count(text.partition(" WHERE ")[0]) >= 1


def signed_up(client: httpx.Client, name: str) -> dict[str, str]:
    person = {"username": name, "email": f"{name}@example.com", "password": "correct horse"}
    answer = client.post("/api/users", json={"user": person})
    assert answer.status_code == 201, answer.text
    return {"Authorization": f"Token {answer.json()['user']['token']}"}


@pytest.mark.serves
def test_twenty_articles_with_all_that_is_shown_of_them_are_read_at_once(
    plan: ServicePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Author, following, favorited, favoritesCount and tags: no query for each article."""
    with serving(plan, tmp_path / "service.db", {}) as client:
        readers = [signed_up(client, f"reader{number}") for number in range(3)]
        for number in range(25):
            writer = readers[number % 2]
            article = {"title": f"No. {number}", "description": "d", "body": "b", "tagList": ["b", "a"]}
            slug = client.post("/api/articles", json={"article": article}, headers=writer).json()["article"]["slug"]
            for reader in readers[: number % 3]:
                assert client.post(f"/api/articles/{slug}/favorite", headers=reader).status_code == 200
        assert client.post("/api/profiles/reader1/follow", headers=readers[2]).status_code == 200

        ran: list[str] = []
        select = SQLite.select

        def recorded(database: SQLite, text: str, binds: Any) -> Any:
            ran.append(text)
            return select(database, text, binds)

        monkeypatch.setattr(SQLite, "select", recorded)
        answer = client.get("/api/articles", headers=readers[2]).json()
        anonymous = client.get("/api/articles?author=reader1&limit=5").json()

    assert (len(answer["articles"]), answer["articlesCount"]) == (20, 25)
    newest = answer["articles"][0]
    assert (newest["title"], newest["tagList"], newest["favoritesCount"]) == ("No. 24", ["a", "b"], 0)
    assert [each["author"]["following"] for each in answer["articles"][:2]] == [False, True]
    assert (len(anonymous["articles"]), anonymous["articlesCount"]) == (5, 12)
    # The caller, the page, the total; then, without a credential, the page and the total.
    assert len(ran) == 5


def test_favorites_and_follows_are_there_or_not_by_one_statement(plan: ServicePlan) -> None:
    """What is created is one INSERT; what is read back afterwards shows more than the row itself."""
    for key, kind in (
        ("POST /articles/{article.slug}/favorite", Ensure),
        ("DELETE /articles/{article.slug}/favorite", Remove),
    ):
        for admission in route(plan, key).admissions:
            operation = admission.operation
            assert isinstance(operation, kind)
            assert len(operation.statement.pieces) == 1
