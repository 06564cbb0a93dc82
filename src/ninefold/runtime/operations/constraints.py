"""What a write is held to, and what refuses an operation: the values that the contract gives, invariants of other rows,
the judge that says why nothing was found, and conditions on what GET shows.

Where entity tags are of all that GET shows, other rows too, If-Match asks of a write what it asks of GET: whether this
caller would be given that tag still (RFC 9110 13.1.1). It is asked in the transaction of the write, before it; and
after it, what GET would show now gives the tag of the response."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ninefold.expressions.evaluate import Env, EvaluationError, TooMuch, compile
from ninefold.expressions.tree import Call, Constant, Typed, Variable
from ninefold.plan import environment, held, problems
from ninefold.plan import writes as plan
from ninefold.plan.environment import Environment
from ninefold.plan.held import CANNOT_BE_MADE, HeldColumns, Upheld
from ninefold.runtime.messages import conditional
from ninefold.runtime.messages.encode import Shape
from ninefold.runtime.messages.problems import Failure, FieldFailure, failed_condition
from ninefold.runtime.messages.problems import pointer as json_pointer
from ninefold.runtime.messages.schemas import Schemas
from ninefold.runtime.messages.violations import Path, broken
from ninefold.runtime.operations.flow import Next, Select, Wait
from ninefold.runtime.store.protocol import NoValue, Row, Session, Stored, TooLong
from ninefold.runtime.store.statements import Prepared, RowReader
from ninefold.values import Invalid, Value, json_reader, required, to_json
from ninefold.values.stored import sqlite_reader

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

    def broken(self, value: Any) -> Iterator[tuple[Path, str]]:
        """What it breaks of the schema, as JSON, and where in it."""
        return iter(()) if self._schemas is None or value is None else broken(self._schemas, value)

    def failure(self, path: Path, rule: str, env: Env, copied: bool = False) -> Failure:
        """What refuses the request: `invalid` at the one place in it that the value is made of (`copied`: and where in
        that), or at the whole body; else, as of an invariant, the field."""
        planned, given = self._planned, env.get(environment.REQUESTED, {})
        origins = [each for each in planned.origins if each.given is None or each.given in given]
        places = dict.fromkeys(each.location for each in origins)
        if not origins:
            field = FieldFailure("row", json_pointer((planned.field, *path)), planned.field, rule)
            fields = (field,) if planned.field else ()
            return Failure("check", planned.resource or None, fields=fields, trace=planned.trace)
        origin = origins[0]
        if len(places) == 1:
            where = origin.location
            within = json_pointer(path) if copied else ""
            field = FieldFailure(where.place, where.pointer + within, where.name, rule)
            return Failure("invalid", origin.subject, None, (field,), planned.trace)
        place = next((each.place for each in places if each.place == "body"), origin.location.place)
        field = FieldFailure(place, "", place, rule)
        return Failure("invalid", planned.resource or None, fields=(field,), trace=planned.trace)


def making(typed: Typed, planned: held.Held | None) -> Callable[[Env], Value]:
    """What makes a value that the contract gives; it raises Unfit. Of a value of any type, what came is held to the
    field, and not what the field's type makes of it."""
    if planned is None:
        sure = compile(typed)
        if isinstance(typed, (Constant, Variable)):
            return sure

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


def gives(env: Environment, body: dict[str, Any]) -> None:
    """A body gives these fields, and nothing is made of them yet. Which the request gives is remembered for what
    follows from it, too."""
    given = dict.fromkeys(body, True)
    env |= {environment.BODY: body, environment.GIVEN: given, environment.ANEW: {}, "issued": {}}
    env.setdefault(environment.REQUESTED, given)


