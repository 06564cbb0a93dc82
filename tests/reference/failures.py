"""What refuses a request, which of it counts, and how that is said (part 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.reference.values import Path

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.service import ErrorCode, Errors

STATUSES = {
    "no such path": 404,
    "method not allowed": 405,
    "unknown version": 400,
    "retired version": 410,
    "rate limited": 429,
    "unauthenticated": 401,
    "sign in refused": 401,
    "forbidden": 403,
    "too large": 413,
    "unsupported media type": 415,
    "not acceptable": 406,
    "malformed": 400,
    "invalid": 422,
    "idempotency mismatch": 422,
    "idempotency in progress": 409,
    "missing": 404,
    "gone": 410,
    "precondition required": 428,
    "stale": 412,
    "illegal transition": 409,
    "guard": 409,
    "invariant": 409,
    "different": 409,
    "conflict": 409,
    "unavailable": 503,
    "timed out": 503,
    "internal": 500,
}
"""Fixed meaning 12, in the order of the closed list of conditions."""


@dataclass(frozen=True)
class Broken:
    """A rule that a value of the request does not keep."""

    place: str
    path: Path
    rule: str

    @property
    def pointer(self) -> str:
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.path)

    @property
    def name(self) -> str:
        """The nearest member's name; a body as a whole is `body`."""
        return next((step for step in reversed(self.path) if isinstance(step, str)), self.place)


@dataclass(frozen=True)
class Failure:
    """A condition that holds; `subject` is the resource or field that it is narrowed to."""

    condition: str
    subject: str | None = None
    code: str | None = None
    fields: tuple[Broken, ...] = ()

    @property
    def names(self) -> list[str]:
        """What the contract may call it, the narrowest first."""
        subject = self.subject or ""
        narrower = [f"{self.condition} {each}" for each in (subject, subject.partition(".")[0]) if each]
        return [*narrower, self.condition]


def invalid(place: str, name: str, rule: str, code: str | None = None) -> Failure:
    return Failure("invalid", code=code, fields=(Broken(place, (name,), rule),))


def order(errors: Errors) -> list[str]:
    """Fixed meaning 11: what `precedence` says, and what it leaves out behind its predecessor in the closed list."""
    found = list(errors.precedence)
    before: str | None = None
    for condition in STATUSES:
        if condition not in found:
            found.insert(0 if before is None else found.index(before) + 1, condition)
        before = condition
    return found


def code_of(failure: Failure, endpoint: Endpoint | None, errors: Errors) -> ErrorCode | None:
    name = failure.code
    own: Mapping[str, str] = {} if endpoint is None else endpoint.errors
    for codes in (own, errors.conditions):
        for called in failure.names:
            if name is None:
                name = codes.get(called)
    return next((code for code in errors.codes if code.name == name), None)


def place_in_order(failure: Failure, endpoint: Endpoint | None, errors: Errors) -> int:
    """The lower counts: that of the code, else that of the condition by its narrowest name. What a condition is called
    is the condition, whatever codes are called."""
    code, ranks = code_of(failure, endpoint, errors), order(errors)
    names = ([] if code is None or code.name in STATUSES else [code.name]) + failure.names
    return min([ranks.index(name) for name in names if name in ranks][:1], default=len(ranks))


@dataclass(frozen=True)
class Refusal:
    """What is answered: a code, or a bare status, and the rules that were broken."""

    status: int
    code: ErrorCode | None
    fields: tuple[Broken, ...]


def refusal(failures: Sequence[Failure], endpoint: Endpoint | None, errors: Errors) -> Refusal:
    """The failure that counts is the first of those that come first in the order; with it are told the broken rules
    of the others that have its code and its place."""
    ranked = [(place_in_order(each, endpoint, errors), each) for each in failures]
    first = min(rank for rank, _ in ranked)
    counts = next(each for rank, each in ranked if rank == first)
    code = code_of(counts, endpoint, errors)
    if code is None:
        return Refusal(STATUSES[counts.condition], None, ())
    alike = [each for rank, each in ranked if rank == first and code_of(each, endpoint, errors) == code]
    fields = dict.fromkeys(broken for each in alike for broken in each.fields)
    return Refusal(code.status, code, tuple(fields))


def error_value(refused: Refusal, detail: Any, errors: Errors) -> dict[str, Any]:
    """The root `error` of the error shape."""
    code = refused.code
    assert code is not None

    def words(rule: str) -> str | None:
        return errors.messages.get(rule) or errors.messages.get("otherwise")

    fields = []
    messages: dict[str, list[str]] = {}
    for broken in refused.fields:
        shown = {"in": broken.place, "pointer": broken.pointer, "name": broken.name, "rule": broken.rule}
        message = words(broken.rule)
        if message is not None:
            shown["message"] = message
            said = messages.setdefault(broken.name, [])
            if message not in said:
                said.append(message)
        fields.append(shown)
    if not refused.fields and code.about is not None and code.title is not None:
        messages = {code.about: [code.title]}
    error = {"code": code.name, "status": code.status, "fields": fields, "messages": messages}
    more = {"title": code.title, "detail": detail}
    return error | {name: value for name, value in more.items() if value is not None}
