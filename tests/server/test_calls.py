"""Functions of the operator's: called before anything is done, held to the contract, over real HTTP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Running, running

import ninefold
from ninefold.pipeline import compile_document
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operations.call import unfit

pytestmark = pytest.mark.serves

PARCELS = """\
# Parcels

## 1. What the service does

Quotes for parcels.

## 2. Resources and their fields

```yaml
parcel:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    weight: {type: number, exclusiveMinimum: 0}
    price:  {type: integer}
    state:  {state: true}
  required: [weight, price]
types:
  wanted:
    type: object
    properties:
      weight:  {type: number}
      country: {type: string}
    required: [weight]
  quoted:
    type: object
    properties:
      price: {type: integer, minimum: 0}
      days:  {type: [integer, "null"]}
    required: [price]
```

## 3. States and transitions

```yaml
parcel:
  initial: open
  states: [open, sent]
  transitions:
    send: {from: open, to: sent}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
functions:
  quote:
    takes:
      weight:  {type: number, maximum: 1000}
      country: {type: [string, "null"]}
    gives: {$ref: "#/types/quoted"}
    refuses: [nowhere]
  carrier:
    takes: {parcel: {type: integer}}
    gives: {type: string}
    refuses: [nowhere]
POST /quotes:
  does: call quote
  body: {$ref: "#/types/wanted"}
  with: {weight: request.body.weight, country: request.body.country}
  idempotency key: optional
  responses: {200: {price: result.quote.price, days: result.quote.days}}
POST /parcels:
  does: [call quote, create parcel]
  body: [weight]
  with: {weight: request.body.weight, country: "null"}
  sets: {price: result.quote.price}
  idempotency key: optional
  responses: {201: parcel}
POST /parcels/{id}/send:
  does: [call carrier, send parcel]
  body: none
  with: {parcel: request.headers.times}
  request headers: {times: {type: integer}}
  responses: {200: {state: parcel.state, by: result.carrier}}
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape:
  media type: application/problem+json
  body: {code: error.code, detail: error.detail, fields: error.fields}
codes:
  nowhere: {status: 409, title: Nobody goes there}
  invalid: {status: 422, title: Invalid, for: [invalid]}
  missing: {status: 404, title: Missing, for: [not found]}
  illegal: {status: 409, title: Illegal, for: [illegal transition]}
```

## 8. Limits

```yaml
rates: none
body size: 1 KiB
timeout: PT1S
idempotency keys kept: PT24H
```

## 9. Versioning

Versions: none.
"""


PATIENT = PARCELS.replace("timeout: PT1S", "timeout: PT2M")
"""Where a slow machine does not end a request."""


def plan_of(document: str = PARCELS) -> ServicePlan:
    loaded = compile_document("parcels.md", document.encode())
    assert loaded.plan is not None, [each.message for each in loaded.diagnostics]
    return loaded.plan


@contextmanager
def serving(path: Path, contract: str = PATIENT, **functions: Callable[..., Any]) -> Iterator[Running]:
    with running(plan_of(contract), path / "parcels.db", functions=functions) as service:
        yield service


class Quote:
    """Ten for a kilo. Knows how it was called."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, str | None]] = []

    def __call__(self, weight: float, country: str | None) -> dict[str, Any]:
        self.calls.append((weight, country))
        if country == "atlantis":
            raise ninefold.Refused("nowhere", "it has sunk")
        return {"price": int(weight * 10), "days": None if country is None else 3}


def test_what_a_function_gives_is_shown(tmp_path: Path) -> None:
    quote = Quote()
    with serving(tmp_path, quote=quote) as service:
        far = service.http.post("/quotes", json={"weight": 1.5, "country": "fr"})
        near = service.http.post("/quotes", json={"weight": 2})
    assert (far.status_code, far.json()) == (200, {"price": 15, "days": 3})
    assert (near.status_code, near.json()) == (200, {"price": 20})
    assert quote.calls == [(1.5, "fr"), (2, None)]


def test_a_row_is_written_with_what_a_function_gives(tmp_path: Path) -> None:
    with serving(tmp_path, quote=Quote()) as service:
        made = service.http.post("/parcels", json={"weight": 3})
    assert (made.status_code, made.json()) == (201, {"id": 1, "weight": 3, "price": 30, "state": "open"})