class Invariants:
    """Those of the rows that a write makes or changes, and of other rows."""

    def __init__(self, write: plan.Write) -> None:
        self._own = tuple(map(failed_condition, plan.own_invariants(write)))
        self._details = write.details if isinstance(write, plan.WithValues) else ()
        self.checks = write.checks if isinstance(write, plan.WithValues) else 0
        self._others = tuple(map(_Upheld, write.upholds))
        self.none = not (self._own or self._others)

    def before(self, session: Session, env: Environment) -> None:
        """Keep the keys of other rows as they are before the write, by name: the root `$affected`. Where several rows
        are written, those of all of them."""
        if self._others:
            keys: dict[str, list[Any]] = {}
            for each in self._others:
                if each.before is not None and each.read is not None:
                    for row in session.run(*each.before.bound(env)):
                        for name, found in each.read(row).items():
                            keys.setdefault(name, []).extend(found if isinstance(found, list) else ())
            env[environment.AFFECTED] = dict(keys)

    def hold(self, session: Session, rows: Iterable[Row], env: Environment) -> None:
        """Hold the rows as they have become to them (their last columns say which they fail, and those before them what
        the codes say of it), and other rows. Raises Refusal."""
        failed, told = dict[Failure, None](), dict[str, Stored]()
        for row in rows:
            broken, said = self._broken(row, slice(self.checks, None))
            if broken:
                failed |= dict.fromkeys(broken)
                told = told or said
        for other in self._others:
            for row in session.run(*other.failing.bound(env)):
                if other.failure not in failed:
                    failed[other.failure] = None
                    told |= zip(other.details, row, strict=False)
        if failed:
            raise Refusal([*failed], told)

    def hold_first(self, row: Row) -> None:
        """Hold the row to what is asked before anything follows. Raises Refusal."""
        broken, told = self._broken(row, slice(self.checks))
        if broken:
            raise Refusal(broken, told)

    def _broken(self, row: Row, which: slice) -> tuple[list[Failure], dict[str, Stored]]:
        start = len(row) - len(self._own)
        broken = [failure for failure, fails in zip(self._own[which], row[start:][which], strict=True) if fails]
        return broken, dict(zip(self._details, row[start - len(self._details) : start], strict=True))


class _Upheld:
    """An invariant of other rows, made ready."""

    def __init__(self, planned: Upheld) -> None:
        self.failure = failed_condition(planned.condition)
        self.details = planned.details
        self.failing = Prepared(planned.failing)
        self.before = None if planned.before is None else Prepared(planned.before)
        self.read = None if planned.before is None else RowReader(planned.before)


class Refusal(Exception):
    """The operation is refused. `details` are those of the codes that read rows."""

    def __init__(self, failures: Sequence[Failure], details: Mapping[str, Any] | None = None) -> None:
        super().__init__(*failures)
        self.failures = tuple(failures)
        self.details = details or {}

    def beside(self, other: Refusal | None) -> Refusal:
        """Both, where there is another."""
        if other is None:
            return self
        return Refusal(tuple(dict.fromkeys((*self.failures, *other.failures))), {**other.details, **self.details})


class Taken(Refusal):
    """It is refused for values alone that are made at random, of these `anew`: others may do."""

    anew: frozenset[str] = frozenset()


MOST_ANEW: Final = 32
"""How often values are made at random, before it is told that they are taken."""


class NothingFound(Exception):
    """A statement found nothing, and the judge sees no reason: the rows changed in between, or values made at
    random were taken. Trying once more tells."""


