from __future__ import annotations

import pytest

from ninefold.runtime.messages.media_types import accepts, sent

JSON = "application/json"


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", True),
        ("*/*", True),
        ("application/json", True),
        ("APPLICATION/JSON", True),
        ("application/*", True),
        ("application/json; charset=utf-8", True),
        ("text/html, application/json;q=0.1", True),
        ("text/html,*/*;q=0.8", True),
        ("text/html", False),
        ("text/*", False),
        ("application/json;q=0", False),
        ("application/json;q=0.000, */*", False),
        ("*/*;q=0", False),
        ("*/*;q=0, application/json", True),
        ("application/*;q=0, */*", False),
        ("application/json;version=2", False),
        ("application/problem+json", False),
        ("nonsense", True),
        (",, ,text/html,\t, application/json ,,", True),
        (",,text/html,,text/css, ,", False),
        (",,,,", True),
        ("nonsense, text/html", False),
        ('text/html;title="a,application/json"', False),
        ("application/json;q=2", True),
        ("application/json ; q=0.5 ;", True),
        (",,application/json,", True),
        ("*", True),
    ],
)
def test_accept(accept: str, expected: bool) -> None:
    assert accepts(accept, JSON) is expected


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("application/json", (JSON, None)),
        ("Application/JSON;Charset=UTF-8", (JSON, "utf-8")),
        ('application/json; charset="utf-8"', (JSON, "utf-8")),
        ("application/json;", (JSON, None)),
        ("text/plain; charset=latin1", ("text/plain", "latin1")),
        ("", None),
        ("json", None),
        ("application/json, text/plain", None),
        ("application/json; charset", None),
    ],
)
def test_content_type(content_type: str, expected: tuple[str, str | None] | None) -> None:
    assert sent(content_type) == expected