def test_what_the_request_gives_is_held_to_what_the_function_takes(tmp_path: Path) -> None:
    quote = Quote()
    with serving(tmp_path, quote=quote) as service:
        heavy = service.http.post("/quotes", json={"weight": 1001})
        heavy_parcel = service.http.post("/parcels", json={"weight": 1001})
        wrong = service.http.post("/parcels", json={"weight": -1})
        nothing = service.http.post("/parcels", json={})
    assert heavy.status_code == heavy_parcel.status_code == 422
    assert heavy.json()["fields"] == [{"place": "body", "pointer": "/weight", "name": "weight", "rule": "maximum"}]
    assert heavy_parcel.json()["fields"] == heavy.json()["fields"]
    assert (wrong.status_code, nothing.status_code) == (422, 422)
    assert nothing.json()["fields"][0]["rule"] == "required"
    assert quote.calls == []


def test_a_function_refuses_with_a_code_of_the_contract(tmp_path: Path) -> None:
    with serving(tmp_path, quote=Quote()) as service:
        sunk = service.http.post("/quotes", json={"weight": 1, "country": "atlantis"})
    assert (sunk.status_code, sunk.json()) == (409, {"code": "nowhere", "detail": "it has sunk", "fields": []})


def refused_otherwise(weight: float, country: str | None) -> None:
    raise ninefold.Refused("missing")


def fails(weight: float, country: str | None) -> None:
    raise LookupError("a secret")


@pytest.mark.parametrize(
    "function",
    [
        lambda weight, country: {"price": -1},
        lambda weight, country: {"price": "ten"},
        lambda weight, country: None,
        lambda weight, country: object(),
        lambda weight, country: {"price": 2**80},
        refused_otherwise,
        fails,
    ],
)
def test_what_is_not_as_stated_is_internal(tmp_path: Path, function: Callable[..., Any]) -> None:
    with serving(tmp_path, quote=function) as service:
        answered = service.http.post("/quotes", json={"weight": 1})
        made = service.http.post("/parcels", json={"weight": 1})
    assert (answered.status_code, answered.content, made.status_code) == (500, b"", 500)


def test_functions_of_async_def_are_awaited(tmp_path: Path) -> None:
    async def quote(weight: float, country: str | None) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"price": 1}

    with serving(tmp_path, quote=quote) as service:
        assert service.http.post("/quotes", json={"weight": 1}).json() == {"price": 1}


def test_time_outs_hold(tmp_path: Path) -> None:
    async def quote(weight: float, country: str | None) -> None:
        await asyncio.Event().wait()

    answered = threading.Event()

    def slow(weight: float, country: str | None) -> None:
        answered.wait(60)

    for function in (quote, slow):
        answered.clear()
        with serving(tmp_path, PARCELS, quote=function) as service:
            assert service.http.post("/quotes", json={"weight": 1}).status_code == 503
            answered.set()


def test_other_requests_go_on_while_a_function_takes_its_time(tmp_path: Path) -> None:
    going = threading.Event()

    def quote(weight: float, country: str | None) -> dict[str, Any]:
        if weight == 1:
            assert going.wait(60)
        going.set()
        return {"price": int(weight)}

    with serving(tmp_path, quote=quote) as service:
        answers: list[int] = []
        waiting = threading.Thread(
            target=lambda: answers.append(service.http.post("/quotes", json={"weight": 1}).json()["price"])
        )
        waiting.start()
        assert service.http.post("/quotes", json={"weight": 2}).json()["price"] == 2
        waiting.join()
        assert answers == [1]


@pytest.mark.parametrize(("path", "status"), [("/quotes", 200), ("/parcels", 201)])
def test_under_a_key_a_function_is_called_once(tmp_path: Path, path: str, status: int) -> None:
    quote, key = Quote(), {"Idempotency-Key": "one"}
    with serving(tmp_path, quote=quote) as service:
        first = service.http.post(path, json={"weight": 1}, headers=key)
        again = service.http.post(path, json={"weight": 1}, headers=key)
        other = service.http.post(path, json={"weight": 2}, headers=key)
    assert first.status_code == again.status_code == status
    assert first.content == again.content
    assert other.status_code == 422
    assert len(quote.calls) == 1


