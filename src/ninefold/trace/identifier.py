"""The identifier of a response's causes: `Ninefold-Trace`.

    2.q7Rk0w3Z.lAAAAc0AyJCRAQ.f3Kd

The version of this form, a digest of the plan, the nodes of the plan that took part (MessagePack), and a check against
misspelling; the last three in base64url (RFC 4648, section 5). It holds numbers of the plan's nodes, statuses and names
of rules, and nothing that a client sent. It tells how a service is made to whoever knows its contract, and nobody else.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

import msgspec

from ninefold.plan.service import ServicePlan

HEADER = "Ninefold-Trace"

FORM = "2"

LONGEST = 2_000
"""Characters of an identifier."""

MOST_REFUSALS = 16
"""Refusals that an identifier holds; of more, the first ones."""

MOST_NAMES = 4
"""Headers that it holds by name, because the plan does not know them: there should be none."""

Outcome: TypeAlias = Literal[
    "answered", "not modified", "refused", "not in force", "methods", "stalled", "not upgraded"
]
"""How a request ended: with the good end of an operation, with 304, with a condition of the closed list, with 501, with
the methods that there are (OPTIONS), with 408, or with 426."""

_encode = msgspec.msgpack.Encoder(order="deterministic").encode

_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class Refused(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A failure. `condition`: its number in the closed list. `node`: which condition of the operation
    (`ninefold.trace.nodes.conditions`); -1: the server told. `code`: which code of the plan; -1: none. `where` is
    `body`, `query`, `path`, `header`, `row` or empty; `target`: which field of the body, or which parameter
    (`ninefold.trace.nodes` gives their order); -1: one that the contract does not name. `rule`: what was not kept;
    `at`: which of the rules of the field or parameter, -1: none that it states. `depth`: the rule is about the object
    that holds the field, so many members from the root; -1: about the field. Of `too many requests`, `node` is the
    rate."""

    condition: int
    node: int = -1
    code: int = -1
    where: str = ""
    target: int = -1
    rule: str = ""
    at: int = -1
    depth: int = -1


class Trace(msgspec.Struct, frozen=True, array_like=True):
    """The nodes of a plan that took part in one response. `route` and `admission`: their numbers; -1: none. `version`:
    that of the contract, 0 for the newest. `headers`: a bit for each name of `ninefold.trace.nodes.header_names`;
    `others`: names that are not among them. `end`: which of an operation's good ends it was. `head`: the response is to
    HEAD. `more`: it held more refusals than an identifier does. `repeated`: it was the answer to an earlier request
    with the same idempotency key."""

    version: int
    route: int
    admission: int
    outcome: int
    status: int
    headers: int = 0
    end: int = 0
    refusals: tuple[Refused, ...] = ()
    others: tuple[str, ...] = ()
    head: bool = False
    more: bool = False
    repeated: bool = False

    @property
    def ended(self) -> Outcome:
        return _OUTCOMES[self.outcome]


def outcome_number(outcome: Outcome) -> int:
    return _OUTCOMES.index(outcome)


NO_VALUE = f"what is given is not the value of a `{HEADER}` header"


class NotATrace(ValueError):
    """The text is no identifier, or one of another form or another plan: the message says which, and `help` what can be
    done."""

    def __init__(self, message: str, *help: str) -> None:
        super().__init__(message)
        self.help = help


def digest(plan: ServicePlan) -> str:
    """Eight characters that tell a plan from any other. The name of the document does not count."""
    return _written(sha256(_encode(msgspec.structs.replace(plan, name=""))).digest()[:6])


def write(plan_digest: str, trace: Trace) -> str:
    payload = _written(msgspec.msgpack.encode(trace))
    return f"{FORM}.{plan_digest}.{payload}.{_check(plan_digest, payload)}"


def read(text: str, plan_digest: str) -> Trace:
    """The nodes that an identifier names. Raises NotATrace. That the nodes are there, `attribution` sees."""
    text = text.strip()
    if text[: len(HEADER)].lower() == HEADER.lower():
        text = text[len(HEADER) :].lstrip(": \t")
    parts = text.split(".")
    if len(text) > LONGEST or not text.isascii() or len(parts) < 2 or not parts[0].isdecimal():
        raise NotATrace(NO_VALUE)
    if parts[0] != FORM:
        raise NotATrace("it was made by another version of ninefold")
    if len(parts) != 4 or parts[3] != _check(parts[1], parts[2]):
        raise NotATrace("the identifier is not whole: a character of it is missing, or is another one")
    if parts[1] != plan_digest:
        raise NotATrace(
            "it was made by another contract, by another state of this one, or by another version of ninefold",
            "take the document as it was when it was served, with the same `--accept-proposals`",
        )
    try:
        trace = msgspec.msgpack.decode(_read(parts[2]), type=Trace)
    except ValueError:
        raise NotATrace(NO_VALUE) from None
    if not 0 <= trace.outcome < len(_OUTCOMES):
        raise NotATrace(NO_VALUE)
    return trace


def _check(plan_digest: str, payload: str) -> str:
    return _written(sha256(f"{FORM}.{plan_digest}.{payload}".encode()).digest()[:3])


def _written(data: bytes) -> str:
    return urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _read(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
