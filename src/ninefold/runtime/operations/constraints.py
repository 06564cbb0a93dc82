"""What a write is held to: the values that the contract gives, and the invariants of other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ninefold.expressions.evaluate import Env, EvaluationError, TooMuch, compile
from ninefold.expressions.tree import Call, Typed
from ninefold.plan import environment, held
from ninefold.plan import writes as plan
from ninefold.plan.environment import Environment
from ninefold.plan.held import CANNOT_BE_MADE
from ninefold.runtime.messages.problems import Failure, FieldFailure, failed_condition
from ninefold.runtime.messages.problems import pointer as json_pointer
from ninefold.runtime.messages.schemas import Schemas
from ninefold.runtime.messages.violations import Path, broken
from ninefold.runtime.store.protocol import NoValue, Session, Stored, TooLong
from ninefold.runtime.store.statements import Prepared, RowReader
from ninefold.values import Invalid, Value, json_reader, required, to_json

NOT_MADE = (EvaluationError, TooMuch, NoValue, TooLong)
"""What is raised, besides refusals, where a value that the contract gives cannot be made, or not be stored."""


def why_not_made(error: Exception) -> str:
    """In words, for the operator."""
    return "it is too large" if isinstance(error, TooMuch | TooLong) else str(error)


class Unfit(Exception):
    """A value that cannot be written, as the failure that refuses the request."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


class Held:
    """A field that the contract gives a value, made ready."""

    def __init__(self, planned: held.Held) -> None:
        self._planned = planned
        self._schemas = None if planned.schema is None else Schemas(planned.schema)

    @property
    def field(self) -> str:
        return self._planned.field

    def is_made_of(self, refused: set[str]) -> bool:
        """Whether it is made of a field that is refused, and so says nothing."""
        return not refused.isdisjoint(self._planned.reads)

    def made(self, evaluate: Callable[[Env], Value], env: Env) -> Value:
        """The value, which fits. Raises Unfit."""
        try:
            value = evaluate(env)
        except EvaluationError:
            raise Unfit(self.failure((), CANNOT_BE_MADE, env)) from None
        self.fits(value, env)
        return value

    def fits(self, value: Value, env: Env) -> None:
        """Raises Unfit where it does not."""
        if self._schemas is not None and value is not None:
            self.fits_as_json(to_json(self._planned.type, value), env)

    def fits_as_json(self, value: Any, env: Env) -> None:
        if self._schemas is not None and value is not None and not self._schemas.is_valid(value):
            path, rule = next(broken(self._schemas, value), ((), CANNOT_BE_MADE))
            raise Unfit(self.failure(path, rule, env))

    def failure(self, path: Path, rule: str, env: Env) -> Failure:
        """What refuses the request: `invalid` at the one place in it that the value is made of, or at the whole body;
        else, as of an invariant, the field."""
        planned, given = self._planned, env.get(environment.REQUESTED, {})
        origins = [each for each in planned.origins if each.given is None or each.given in given]
        places = dict.fromkeys(each.location for each in origins)
        if not origins:
            field = FieldFailure("row", json_pointer((planned.field, *path)), planned.field, rule)
            fields = (field,) if planned.field else ()
            return Failure("invariant", planned.resource, fields=fields, trace=planned.trace)
        origin = origins[0]
        if len(places) == 1:
            where = origin.location
            field = FieldFailure(where.place, where.pointer, where.name, rule)
            return Failure("invalid", origin.subject, origin.code, (field,), planned.trace)
        place = next((each.place for each in places if each.place == "body"), origin.location.place)
        field = FieldFailure(place, "", place, rule)
        return Failure("invalid", planned.resource, fields=(field,), trace=planned.trace)


def making(typed: Typed, planned: held.Held | None) -> Callable[[Env], Value]:
    """What makes a value that the contract gives; it raises Unfit. Of a value of any type, what came is held to the
    field, and not what the field's type makes of it."""
    if planned is None:
        sure = compile(typed)

        def surely(env: Env) -> Value:
            try:
                return sure(env)
            except EvaluationError:  # of what is refused, types promise nothing
                return None

        return surely
    own = Held(planned)
    if not (isinstance(typed, Call) and typed.function == "narrow"):
        evaluate = compile(typed)
        return lambda env: own.made(evaluate, env)
    came, read = compile(typed.arguments[0]), json_reader(required(planned.type))

    def narrowed(env: Env) -> Value:
        try:
            value = came(env)
        except EvaluationError:
            raise Unfit(own.failure((), CANNOT_BE_MADE, env)) from None
        if value is None:
            return None
        own.fits_as_json(value, env)
        try:
            return read(value)
        except Invalid as invalid:
            raise Unfit(own.failure(invalid.path, invalid.rule, env)) from None

    return narrowed


def requested(env: Environment, body: Mapping[str, Any]) -> None:
    """Remember which fields the request gives, for what follows from it, too."""
    env.setdefault(environment.REQUESTED, dict.fromkeys(body, True))


class Upheld:
    """One of the plan, made ready."""

    def __init__(self, planned: plan.Upheld) -> None:
        self.failure = failed_condition(planned.condition)
        self.details = planned.details
        self.failing = Prepared(planned.failing)
        self.before = None if planned.before is None else Prepared(planned.before)
        self.read = None if planned.before is None else RowReader(planned.before)


def values_before(upheld: Sequence[Upheld], session: Session, env: Env) -> dict[str, Value]:
    """The keys as they are before the write, by name: the root `$affected`. Where several rows are written, those of
    all of them."""
    keys: dict[str, list[Any]] = {}
    for each in upheld:
        if each.before is not None and each.read is not None:
            for row in session.run(*each.before.bound(env)):
                for name, found in each.read(row).items():
                    keys.setdefault(name, []).extend(found if isinstance(found, list) else ())
    return dict(keys)


def broken_invariants(
    upheld: Sequence[Upheld], session: Session, env: Env
) -> Iterator[tuple[Failure, dict[str, Stored]]]:
    """Those that some row now fails, with the details of its codes."""
    for each in upheld:
        for row in session.run(*each.failing.bound(env)):
            yield each.failure, dict(zip(each.details, row, strict=False))