class Judge:
    """The select that names why nothing was found or touched."""

    def __init__(self, judge: problems.Judge, made: Sequence[HeldColumns] = ()) -> None:
        self._statement = Prepared(judge.statement)
        self._anew = judge.anew
        self.failures = tuple(map(failed_condition, judge.conditions))
        columns = judge.statement.columns[len(self.failures) :]
        self._made = tuple(
            (
                each.fails,
                each.value,
                None if each.value is None else sqlite_reader(judge.statement.columns[each.value].type),
                Held(each.held),
            )
            for each in made
        )
        self.holds = any(each.value is not None for each in made)
        """Whether what a statement makes has to be held to a schema."""
        self._details = tuple(
            (code, sqlite_reader(columns[index].type) if index < len(columns) else None)
            for index, code in enumerate(judge.details)
        )
        self.tells = frozenset(each.partition(" ")[0] for each in judge.details)
        """The codes that say something of the row."""

    def bound(
        self, env: Mapping[str, Any], values: bool, wrong: Collection[str] | None = None
    ) -> tuple[str, list[Stored]]:
        """`values`: all that the request gives is there. `wrong`: the fields of which that is not so; None: the body
        was not read."""
        judging = {
            "values": values,
            "read": values or wrong is not None,
            **{f"wrong {name}": True for name in wrong or ()},
        }
        return self._statement.bound({**env, environment.JUDGE: judging})

    def refusal(self, rows: Sequence[Row], env: Mapping[str, Any]) -> Refusal | None:
        """What the judge's row says; None: nothing stands in the way."""
        row = rows[0]
        failures = [failure for failure, failed in zip(self.failures, row, strict=False) if failed]
        # What is made of a value that is refused, or of a row that is not there, says nothing.
        if not any(each.condition in ("invalid", "conflict") for each in failures):
            failures += self._unfit(row, env)
        return self._taken(row, Refusal(failures, self.details(rows))) if failures else None

    def details(self, rows: Sequence[Row]) -> dict[str, Any]:
        """What the judge's row gives of the details of codes, whether anything stands in the way or not."""
        return {
            code: stored if read is None or stored is None else read(stored)
            for (code, read), stored in zip(self._details, rows[0][len(self.failures) :], strict=False)
        }

    def _taken(self, row: Row, refusal: Refusal) -> Refusal:
        """The same, told apart where nothing but what is made at random stands in the way."""
        failed = [number for number in range(len(self.failures)) if row[number]]
        if len(failed) != len(refusal.failures) or not self._anew or not all(map(self._anew.__getitem__, failed)):
            return refusal
        taken = Taken(refusal.failures, refusal.details)
        taken.anew = frozenset(name for number in failed for name in self._anew[number])
        return taken

    def _unfit(self, row: Row, env: Mapping[str, Any]) -> list[Failure]:
        """What the statement cannot make, and what is not as its field says."""
        failures: list[Failure] = []
        refused: set[str] = set()
        for fails, at, read, own in self._made:
            value = None if at is None else row[at]
            try:
                if row[fails]:
                    raise Unfit(own.failure((), CANNOT_BE_MADE, env))
                own.fits(value if read is None or value is None else read(value), env)
            except Unfit as unfit:
                failures += [] if own.is_made_of(refused) else [unfit.failure]
                refused.add(own.field)
        return failures

    def raised(self, env: Mapping[str, Any], rows: Sequence[Row]) -> Next:
        """A step: nothing was found, and this is why."""
        raise self.refusal(rows, env) or NothingFound

    def asked(self, env: Mapping[str, Any]) -> Next:
        """Ask why nothing was found."""
        return Wait(Select(*self.bound(env, False)), partial(self.raised, env))


class Represented:
    """A representation of the plan, made ready."""

    def __init__(self, planned: plan.Represented) -> None:
        self._before = Prepared(planned.before)
        self._after = None if planned.after is None else Prepared(planned.after)
        self._shape = Shape(planned.response, planned.before.columns)

    @property
    def tag_prefix(self) -> str:
        return self._shape.tag_prefix

    def asked(self, env: Env) -> tuple[str, list[Stored]]:
        """The select of the row as it is, by the path."""
        return self._before.bound(env)

    def narrow(self, env: Environment, headers: Mapping[str, str], rows: Sequence[Row]) -> None:
        """Whether any revision will do, by the tag that GET would give now: one that If-Match names, where it names
        tags, and that If-None-Match does not."""
        asked, opaque = env[environment.IF], self._opaque(rows, env)
        missed = bool(asked.get("match")) and not conditional.names(headers["if-match"], opaque)
        named = "others" in asked and opaque is not None and conditional.unchanged(headers["if-none-match"], opaque)
        env[environment.IF] = {**asked, "others": []}
        if missed or named:
            env[environment.IF]["match"] = []

    def now(self, session: Session, env: Env) -> str | None:
        """The opaque part of the tag that GET would give of the row `$row`; None: it would show none."""
        return None if self._after is None else self._opaque(session.run(*self._after.bound(env)), env)

    def _opaque(self, rows: Sequence[Row], env: Env) -> str | None:
        if not rows:
            return None
        return self._shape.opaque(rows[0], self._shape.body(rows[0], (), env), env)
