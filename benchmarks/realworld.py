"""How many lists of 20 articles a second `examples/conduit.md` answers, each with author, following, favorited,
favoritesCount and tags: one statement, and one for the total.

    python benchmarks/realworld.py        needs wrk (https://github.com/wg/wrk) on the PATH

1,000 articles of 20 people, who follow each other and have 10,000 favourites between them, on a new SQLite file. See
`throughput.py` for how the service and wrk are run, and what the figures are worth.
"""

from __future__ import annotations

import itertools
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from throughput import CONNECTIONS, ROUNDS, SECONDS, measured, on_core, post, started

EXAMPLE = Path(__file__).parent.parent / "examples" / "conduit.md"
PEOPLE, ARTICLES, FAVORITES = 20, 1_000, 10_000

ARTICLE = (
    'INSERT INTO article ("$revision", id, slug, title, description, body, tagList, author, createdAt, updatedAt)'
    " VALUES (?, ?, ?, ?, 'about', 'text', ?, ?, ?, ?)"
)
FAVORITE = 'INSERT INTO favorite ("$revision", "user", article) VALUES (?, ?, ?)'
FOLLOW = 'INSERT INTO follow ("$revision", follower, followed) VALUES (?, ?, ?)'


def rows() -> Iterator[tuple[str, tuple[object, ...]]]:
    """What is there besides the people, in SQL: a million requests to make it would measure something else."""
    chance = random.Random(1)
    for number in range(1, ARTICLES + 1):
        when = f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000000Z"
        author, tags = number % PEOPLE + 1, '["a","b","c"]'
        yield ARTICLE, (f"r{number}", number, f"article-{number}", f"Article {number}", tags, author, when, when)
    pairs = list(itertools.product(range(1, PEOPLE + 1), range(1, ARTICLES + 1)))
    for user, article in chance.sample(pairs, FAVORITES):
        yield FAVORITE, (f"{user}.{article}", user, article)
    for one, other in itertools.product(range(1, PEOPLE + 1), repeat=2):
        if (one + other) % 2:
            yield FOLLOW, (f"{one}.{other}", one, other)


def main() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed")
    with tempfile.TemporaryDirectory() as folder:
        database, log = Path(folder, "b.db"), Path(folder, "log")
        command = [*on_core(0), sys.executable, "-m", "ninefold", "serve", str(EXAMPLE), "--database", str(database)]
        command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0"]
        service = subprocess.Popen(command, stdout=log.open("w"), stderr=subprocess.STDOUT)
        try:
            base = started(log) + "/api"
            people: list[Any] = []
            for number in range(PEOPLE):
                person = {"username": f"p{number}", "email": f"p{number}@example.com", "password": "correct horse"}
                people.append(post(f"{base}/users", {"user": person}, {})["user"])
            with sqlite3.connect(database) as connection:
                for text, values in rows():
                    connection.execute(text, values)
            token = {"Authorization": f"Token {people[0]['token']}"}
            subjects: dict[str, tuple[str, dict[str, str]]] = {
                "list 20, anyone": (f"{base}/articles", {}),
                "list 20, a caller": (f"{base}/articles", token),
                "feed of 20": (f"{base}/articles/feed", token),
                "one article": (f"{base}/articles/article-500", token),
            }
            figures: dict[str, list[float]] = {name: [] for name in subjects}
            for _ in range(ROUNDS):
                for name, (address, headers) in subjects.items():
                    figures[name].append(measured(address, headers, None))
            print(f"requests/s, median of {ROUNDS} rounds of {SECONDS} s, {CONNECTIONS} connections")
            for name, rates in figures.items():
                spread = f"{min(rates):,.0f} to {max(rates):,.0f}"
                print(f"  {name:<18} {statistics.median(rates):>8,.0f}   ({spread})")
        finally:
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main()
