"""What refuses a request, which of it counts, and how that is said (part 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.reference.values import Path

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.service import ErrorCode, Errors

STATUSES = {
    "no such path": 404,
    "method not allowed": 405,
    "unknown version": 400,
    "retired version": 410,
    "too many requests": 429,
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
    "not found": 404,
    "gone": 410,
    "precondition required": 428,
    "precondition failed": 412,
    "illegal transition": 409,
    "check": 409,
    "different": 409,
    "conflict": 409,
    "unavailable": 503,
    "timed out": 503,
    "internal": 500,
}
"""Meaning "bare statuses", in the order of the closed list of conditions."""


@dataclass(frozen=True)
class Broken:
    """A rule that a value of the request does not keep."""

    place: str
    path: Path
    rule: str
    called: str | None = None

    def edited(self, came: Callable[[Path], Path]) -> Broken:
        """The same where the edits say so that made it."""
        return replace(self, path=came(self.path), called=self.name) if self.place == "body" else self

    def sent(self, document: Any) -> Broken:
        """The same where it is in the body that came (meaning "errors")."""
        if self.place != "body" or not isinstance(document, dict | list):
            return self
        for depth, step in enumerate(self.path):
            if not (step in document if isinstance(document, dict) else _has_item(document, step)):
                path = self.path[: depth + 1 if self.rule == "required" else depth]
                return Broken(self.place, path, self.rule, self.name)
            document = document[step]  # type: ignore[index]
        return self

    def shortened(self) -> Broken:
        """The same of a value around it, where its path has more than 256 characters."""
        path = self.path
        while sum(len(step) + 1 if isinstance(step, str) else 8 for step in path) > 256:
            path = path[:-1]
        return Broken(self.place, path, self.rule, self.called)

    @property
    def pointer(self) -> str:
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.path)

    @property
    def name(self) -> str:
        """The nearest member's name; a body as a whole is `body`."""
        return self.called or next((step for step in reversed(self.path) if isinstance(step, str)), self.place)


def _has_item(value: Any, step: str | int) -> bool:
    return isinstance(value, list) and isinstance(step, int) and step < len(value)


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


def invalid(place: str, name: str, rule: str, path: tuple[str | int, ...] = (), declared: bool = False) -> Failure:
    """`declared`: it is a parameter that the endpoint's `query` or `request headers` state, for which codes can be."""
    subject = f"{place}.{name}" if declared else None
    return Failure("invalid", subject, fields=(Broken(place, (name, *path), rule),))


def wider(name: str) -> str | None:
    """The next wider name: `invalid user` of `invalid user.email`, `invalid` of that, and nothing of a condition."""
    if name in STATUSES:
        return None
    return name.rpartition("." if "." in name else " ")[0]


def condition_of(name: str) -> str:
    above = wider(name)
    return name if above is None else condition_of(above)


def order(errors: Errors) -> list[str]:
    """Meaning "precedence": the smallest order, as the closed list goes, that keeps what `precedence` says. Nothing may
    come before what is listed ahead of it; of what may come next, the closed list says which. `gone` that is not
    listed goes with `not found`."""
    listed = list(errors.precedence)
    places = {name: number for number, name in enumerate(STATUSES)}
    still = {*STATUSES, *listed}
    found: list[str] = []
    while still:
        ready = [name for name in still if name not in listed or not still & set(listed[: listed.index(name)])]
        # What is narrowed stands before its condition; of several, what is listed leaves one ready.
        found.append(min(ready, key=lambda name: (places[condition_of(name)], name in STATUSES)))
        still.remove(found[-1])
    if "gone" not in listed:
        found.remove("gone")
        found.insert(found.index("not found") + 1, "gone")
    return found


def answering(failure: Failure, endpoint: Endpoint | None, errors: Errors) -> tuple[str | None, str | None]:
    """The name of the code that answers a failure, and the name of the condition that it is the code of."""
    if failure.code is not None:
        return failure.code, None
    own: Mapping[str, str] = {} if endpoint is None else endpoint.errors
    for codes in (own, errors.conditions):
        for called in failure.names:
            if called in codes:
                return codes[called], called
    return None, None


def code_of(failure: Failure, endpoint: Endpoint | None, errors: Errors) -> ErrorCode | None:
    name, _ = answering(failure, endpoint, errors)
    return next((code for code in errors.codes if code.name == name), None)


def place_in_order(failure: Failure, endpoint: Endpoint | None, errors: Errors) -> tuple[int, int]:
    """The lower counts: the place of the narrowest name that is in the order, or directly before it, where what has
    the code is narrower still; what is narrowed to a field, or a parameter, before what is to a resource."""
    ranks = order(errors)
    _, called = answering(failure, endpoint, errors)
    placed = next(name for name in failure.names if name in ranks)
    if failure.code is not None and failure.condition == "invalid":
        return ranks.index(placed), -2
    narrower = failure.names[: failure.names.index(placed)]
    if called in narrower:
        return ranks.index(placed), -2 if "." in called else -1
    return ranks.index(placed), 0


@dataclass(frozen=True)
class Refusal:
    """What is answered: a code, or a bare status, and the rules that were broken."""

    status: int
    code: ErrorCode | None
    fields: tuple[Broken, ...]


def number_of(endpoint: Endpoint) -> Callable[[Broken], tuple[int, int]]:
    """Which of the members that a contract writes a rule of the body is about, beginning with 0, and how deep it is
    told: what is around a member comes before it."""
    pointers = endpoint.takes.written

    def number(broken: Broken) -> tuple[int, int]:
        names = tuple(str(step) for step in broken.path)
        met = ((at, min(len(names), len(each))) for at, each in enumerate(pointers) if _meet(names, each))
        return next(met, (len(pointers), 0))

    return number


def _meet(names: tuple[str, ...], pointer: tuple[str, ...]) -> bool:
    """Whether one of the two leads to the other."""
    return names[: len(pointer)] == pointer[: len(names)]


def in_written_order(failures: Sequence[Failure], endpoint: Endpoint | None) -> list[Failure]:
    """Meaning "precedence": what is wrong with the body is told in the order in which the contract writes its
    members."""
    if endpoint is None:
        return list(failures)
    number = number_of(endpoint)
    of_body = [each for each in failures if each.fields and each.fields[0].place == "body"]
    ordered = iter(sorted(of_body, key=lambda failure: number(failure.fields[0])))
    return [next(ordered) if each.fields and each.fields[0].place == "body" else each for each in failures]


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
    fields = [*dict.fromkeys(broken.shortened() for each in alike for broken in each.fields)]
    if len(fields) > 100:
        fields[100:] = [Broken(fields[100].place, (), "more")]
    return Refusal(code.status, code, tuple(fields))


def error_value(refused: Refusal, detail: Any, errors: Errors) -> dict[str, Any]:
    """The root `error` of the error shape."""
    code = refused.code
    assert code is not None

    def words(rule: str) -> str | None:
        return errors.messages.get(rule) or errors.messages.get("all others")

    fields = []
    messages: dict[str, list[str]] = {}
    for broken in refused.fields:
        shown = {"place": broken.place, "pointer": broken.pointer, "name": broken.name, "rule": broken.rule}
        message = words(broken.rule)
        if message is not None:
            shown["message"] = message
            said = messages.setdefault(broken.name, [])
            if message not in said:
                said.append(message)
        fields.append(shown)
    if not refused.fields and code.about is not None and "title" in code.said:
        messages = {code.about: [str(code.said["title"])]}
    error = {"code": code.name, "status": code.status, "fields": fields, "messages": messages}
    more = {**code.said, "detail": detail}
    return error | {name: value for name, value in more.items() if value is not None}
