"""Whatever a body may show as one text, a header may; what a header cannot is said before the start."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document
from ninefold.runtime.http.chunks import TOKEN
from ninefold.runtime.http.cycle import begun_head, response_head, status_line
from ninefold.runtime.http.framing import fields_are_sound
from ninefold.tools.propose.responses import STATUSES, Status

pytestmark = pytest.mark.serves

OF_ROWS = (
    "w.n", "w.n + '!'", "string(w.id)", "string(w.twice)", "w.other.n", "string(w.others.size())",
    "string(all(w).size())", "string(now)", "request.query.q", "has(request.query.q) ? 'yes' : 'no'", "operator.base",
    "string(w.others.exists(o, o.n == 'a'))", "w.others.size() > 0 ? w.n : 'none'", "called",
)  # fmt: skip
OF_PAGES = (
    "string(page.items.size())", "string(page.total)", "request.query.q", "string(now)", "string(all(w).size())",
    "page.total > 1 ? 'many' : 'few'",
)  # fmt: skip
NOT_OF_PAGES = ("page.items.map(i, i.n).join(',')", "has(page.items) ? 'a' : 'b'")


def _contract(of_rows: tuple[str, ...], of_pages: tuple[str, ...]) -> str:
    def shown(expressions: tuple[str, ...]) -> str:
        body = ", ".join(f'x{number}: "{each}"' for number, each in enumerate(expressions))
        headers = ", ".join(f'X-{number}: "{each}"' for number, each in enumerate(expressions))
        return f"query: {{q: {{type: string}}}}, responses: {{200: {{{body}}}}}, headers: {{{headers}}}"

    return f"""# Headers

## 1. What the service does

Shows the same in bodies and in headers.

## 2. Resources and their fields

```yaml
terms: {{called: "'a term'"}}
w:
  primary key: id
  fields:
    id:    {{type: integer, on create: serial()}}
    n:     {{type: string}}
    other: {{references: w, inverse: others, on delete: set null}}
    twice: {{type: integer, computed: w.id * 2}}
  required: [n]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {{media type: application/json, unknown members: refused, unknown parameters: refused}}
produces: application/json
POST /w: {{does: create w, body: [n, other], responses: {{201: w}}}}
GET /w/{{id}}: {{does: read w, {shown(of_rows)}}}
PATCH /w/{{id}}: {{does: update w, patch: merge, body: [n], {shown(of_rows)}}}
GET /w: {{does: list w, sort: [id], pages: {{by: none}}, {shown(of_pages)}}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {{all others: anyone}}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {{media type: application/problem+json, body: {{code: error.code}}}}
codes:
  wrong:   {{status: 422, title: Wrong, for: invalid}}
  nowhere: {{status: 404, title: Nowhere, for: not found}}
```

{LIMITS_AND_VERSIONS}"""


def test_headers_show_what_bodies_show(tmp_path: Path) -> None:

    plan = plan_of(_contract(OF_ROWS, OF_PAGES))
    with serving(plan, tmp_path / "db", {"base": "https://example.test"}) as service:
        service.post("/w", json={"n": "a", "other": 1})
        assert service.post("/w", json={"n": "a"}).status_code == 201
        assert service.post("/w", json={"n": "a", "other": 1}).status_code == 201
        assert service.patch("/w/1?q=so", json={"n": "b"}).status_code == 200
        for answer in (service.get("/w/2?q=so"), service.get("/w/2"), service.get("/w?q=so"), service.get("/w")):
            assert answer.status_code == 200, answer.text
            body = answer.json()
            assert body
            for name, value in body.items():
                assert answer.headers.get(f"X-{name.removeprefix('x')}") == value, (name, answer.headers)
            shown = {f"x{name[2:]}" for name in answer.headers if name.lower().startswith("x-")}
            assert shown == body.keys()


FIELD_VALUES = {
    "a b": "a b", "a\tb": "a\tb", "é": "%C3%A9", "%C3%A9": "%C3%A9", "": "", "a\u2028": "a%E2%80%A8",
    "a\nb": None, "\x1b": None, " a": None, "a\t": None, "\x7f": None,
}  # fmt: skip
"""What a text is as the value of a header; None: it is none."""


@pytest.mark.parametrize("text", FIELD_VALUES)
def test_what_is_no_field_value_is_left_out_of_good_responses_as_of_errors(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    plan = plan_of(_contract(("w.n",), ("string(page.total)",)))
    with serving(plan, tmp_path / "db", {"base": "https://example.test"}) as service:
        assert service.post("/w", json={"n": text}).status_code == 201
        answer = service.get("/w/1")
    assert answer.json() == {"x0": text}
    assert answer.headers.get("X-0") == FIELD_VALUES[text]
    told = "the header X-0 of an answer 200 is left out: its value is no field value" in caplog.text
    assert told == (FIELD_VALUES[text] is None)


@pytest.mark.parametrize("expression", NOT_OF_PAGES)
def test_what_a_header_cannot_show_is_said(expression: str) -> None:
    loaded = compile_document("contract.md", _contract(("w.n",), (expression,)).encode())
    assert loaded.plan is None
    assert len([each for each in loaded.diagnostics if each.code.id == "NF0511"]) == 2  # in the body and in the header


@pytest.mark.parametrize("value", [b"a\r\nset-cookie: b=c", b"a\r\n", b"\r\nb: c", b"a\nb: c", b"a\rb"])
def test_no_value_ends_its_line(value: bytes) -> None:
    for fields in (((b"x-a", value),), ((b"x-a", value), (b"x-b", b"b")), ((b"x-b", b"b"), (b"x-a", value))):
        with pytest.raises(ValueError, match="a header of the response is none"):
            begun_head(200, b"", fields)
        with pytest.raises(ValueError, match="a header of the response is none"):
            response_head("GET", "1.1", 200, fields, keeps=True)


PIECES = st.lists(
    st.sampled_from([b"x-a", b"b", b"\xe4", b"~", b" ", b"\t", b":", b"\r\n", b"\r", b"\n", b"\0", b"\x1f", b"\x7f"]),
    max_size=4,
).map(b"".join)


@given(st.lists(st.tuples(PIECES, PIECES), max_size=3))
def test_what_is_no_field_is_told_of_names_and_of_values_alike(fields: list[tuple[bytes, bytes]]) -> None:
    block = b"".join(b"%b: %b\r\n" % each for each in fields)
    if all(re.fullmatch(TOKEN, name) and re.fullmatch(rb"[\t -~\x80-\xff]*", value) for name, value in fields):
        assert fields_are_sound(block)
        assert begun_head(200, b"", tuple(fields)) == b"HTTP/1.1 200 OK\r\n" + block
    else:
        with pytest.raises(ValueError, match="a header of the response is none"):
            begun_head(200, b"", tuple(fields))


@pytest.mark.parametrize("status", STATUSES.values())
def test_a_phrase_is_the_one_that_is_proposed_as_a_title(status: Status) -> None:
    """Python has had other phrases for some of them, until RFC 9110 came, and has them still before 3.13."""
    assert status_line(status.number) == f"HTTP/1.1 {status.number} {status.phrase}\r\n".encode()
