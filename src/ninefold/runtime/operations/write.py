"""A change of one row, made ready: what it stores, what refuses it, and what follows in its transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, assert_never

from msgspec.structs import replace

from ninefold.expressions.rows import BEFORE
from ninefold.plan import environment
from ninefold.plan import writes as plan
from ninefold.plan.environment import Environment
from ninefold.plan.events import SECRET
from ninefold.runtime.messages import conditional
from ninefold.runtime.messages.encode import Shape
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations import credentials, flow, signing
from ninefold.runtime.operations.bulk import Asking, Do, Effects, Several
from ninefold.runtime.operations.consequences import Ending, Issue, Occurrences, ReadBack, Scopes, Step, Subscription
from ninefold.runtime.operations.constraints import (
    MOST_ANEW,
    Invariants,
    Judge,
    NothingFound,
    Refusal,
    Represented,
    Taken,
    gives,
)
from ninefold.runtime.operations.events import arise
from ninefold.runtime.operations.flow import Next, Select, Transact, Wait
from ninefold.runtime.operations.instead import Goes, Instead, Other
from ninefold.runtime.operations.read import Call
from ninefold.runtime.operations.values import Values, hash_all, lacks_of
from ninefold.runtime.store.protocol import Conflicting, Row, Session, Single, Stored, Unbound
from ninefold.runtime.store.statements import Known, Prepared, RowReader, stored
from ninefold.values import Value

AS_IT_WAS = "as it was"
"""The switch under which a write acts on the revision that was read, and on no other."""


class Write:
    """A change of one row."""

    def __init__(self, operation: plan.Write) -> None:
        self.resource = operation.resource
        own = operation if isinstance(operation, plan.WithValues) else None
        self.judge: Judge | None = Judge(operation.judge, () if own is None else own.held)
        self._judge = self.judge
        self._is_new = isinstance(operation, plan.Create | plan.Ensure)
        self._lacks = lacks_of(operation)
        self._grants = isinstance(operation, plan.Grant)
        self._statement = Prepared(operation.statement)
        self._whole = None if self._statement.switches else self._statement.unbound()
        plainly = operation.plainly if isinstance(operation, plan.Create) else None
        self._plainly = None if plainly is None else Known(plainly.statement, plainly.row)
        self._key = operation.key
        self._shapes = tuple(
            Shape(end, (operation.of_end(number) or operation).results)
            for number, end in enumerate(operation.ends_well)
        )
        self._shape = self._shapes[0]
        untouched = plan.untouched(operation)
        self._untouched = None if untouched is None else Prepared(untouched.statement)
        self._removed = RowReader(operation.statement) if isinstance(operation, plan.Remove) else None
        self._values = Values(operation)
        current = operation.current if isinstance(operation, plan.Update) else None
        self._current = None if current is None else Prepared(current)
        self._read_current = None if current is None else RowReader(current)
        condition = plan.precondition(operation)
        self._conditional = condition is not None or isinstance(operation, plan.Update | plan.Delete)
        represented = None if condition is None else condition.represented
        self._represented = None if represented is None else Represented(represented)
        self._invariants = Invariants(operation)
        self.password = credentials.PasswordCheck(operation.password) if isinstance(operation, plan.SignIn) else None
        was = plan.as_it_was(operation)
        self._was = None if was is None else Prepared(was)
        self._read_was = None if was is None else RowReader(was)
        instead = operation.step(plan.Instead)
        self._instead = None if instead is None else Instead(instead, Write(instead.write))
        there = operation.there if isinstance(operation, plan.Ensure) else None
        self._there = None if there is None else Prepared(there)
        self._follows = tuple(_ready(each) for each in operation.follows if not isinstance(each, plan.Instead))
        # What stays of it in the call when it is undone decides nothing of what it comes to.
        self._again = (
            self._instead is None
            and self._represented is None
            and all(isinstance(each, ReadBack | Occurrences) for each in self._follows)
        )
        read_back = operation.step(plan.ReadBack)
        self._read_back = None if read_back is None else ReadBack(read_back)
        issue, subscription = operation.step(plan.Issue), operation.step(plan.Subscription)
        asks = self._judge.holds or was is not None or represented is not None or not self._invariants.none
        self._is_single = not (asks or operation.follows)
        self._wrote: Callable[[Row], tuple[Row, Shape, None]] = lambda row: (row, self._shape, None)
        self._issues = None if issue is None else credentials.Issue(issue)
        self._signs = subscription is not None and subscription.signed

    def do(self, session: Session, call: Call, env: Environment) -> None:
        """Do it as a part of another write, for the same call."""
        own = replace(
            call, env=env, body={}, valid=None, wrong=frozenset(), current=None, on_current=False, caused=True
        )
        self.do_in(session, own)

    def _prepare_in(self, session: Session, call: Call, given: frozenset[str]) -> None:
        if (wanted := self.wanted(call, given)) is not None:
            self.found(call, session.run(wanted.text, wanted.binds))
        self.prepare(call)

    def do_in(self, session: Session, call: Call, given: frozenset[str] = frozenset()) -> None:
        """Do all of it in a transaction that is open. `given`: by the body. Raises Refusal or NothingFound."""
        self._prepare_in(session, call, given)
        flow.at_once(self.perform(call), session)

    def values(self, call: Call, env: Environment, current: dict[str, Value]) -> dict[str, Any]:
        """The values of one row of several, of which `current` was read."""
        self.prepare(replace(call, env=env, body={}, valid=None, wrong=frozenset(), current=current, on_current=False))
        return env[environment.NEW]

    def wanted(self, call: Call, given: frozenset[str] = frozenset(), merging: bool = False) -> Select | None:
        """What has to be read of the row as it is before the values are made. `given`: the fields that the body gives;
        `merging`: an object of it is merged."""
        if self._current is None or not (merging or self._values.read_the_row(given)):
            return None
        return Select(*self._current.bound(call.env))

    def found(self, call: Call, rows: Sequence[Row]) -> None:
        """The row as it is. From here on the operation acts on no other revision of it."""
        assert self._read_current is not None
        call.current = self._read_current(rows[0]) if rows else None
        call.on_current = True

    def prepare(self, call: Call) -> None:
        """Make the values that are stored. Raises Refusal where one that must be there is not given by anything: a
        value that cannot be made (the caller has no such member) is no value."""
        env = call.env
        if self._conditional and not call.caused and conditional.is_asked(call.request):
            env[environment.IF] = conditional.of_row(call.request.headers, self._shape.tag_prefix)
        current, body = call.current, call.body
        was = None if current is None else current.get(environment.REVISION_COLUMN)
        env[environment.WRITE] = {"revision": call.sources.revision(), "was": was}
        if body is None:
            return
        gives(env, body)
        if self._grants:
            env[environment.ASKED] = credentials.asked(body)
        unfit, of_any = self._values.make(env, body, current or {})
        if self._signs:
            key = env[environment.SIGNING]["key"]
            env["issued"][SECRET] = signing.written(signing.secret(key, str(env[environment.NEW]["id"])))
        if unfit and self._lacks == "none":
            unfit = []
        elif unfit:
            # What is made of a row that is not there says nothing; the judge says that it is not there.
            is_read = call.on_current and call.current is None
            is_sought = self._instead is not None or self._there is not None or self._lacks == "there" or is_read
            if of_any or not is_sought:
                raise Refusal(unfit)
        call.unfit = unfit
        if self._issues is not None:
            self._issues.make(env, call.sources)

    def is_conditional(self, call: Call) -> bool:
        """Whether the request has a condition on what GET shows."""
        return self._represented is not None and conditional.is_asked(call.request)

    def shown(self, call: Call) -> tuple[str, list[Stored]]:
        """What GET shows, of which the request has a condition."""
        assert self._represented is not None
        return self._represented.asked(call.env)

    def compare(self, call: Call, rows: Sequence[Row]) -> None:
        """Hold what GET shows against the condition."""
        assert self._represented is not None
        self._represented.narrow(call.env, call.request.headers, rows)

    def wrong(self, call: Call, partly: bool) -> frozenset[str]:
        """The fields of which nobody knows what would be stored: those that the body gives wrongly, those that are made
        of what is refused, and those that are made of others where these are known `partly`."""
        return call.wrong | self._values.unknown(call.body or {}, call.env.get(environment.REFUSED, {}), partly)

    def perform(self, call: Call) -> Next:
        if self.password is not None:
            return self.password.step(call.env, partial(self._signed_in, call))
        return self._with_values(call) if self._values.keeps_passwords else self._transact(call)

    def _signed_in(self, call: Call, is_right: bool) -> Next:
        return self._with_values(call) if is_right else self._judge.asked(call.env)

    def _with_values(self, call: Call) -> Next:
        plain = self._values.passwords(call.env[environment.NEW])
        if not plain:
            return self._transact(call)
        return Wait(flow.Compute(partial(hash_all, plain)), partial(self._with_passwords, call))

    def _with_passwords(self, call: Call, hashes: Mapping[str, str]) -> Next:
        self._values.put_hashes(call.env[environment.NEW], hashes)
        return self._transact(call)

    def _transact(self, call: Call) -> Next:
        work: Callable[[Session], Any] = partial(self._work, call)
        if self._is_single and not call.unfit:
            env, known, wrote = call.env, self._plainly, self._wrote
            if self._is_new:
                env[BEFORE] = {**env[BEFORE], self.resource: None}
            work = known.single(env, wrote, work) if known else Single(self._unbound(call), env, wrote, work)
        return Wait(Transact(work, self._again), lambda done: done[1].filled(done[0], (), call.env, done[2]))

    def _work(self, call: Call, session: Session) -> tuple[Row, Shape, str | None]:
        """The columns of the row as it has become, how they are shown, and their entity tag where that is of more."""
        env, call.end = call.env, 0
        if self._represented is not None and self.is_conditional(call):
            self._represented.narrow(env, call.request.headers, session.run(*self._represented.asked(env)))
        self._remember(session, env)
        if self._judge.holds:
            refusal = self._judge.refusal(session.run(*self._judge.bound(env, True)), env)
            if refusal is not None and not isinstance(refusal, Taken):
                raise refusal
        self._invariants.before(session, env)
        known = [step.found(session, env) if step.before else None for step in self._follows]
        written = self._touch(session, call)
        if isinstance(written, Other):
            return self._done_instead(session, call, written)
        row, touched = written
        after = {**env, environment.ROW: self._written(row)} if self._read_back is not None else env
        if touched and self._invariants.checks:
            self._invariants.hold_first(row if self._read_back is None else self._read_back.row(session, after))
        of_effects: list[Callable[[], None]] = []
        for step, found in zip(self._follows, known, strict=True):
            if isinstance(step, _Effects):
                if touched:
                    step.take_place(session, call, {**after, environment.ARISEN: of_effects}, found)
                continue
            if of_effects and not isinstance(step, Occurrences):
                arise(after, *of_effects)
                of_effects = []
            if isinstance(step, ReadBack):
                row = step.row(session, after)
            elif touched:
                step.take_place(session, call, after, found)
        arise(after, *of_effects)
        if not touched:
            call.end = len(self._shapes) - 1
        else:
            self._invariants.hold(session, (row,), after)
        tag = None if self._represented is None else self._represented.now(session, after)
        return row, self._shapes[call.end], tag

    def _touch(self, session: Session, call: Call) -> tuple[Row, bool] | Other:
        """The row that is written, or that is there as it is wanted, or that is there and is to be changed instead.
        What is made at random is made again where it is taken, and passwords stay as hashed. Raises what refuses it."""
        env, tries = call.env, 0
        while True:
            if self._plainly is not None and not call.unfit and (row := self._plainly.stored(session, env)) is not None:
                return row, True
            try:
                rows = [] if call.unfit else session.run((of := self._unbound(call)).text, of.binds(env))
            except Conflicting:
                rows = []
            if rows:
                return rows[0], True
            if self._untouched is not None and (rows := session.run(*self._untouched.bound(env))):
                return rows[0], False
            is_there = self._there is not None and bool(session.run(*self._there.bound(env)))
            values = is_there or self._there is None or not call.unfit
            wrong = None if values else self.wrong(call, partly=True)
            refusal = self._judge.refusal(session.run(*self._judge.bound(env, values, wrong)), env)
            if self._instead is not None and (rows := session.run(*self._instead.find.bound(env))):
                return Other(rows[0], refusal)
            if call.unfit and not is_there:
                raise self._unfit(call.unfit, refusal)
            tries += 1
            if not isinstance(refusal, Taken) or refusal.anew <= (call.body or {}).keys() or tries == MOST_ANEW:
                raise refusal or NothingFound
            hashes = self._values.hashes(env[environment.NEW])
            self.prepare(call)
            env[environment.NEW] |= hashes

    def _unbound(self, call: Call) -> Unbound:
        if self._whole is not None:
            return self._whole
        on = stored(tuple(call.env[environment.NEW]))
        return self._statement.unbound(self._statement.switches & (on | {AS_IT_WAS} if call.on_current else on))

    def _unfit(self, unfit: Sequence[Failure], refusal: Refusal | None) -> Refusal:
        """What refuses it beside what it would lack; the latter of no row that is not there, and that none may make."""
        is_there = refusal is None or all(each.condition != "not found" for each in refusal.failures)
        if self._lacks == "there" and refusal is not None and not is_there:
            return refusal
        return Refusal(unfit).beside(refusal)

    def unfit_too(self, call: Call, refusal: Refusal | None, then: Goes) -> Next:
        """Go on with what the judge says and, beside it, with what cannot be made: of the row that is there, or of the
        one that would be."""
        lacks = self._unfit(call.unfit, refusal) if call.unfit else refusal
        if self._instead is not None:
            return self._instead.unfit_too(call, refusal, lacks, then)
        if self._there is None:
            return then(lacks)
        return Wait(Select(*self._there.bound(call.env)), lambda rows: then(refusal if rows else lacks))

    def _done_instead(self, session: Session, call: Call, other: Other) -> tuple[Row, Shape, str | None]:
        """Change the row that is there, for the same request. Passwords are hashed already."""
        assert self._instead is not None
        hashes = self._values.hashes(call.env[environment.NEW])
        own, write = self._instead.call(call, other.row), self._instead.write
        try:
            write._prepare_in(session, own, frozenset(call.body or ()))
        except Refusal as refusal:
            raise refusal.beside(other.refusal) from None
        if other.refusal is not None:
            judge = write._judge
            judged = judge.refusal(session.run(*judge.bound(own.env, True)), own.env)
            raise Refusal(own.unfit).beside(other.refusal).beside(judged)
        own.env[environment.NEW] |= {name: hash for name, hash in hashes.items() if name in own.env[environment.NEW]}
        done = write._work(own, session)
        call.env |= {**own.env, environment.PATH: call.env[environment.PATH]}
        call.end = 1
        return done

    def _remember(self, session: Session, env: Environment) -> None:
        """The root `before`: the row as it is before it changes. Of what follows on one row, it is that row before the
        first; a row that is new was nothing."""
        if self._was is not None and self._read_was is not None:
            was = [self._read_was(row) for row in session.run(*self._was.bound(env))]
            env[BEFORE] = {**env[BEFORE], self.resource: was[0] if was else None}
        elif self._is_new:
            env[BEFORE] = {**env[BEFORE], self.resource: None}

    def _written(self, row: Row) -> dict[str, Any]:
        """The root `$row`: what says which row was written; of a row that was removed, all of it."""
        return dict(zip(self._key, row, strict=False)) if self._removed is None else self._removed(row)


def effects(planned: plan.Effects) -> Effects[Call]:
    """What else a write does, made ready."""
    return Effects(planned, lambda write: Write(write).do, _several)


def _several(effect: plan.Effect) -> Do[Call]:
    then = effect.write.step(plan.Effects)
    several = Several(effect, Write(effect.write).values, None if then is None else effects(then))
    return lambda session, call, env: several.do(session, call, Asking(call.sources, call.who), env)


# ── What follows ──────────────────────────────────────────────────────────────────────────────────────────────


def _ready(step: plan.Step) -> Step:
    match step:
        case plan.Subscription():
            return Subscription(step)
        case plan.Effects():
            return _Effects(step)
        case plan.Occurrences():
            return Occurrences(step)
        case plan.Further():
            return _Further(step)
        case plan.Instead():
            raise AssertionError("it does not follow: it is done in the place of the write")
        case plan.Scopes():
            return Scopes(step)
        case plan.ReadBack():
            return ReadBack(step)
        case plan.Ending():
            return Ending(step)
        case plan.Issue():
            return Issue(step)
        case _:
            assert_never(step)


class _Effects(Step):
    def __init__(self, step: plan.Effects) -> None:
        self._effects, self.before = effects(step), step.before

    def found(self, session: Session, env: Environment) -> dict[str, Value] | None:
        return self._effects.acted_on(session, env)

    def take_place(self, session: Session, call: Call, env: Environment, found: dict[str, Value] | None) -> None:
        acted_on = found if self.before else self.found(session, env)
        if acted_on is not None:
            self._effects.take_place(session, call, env, acted_on)


class _Further(Step):
    def __init__(self, step: plan.Further) -> None:
        self._write = Write(step.write)

    def take_place(self, session: Session, call: Call, env: Environment, found: None) -> None:
        own = env.copy()
        own[environment.PATH] = env[environment.ROW]
        self._write.do(session, call, own)
        call.env["issued"] |= own["issued"]
