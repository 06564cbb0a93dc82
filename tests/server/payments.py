"""A contract with idempotency keys and rates, for tests that race, wait and kill: customers who make payments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count

from tests.contracts import plan_of

from ninefold.plan.service import ServicePlan
from ninefold.runtime.sources import Sources

PAYMENTS = """
purpose: Takes payments.
resources:
  customer:
    primary key: id
    fields:
      id:       {type: string, format: uuid, on create: uuid()}
      name:     {type: string}
      secret:   {type: string, secret: token, on create: token()}
      password: {type: string, secret: password}
    required: [name]
  payment:
    primary key: id
    fields:
      id:       {type: string, format: uuid, on create: uuid()}
      customer: {references: customer, on create: caller.customer, inverse: payments, on delete: restrict}
      amount:   {type: integer, minimum: 1}
    required: [amount]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /customers:
    does: create customer
    body: [name]
    idempotency key: optional
    responses: {201: {id: customer.id, secret: issued.secret}}
  POST /accounts:
    does: create customer
    body: [name, password]
    idempotency key: optional
    responses: {201: {id: customer.id}}
  POST /payments:
    does: create payment
    body: [amount]
    idempotency key: required
    responses: {201: payment}
    headers: {Location: "'/payments/' + payment.id"}
  GET /payments:
    does: list payment
    query: {region: {type: string}}
    sort: none
    responses: {200: {total: page.total}}
  PATCH /payments/{id}:
    does: update payment
    body: [amount]
    patch: merge
    idempotency key: optional
    responses: {200: payment}
  DELETE /payments/{id}:
    does: delete payment
    idempotency key: optional
    responses: {204: none}
authentication:
  schemes:
    token: {type: http, scheme: bearer, matches: customer.secret}
  permissions:
    POST /customers: anyone
    POST /accounts:  anyone
    GET /payments:   [token, anyone]
    all others:      token
  rows: all
  unseen rows: not found
events: none
errors:
  error shape:
    media type: application/json
    body: {code: error.code, fields: "error.fields.map(f, f.name + ' ' + f.rule)"}
  codes:
    malformed:  {status: 400, title: Malformed, for: malformed}
    invalid:    {status: 422, title: Invalid, for: invalid}
    who:        {status: 401, title: Who, for: unauthenticated}
    not_found:  {status: 404, title: Not found, for: [not found, no such path]}
    reused:     {status: 422, title: Reused, for: idempotency mismatch}
    running:    {status: 409, title: Running, for: idempotency in progress}
    slow_down:  {status: 429, title: Slow down, for: too many requests}
    busy:       {status: 503, title: Busy, for: unavailable}
    too_slow:   {status: 503, title: Too slow, for: timed out}
  precedence: PRECEDENCE
limits:
  rates: RATES
  rate headers: HEADERS
  body size: 64 KiB
  pages: {by: none}
  timeout: TIMEOUT
  idempotency keys kept: PT1H
versioning: none
"""


@cache
def payments(
    rates: str = "none",
    timeout: str = "PT30S",
    headers: str = "[RateLimit-Policy, RateLimit, Retry-After]",
    precedence: str = "[too many requests]",
    instead: tuple[tuple[str, str], ...] = (),
) -> ServicePlan:
    """`instead`: what of the text is something else."""
    text = PAYMENTS
    for was, now in instead:
        assert was in text
        text = text.replace(was, now)
    for name, value in {"RATES": rates, "TIMEOUT": timeout, "HEADERS": headers, "PRECEDENCE": precedence}.items():
        text = text.replace(f": {name}\n", f": {value}\n")
    return plan_of(text, "payments.yaml")


class Clock:
    """A time that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 6, 1, tzinfo=UTC)

    def move(self, **by: float) -> None:
        self.time += timedelta(**by)

    def sources(self) -> Sources:
        began = self.time
        return Sources(
            clock=lambda: self.time, elapsed=lambda: (self.time - began) // timedelta(microseconds=1) * 1_000
        )


_numbers = count(1)


def new_key() -> str:
    return f"key-{next(_numbers)}"