def test_nothing_is_called_where_rows_refuse_the_request(tmp_path: Path) -> None:
    called: list[int] = []

    def carrier(parcel: int) -> str:
        called.append(parcel)
        return "bike"

    times = {"times": "7"}
    with serving(tmp_path, quote=Quote(), carrier=carrier) as service:
        assert service.http.post("/parcels/1/send", headers=times).status_code == 404
        service.http.post("/parcels", json={"weight": 1})
        sent = service.http.post("/parcels/1/send", headers=times)
        again = service.http.post("/parcels/1/send", headers=times)
    assert (sent.status_code, sent.json()) == (200, {"state": "sent", "by": "bike"})
    assert (again.status_code, again.json()["code"]) == (409, "illegal")
    assert called == [7]


def test_what_is_asked_of_values_is_asked_after_the_call(tmp_path: Path) -> None:
    """Of what is to be stored nobody knows before the function has given its part."""
    contract = PATIENT
    for written, instead in (
        ("    price:  {type: integer}\n", "    price:  {type: integer}\n    code:   {type: integer, unique: true}\n"),
        ("  body: [weight]\n", '  body: [weight, code]\n  check: {that: "parcel.weight < 500.0", else: heavy}\n'),
        ("{all others: anyone}", '{all others: anyone, POST /parcels: {anyone: "all(parcel).size() < 2"}}'),
        ("codes:\n", "codes:\n" + "".join(f"  {name}: {{status: 409{of}}}\n" for name, of in CODES.items())),
    ):
        assert written in contract
        contract = contract.replace(written, instead)
    quote = Quote()
    with serving(tmp_path, contract, quote=quote, carrier=print) as service:

        def told(weight: float, code: int) -> tuple[int | str, bool]:
            before = len(quote.calls)
            answer = service.http.post("/parcels", json={"weight": weight, "code": code})
            return answer.json()["code"], len(quote.calls) > before

        assert told(600, 1) == ("heavy", True)
        assert told(1, 1) == (1, True)
        assert told(1, 1) == ("taken", True)
        assert told(-1, 2) == ("invalid", False)
        assert told(1, 2) == (2, True)
        assert told(1, 3) == ("denied", False)


CODES = {"heavy": "", "taken": ", for: conflict", "denied": ", for: forbidden"}


def test_without_its_function_an_endpoint_answers_501(tmp_path: Path) -> None:
    with serving(tmp_path, quote=Quote()) as service:
        assert service.http.post("/parcels/1/send").status_code == 501
        assert service.http.post("/quotes", json={"weight": 1}).status_code == 200


def test_a_function_that_does_not_fit_is_told_of() -> None:
    plan = plan_of()
    assert unfit(plan, {"quote": Quote()}) is None
    assert "weight, country" in str(unfit(plan, {"quote": lambda weight: None}))
    assert unfit(plan, {"quote": lambda **all: None}) is None
    assert unfit(plan, {"quote": 1}) == "quote is not a function"  # type: ignore[dict-item]


def test_the_library_is_handed_functions(tmp_path: Path) -> None:
    path = tmp_path / "parcels.md"
    path.write_text(PARCELS, encoding="utf-8")
    service = ninefold.load(path)
    service.application(database=str(tmp_path / "p.db"), functions={"quote": Quote()})
    with pytest.raises(ValueError, match="calls no function quota"):
        service.application(database=str(tmp_path / "p.db"), functions={"quota": Quote()})
    with pytest.raises(ValueError, match="cannot be called"):
        service.application(database=str(tmp_path / "p.db"), functions={"quote": lambda weight: None})


def test_openapi_tells_of_calls(tmp_path: Path) -> None:
    path = tmp_path / "parcels.md"
    path.write_text(PARCELS, encoding="utf-8")
    endpoint = ninefold.load(path).openapi()["paths"]["/quotes"]["post"]
    assert endpoint["summary"] == "call quote"
    assert "nowhere" in str(endpoint["responses"]["409"])
