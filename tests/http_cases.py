"""Exchanges over HTTP, as `ninefold.diff.requests` reads them from a file, told to a service that really listens.

Here each request has its response:

- Headers that are listed must match, others may come besides; `!Name` must not come.
- A body of JSON is compared as JSON: members in any order, items in theirs, and nothing more or less. Another body is
  compared as text. Where nothing is expected, nothing must come.
- `{{name}}` in what is expected stands for anything when it is first met, and for the same from then on; in a request
  it is what it stood for. A string that is nothing but `{{name}}` may be any JSON value.
- `Transfer-Encoding: chunked` sends the body in chunks, without a length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from msgspec.structs import replace
from tests.serving import in_a_thread

from ninefold.diff.requests import Exchange, Known, body_matches, filled, text_matches
from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.app import Application
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.request.service import ready
from ninefold.runtime.request.tracing import Tracer
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Refused, Store


def tell(client: httpx.Client, exchange: Exchange, known: Known) -> None:
    """Send a request and compare its response. Raises AssertionError with what came instead."""
    expected = exchange.expected
    assert expected is not None, f"line {exchange.line}: nothing is expected of this request"
    assert not exchange.after and not exchange.happening, f"line {exchange.line}: nothing befalls a real service"
    response = client.send(_request(client, exchange, known))
    came = _as_written(response)
    assert response.status_code == expected.status, f"line {exchange.line}: expected {expected.status}, came\n\n{came}"
    for name, wanted in expected.headers:
        value = response.headers.get(name)
        assert value is not None and text_matches(wanted, value, known), (
            f"line {exchange.line}: expected {name}: {wanted}, came\n\n{came}"
        )
    for name in expected.absent:
        assert name not in response.headers, f"line {exchange.line}: expected no {name}, came\n\n{came}"
    assert body_matches(expected.body, response.text, known), (
        f"line {exchange.line}: expected\n\n{expected.body}\n\nwith {known}, came\n\n{came}"
    )


def _request(client: httpx.Client, exchange: Exchange, known: Known) -> httpx.Request:
    headers = [(name, filled(value, known)) for name, value in exchange.headers]
    body = filled(exchange.content, known).encode()
    chunked = any(name.lower() == "transfer-encoding" for name, _ in headers)
    content = iter([body[:1000], body[1000:]]) if chunked else body
    request = client.build_request(exchange.method, filled(exchange.target, known), content=content or None)
    # What the client adds of its own accord would be a fact that no file shows.
    for name in ("Accept", "Accept-Encoding", "User-Agent", "Content-Type"):
        request.headers.pop(name, None)
    request.headers = httpx.Headers([*request.headers.multi_items(), *(h for h in headers if h[1] != "chunked")])
    return request


def _as_written(response: httpx.Response) -> str:
    lines = [f"HTTP {response.status_code}", *(f"{name}: {value}" for name, value in response.headers.items())]
    return "\n".join([*lines, "", response.text])


def patient(plan: ServicePlan) -> ServicePlan:
    """The same service, whose requests are given up after minutes where the contract says seconds: machines differ, and
    some have much to do."""
    stated = plan.limits.request_microseconds
    if stated is None or stated < 2_000_000:
        return plan
    return replace(plan, limits=replace(plan.limits, said=plan.limits.said | {"timeout": max(stated, 120_000_000)}))


@contextmanager
def serving(
    plan: ServicePlan,
    path: Path | str,
    operator: Mapping[str, str],
    trace: bool = False,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    pooled: bool = False,
) -> Iterator[httpx.Client]:
    """Serve a plan from a database at `path`, or at a URL, on a port that is free, until the block ends. `pooled`: as
    of `open_database`."""
    opened = open_database(str(path), plan, stated_rows(plan, Caller(operator)), pooled=pooled)
    assert not isinstance(opened, Refused), opened
    with serving_from(plan, opened.database, operator, trace, functions) as client:
        yield client


@contextmanager
def serving_from(
    plan: ServicePlan,
    database: Store,
    operator: Mapping[str, str],
    trace: bool = False,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Iterator[httpx.Client]:
    """The same from a database that is open, which is closed at the end."""
    replica = database.replica
    tracer = Tracer(plan).traced if trace else None
    key, replicated = database.key("cursors"), replica is not None
    sources = Sources().following(database.clock)
    service = ready(plan, key, operator, sources, functions=functions or {}, replicated=replicated)
    beside = () if replica is None else (lambda bell: replica.follow(),)
    application = Application(service, database, trace=tracer, jobs=beside)
    with closing(database), in_a_thread(application) as (host, port):
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as client:
            yield client
