"""From what went wrong to the answer: which failure counts, and how the contract says it."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.expressions.evaluate import Env, EvaluationError, TooMuch, compile
from ninefold.language.conditions import of_parameter
from ninefold.plan import problems as plan
from ninefold.plan.problems import DETAIL, said_by
from ninefold.plan.responses import Content, In, roots
from ninefold.runtime.messages.encode import NO_ROW, show
from ninefold.runtime.messages.message import HeaderFields, Response, header_value, stated_value
from ninefold.runtime.messages.violations import MOST
from ninefold.values.pointers import pointer as written

log = logging.getLogger("ninefold.server")

LONGEST_PATH: Final = 256
"""Characters of the path to a value that is told of; names come from whoever sends them."""


@dataclass(frozen=True, slots=True)
class FieldFailure:
    """A rule that a value of the request does not keep. `pointer` is an RFC 6901 JSON Pointer into the body, or into
    the parameters seen as one object; `rule` is the JSON Schema keyword, or `unknown`, `immutable`, `unique` …"""

    place: In
    pointer: str
    name: str
    rule: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A condition that refuses the request, perhaps narrowed to a subject, with the code stated for it alone. `trace`
    is where the contract states it, which changes nothing of the answer. `others` may stand in the place of the one of
    `fields`: the first of them that the request gives, where it does not give that one."""

    condition: str
    subject: str | None = None
    code: str | None = None
    fields: tuple[FieldFailure, ...] = ()
    trace: tuple[Place, ...] = dataclasses.field(default=(), compare=False)
    others: tuple[FieldFailure, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What a contract may call it, the narrowest first: `conflict user.email`, `conflict user`, `conflict`."""
        return plan.names(self.condition, self.subject)


def invalid(place: In, name: str, rule: str, path: Sequence[str | int] = (), subject: str | None = None) -> Failure:
    """A parameter that is not as the contract says; `path`: where in its value; `subject`: what codes are for of one
    that the endpoint declares (of others, none is)."""
    return Failure("invalid", subject, None, (field_failure(place, (name, *path), rule),))


def no_value(failure: Failure, resource: str | None) -> tuple[Failure, ...]:
    """What a text in the path is refused for that is none of what `path` says: there is no such row; of that value,
    too, which may have a code."""
    named = (of_parameter("not found", "path", each.name) for each in failure.fields)
    return tuple(Failure("not found", subject) for subject in (resource, *filter(None, named)))


def field_failure(place: In, path: Sequence[str | int], rule: str) -> FieldFailure:
    """The failure of the value at `path`. Its name is that of the nearest member; a body as a whole is `body`. Of a
    path that is too long to be told, what is told of is the value as deep in it as can be."""
    length = 0
    for index, token in enumerate(path):
        length += len(token) + 1 if isinstance(token, str) else 8
        if length > LONGEST_PATH:
            path = path[:index]
            break
    name = next((token for token in reversed(path) if isinstance(token, str)), place)
    return FieldFailure(place, pointer(path), _sayable(name), rule)


def told(fields: Iterable[FieldFailure]) -> tuple[FieldFailure, ...]:
    """Those that are told, each once: a hundred at most, and then that there are more."""
    found = tuple(islice(dict.fromkeys(fields), MOST + 1))
    return found if len(found) <= MOST else (*found[:MOST], FieldFailure(found[-1].place, "", found[-1].place, "more"))


def pointer(path: Sequence[str | int]) -> str:
    """A JSON Pointer (RFC 6901 3) that can be said."""
    return _sayable(written(path))


def _sayable(text: str) -> str:
    """A name that a client gave, as UTF-8 can say it: halves of surrogate pairs, and bytes that were none, as `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def failed_condition(condition: plan.Condition) -> Failure:
    """A condition of the judge, or an invariant, as the failure that it is."""
    rule = condition.rule or condition.condition
    located = () if condition.location is None else (condition.location, *condition.others)
    fields = tuple(FieldFailure(each.place, each.pointer, each.name, rule) for each in located)
    return Failure(condition.condition, condition.subject, condition.code, fields[:1], condition.trace, fields[1:])


class Shape:
    """What errors look like, made ready."""

    def __init__(self, media_type: str | None, content: Content | None) -> None:
        self.show = None if content is None else show(content, ())
        self.content_type: HeaderFields = () if media_type is None else ((b"content-type", header_value(media_type)),)
        # A body that says nothing of the request is made once.
        self.constant = content is not None and roots(content) <= {"error"}
        self.bodies: dict[str, bytes] = {}


class Problems:
    """Part 7 of a plan made ready. `own` is what an endpoint says otherwise: conditions with codes of its own."""

    def __init__(self, problems: plan.Problems) -> None:
        self._statuses = problems.statuses
        self._codes = {code.name: code for code in problems.codes}
        self._conditions = problems.conditions
        self._ranks = {name: rank for rank, name in enumerate(problems.precedence)}
        self.last = plan.rank("", None, False, (), self._ranks)
        """The rank of what the precedence does not hold: behind everything in it."""
        self._said = {
            said_by(code.name, name): compile(said)
            for code in problems.codes
            for name, said in {DETAIL: code.detail, **code.headers}.items()
            if said is not None
        }
        self._messages = problems.messages
        self._shape = Shape(problems.media_type, problems.content)

    def code(self, failure: Failure, own: Mapping[str, str]) -> str | None:
        """The name of the code with which a failure is answered; None: a bare status."""
        if failure.code is not None:
            return failure.code
        stated = (codes[name] for codes in (own, self._conditions) for name in failure.names if name in codes)
        return next(stated, None)

    def rank(self, failure: Failure, own: Mapping[str, str]) -> int:
        """The place of a failure in the precedence. The lower counts."""
        tables = () if failure.code is not None else (own, self._conditions)
        told = next((codes for codes in tables if any(name in codes for name in failure.names)), {})
        return plan.rank(failure.condition, failure.subject, failure.code is not None, told, self._ranks)

    def answer(
        self,
        failures: Sequence[Failure],
        own: Mapping[str, str],
        env: Env,
        details: Mapping[str, Any] = {},
        shape: Shape | None = None,
        placed: Callable[[FieldFailure], FieldFailure] = lambda field: field,
    ) -> Response:
        """The answer to the failure that counts, which is the first of those with the lowest rank; with it, the
        fields of the others that have its code and its rank. `details` are those that the judge gave, by code; `shape`
        is the endpoint's own, where it has one. `placed` says where in what was sent a failure is."""
        shape = shape or self._shape
        rank, first = min(((self.rank(failure, own), failure) for failure in failures), key=lambda pair: pair[0])
        name = self.code(first, own)
        code = None if name is None else self._codes.get(name)
        if code is None:
            return Response(self._statuses.get(first.condition, 500))
        headers = self._headers(code, env, details)
        if shape.show is None:
            return Response(code.status, headers)
        fields = told(
            placed(field)
            for failure in failures
            if failure.fields and self.code(failure, own) == name and self.rank(failure, own) == rank
            for field in failure.fields
        )
        detail = self._say(code.name, env, details)
        if fields or detail is not None or not shape.constant:
            body = shape.show(NO_ROW, (), {**env, "error": self._error(code, fields, detail)})
            return Response(code.status, shape.content_type + headers, msgspec.json.encode(body))
        known = shape.bodies.get(code.name)
        if known is None:
            body = shape.show(NO_ROW, (), {**env, "error": self._error(code, (), None)})
            known = shape.bodies[code.name] = msgspec.json.encode(body)
        return Response(code.status, shape.content_type + headers, known)

    def _say(self, name: str, env: Env, details: Mapping[str, Any]) -> Any:
        """What a code says of this time, by its name among the details; None: nothing."""
        said = details.get(name)
        if said is not None or name not in self._said:
            return said
        try:
            return self._said[name](env)
        except (EvaluationError, TooMuch):
            return None

    def _headers(self, code: plan.ErrorCode, env: Env, details: Mapping[str, Any]) -> HeaderFields:
        """The headers that a code gives its responses; one without a value is not there."""
        fields: list[tuple[bytes, bytes]] = []
        for name in code.headers:
            said = self._say(said_by(code.name, name), env, details)
            if said is None:
                continue
            value = stated_value(name, f"the error {code.name}")(said)
            if value is not None:
                fields.append((header_value(name.lower()), value))
        return tuple(fields)

    def _error(self, code: plan.ErrorCode, fields: Sequence[FieldFailure], detail: Any) -> dict[str, Any]:
        """The root `error`."""
        error: dict[str, Any] = {
            "code": code.known_as,
            "status": code.status,
            "fields": [self._field(field) for field in fields],
            "messages": self._by_name(code, fields),
            **code.said,
        }
        if detail is not None:
            error["detail"] = detail
        return error

    def _field(self, field: FieldFailure) -> dict[str, str]:
        shown = {"place": field.place, "pointer": field.pointer, "name": field.name, "rule": field.rule}
        message = self._message(field.rule)
        if message is not None:
            shown["message"] = message
        return shown

    def _message(self, rule: str) -> str | None:
        return self._messages.get(rule) or self._messages.get("all others")

    def _by_name(self, code: plan.ErrorCode, fields: Sequence[FieldFailure]) -> dict[str, list[str]]:
        """`error.messages`. A message that is not shown is left out, and so is a name without any."""
        if not fields:
            return {code.about: [title]} if code.about is not None and (title := code.text("title")) else {}
        messages: dict[str, list[str]] = {}
        for field in fields:
            message = self._message(field.rule)
            if message is not None and message not in messages.setdefault(field.name, []):
                messages[field.name].append(message)
        return messages
