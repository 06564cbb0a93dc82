"""Operations made ready: what they run, and what they answer.

An operation knows nothing of routes. It is given a `Call`, and says what it waits for until there is a response;
what refuses it is raised as `Refusal`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import of_request
from ninefold.expressions.rows import BEFORE
from ninefold.expressions.tree import free_variables
from ninefold.plan import environment
from ninefold.plan import operations as plan
from ninefold.plan.events import SECRET
from ninefold.runtime.messages import conditional
from ninefold.runtime.messages.encode import NO_ROW, Shape
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.messages.parameters import NOTHING, Chooser, Page, PageReader
from ninefold.runtime.messages.problems import Failure, failed_condition
from ninefold.runtime.operations import constraints, credentials, flow, signing
from ninefold.runtime.operations.bulk import Asking, Several
from ninefold.runtime.operations.constraints import Unfit, making, requested
from ninefold.runtime.operations.credentials import Ending, Issue, PasswordCheck, hashed
from ninefold.runtime.operations.effects import Do, Effects
from ninefold.runtime.operations.events import Event, Form, subscribe
from ninefold.runtime.operations.flow import Next, Select, Transact, Wait
from ninefold.runtime.operations.judge import MOST_ANEW, Judge, NothingFound, Refusal, Taken
from ninefold.runtime.operations.pages import Cursors, page_told
from ninefold.runtime.operations.representation import Represented
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Conflicting, Row, Session, Stored
from ninefold.runtime.store.statements import NO_SWITCHES, Prepared, RowReader
from ninefold.values import GREATEST_INTEGER, Digest, Value, sqlite_reader

Values: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Call:
    """An operation called by a request. `route` and `who` are what a cursor is bound to, and `identity`, where it is
    one caller's; `body` the values of the body by field, None where it could not be read or is not valid; `valid`: what
    is valid of it, and `wrong` the fields of which the rest is; `page` what is asked of a list. `on_current`: what is
    stored depends on the row as it was read, which is `current`; None: there was none. `untouched`: there was nothing
    to do."""

    request: Request
    env: dict[str, Any]
    sources: Sources
    cursors: Cursors
    route: str
    who: str
    identity: str | None = None
    body: Values | None = field(default_factory=dict)
    valid: Values | None = None
    wrong: frozenset[str] = frozenset()
    page: Page | None = None
    current: Values | None = None
    on_current: bool = False
    log: Log | None = None
    untouched: bool = False


@dataclass(frozen=True, slots=True)
class Log:
    """How the event log is shown, and how long streams go back in it."""

    form: Form
    kept: timedelta


STALE = Failure("stale")

AS_IT_WAS = "as it was"
"""The switch under which a write acts on the revision that was read, and on no other."""


KEPT = object()
"""The value of a field that a write does not touch."""


def _conditional(call: Call, shape: Shape, validator: bool, row: Row, rows: Sequence[Row] = ()) -> Response:
    """The response of an operation that writes nothing, or what the conditions of the request on its entity tag make
    of it (RFC 9110 13.2.2)."""
    headers, env = call.request.headers, call.env
    if not validator or not ("if-match" in headers or "if-none-match" in headers):
        return shape.filled(row, rows, env)
    digested = shape.is_digested(env)
    body = shape.body(row, rows, env) if digested else None
    opaque = shape.opaque(row, body, env)
    if opaque is not None and "if-match" in headers and not conditional.names(headers["if-match"], opaque):
        raise Refusal((STALE,))
    if opaque is not None and "if-none-match" in headers and conditional.unchanged(headers["if-none-match"], opaque):
        return shape.not_modified(row, rows, env, opaque)
    return shape.whole(row, rows, env, body if digested else shape.body(row, rows, env), opaque)


def chosen_of(env: Mapping[str, Any]) -> frozenset[str]:
    """The switches of what a request chooses of the response."""
    found: frozenset[str] = env.get(environment.CHOSEN, NOTHING)
    return found


class Read:
    """One row."""

    def __init__(self, operation: plan.Read) -> None:
        self.resource: str | None = operation.resource
        self.judge: Judge | None = Judge(operation.judge)
        self._judge = self.judge
        self._select = Prepared(operation.select)
        self._shape = Shape(operation.response, operation.select.columns)
        self._validator = operation.validator
        self.chooser = None if operation.choices is None else Chooser(operation.choices)

    def prepare(self, call: Call) -> None:
        """Nothing that a request gives but its path, and what it chooses, takes part."""

    def perform(self, call: Call) -> Next:
        switches = chosen_of(call.env) & self._select.switches
        return Wait(Select(*self._select.bound(call.env, switches)), partial(self._found, call))

    def _found(self, call: Call, rows: Sequence[Row]) -> Next:
        if not rows:
            return self._judge.asked(call.env)
        return _conditional(call, self._shape, self._validator, rows[0])


class List:
    """Rows, a page at a time."""

    def __init__(self, operation: plan.List) -> None:
        self.resource: str | None = operation.resource
        self.judge = None if operation.judge is None else Judge(operation.judge)
        self.pages = PageReader(operation)
        self.chooser = None if operation.choices is None else Chooser(operation.choices)
        self._by = operation.paging.by
        self._select = Prepared(operation.select)
        self._count = None if operation.count is None else Prepared(operation.count)
        self._head = None if operation.head is None else Prepared(operation.head)
        self._validator = operation.validator
        beside = () if operation.head is None else operation.head.columns
        self._shape = Shape(operation.response, beside, operation.select.columns)
        self._keys = {
            sort.name: tuple((index, sqlite_reader(operation.select.columns[index].type)) for index in sort.keys)
            for sort in operation.sorts
        }

    def cursor(self, call: Call) -> Failure | None:
        """Open the cursor that came; a failure if it is none of ours. Its keys go to `$list`."""
        page = call.page
        if page is None or page.cursor is None:
            return None
        keys = call.cursors.open(page.cursor, call.route, call.who, page.sort.name)
        readers = self._keys[page.sort.name]
        if keys is None or len(keys) != len(readers):
            return self.pages.not_ours()
        call.env[environment.LIST] = {
            f"k{number}": key if read is None else read(key)
            for number, (key, (_, read)) in enumerate(zip(keys, readers, strict=True))
        }
        return None

    def prepare(self, call: Call) -> None:
        page = call.page
        assert page is not None
        call.env[environment.FILTER] = page.filters
        listing = call.env.setdefault(environment.LIST, {})
        listing["offset"] = page.start
        if page.size is not None:
            listing["limit"] = min(page.size + 1, GREATEST_INTEGER)

    def perform(self, call: Call) -> Next:
        page = call.page
        assert page is not None
        switches = {f"filter {name}" for name in page.filters}
        switches.add(f"sort {page.sort.name}")
        if page.cursor is not None:
            switches.add(f"after {page.sort.name}")
        switches |= chosen_of(call.env) & self._select.switches
        return Wait(Select(*self._select.bound(call.env, frozenset(switches))), partial(self._found, call))

    def _found(self, call: Call, rows: list[Row]) -> Next:
        if not rows and self.judge is not None:
            return Wait(Select(*self.judge.bound(call.env, False)), partial(self._empty, call))
        return self._counted(call, rows)

    def _empty(self, call: Call, judged: Sequence[Row]) -> Next:
        assert self.judge is not None
        refusal = self.judge.refusal(judged, call.env)
        if refusal is not None:
            raise refusal
        return self._counted(call, [])

    def _counted(self, call: Call, rows: list[Row]) -> Next:
        if self._count is None:
            return self._headed(call, rows, None)
        switches = frozenset(f"filter {name}" for name in call.page.filters) if call.page else NO_SWITCHES
        return Wait(
            Select(*self._count.bound(call.env, switches)), lambda counted: self._headed(call, rows, counted[0][0])
        )

    def _headed(self, call: Call, rows: list[Row], total: Stored) -> Next:
        """With what is shown beside the rows."""
        page = call.page
        assert page is not None
        more = page.size is not None and len(rows) > page.size
        rows = rows[: page.size]
        cursor = None
        if more and self._by == "cursor":
            keys = [rows[-1][index] for index, _ in self._keys[page.sort.name]]
            cursor = call.cursors.seal(keys, call.route, call.who, page.sort.name)
        # What is shown beside them may read both the page and a row of the path: a link to the next page.
        call.env["page"] = page_told(page, self._by, len(rows), total, more, cursor)
        if self._head is None:
            return self._shown(call, rows, NO_ROW)
        switches = chosen_of(call.env) & self._head.switches
        return Wait(Select(*self._head.bound(call.env, switches)), lambda head: self._shown(call, rows, head[0]))

    def _shown(self, call: Call, rows: list[Row], head: Row) -> Next:
        return _conditional(call, self._shape, self._validator, head, rows)


class Write:
    """A change of one row."""

    def __init__(self, operation: plan.Write) -> None:
        self.resource: str | None = operation.resource
        self.judge: Judge | None = Judge(operation.judge, operation.held)
        self._judge = self.judge
        self._row = operation.resource
        self._verb = operation.verb
        self._creates = operation.verb in ("create", "ensure")
        self._statement = Prepared(operation.statement)
        self._key = operation.key
        self._read = None if operation.read is None else Prepared(operation.read)
        columns = (operation.read or operation.statement).columns
        self._shape = Shape(operation.response, columns)
        untouched = operation.untouched
        self._untouched = None if untouched is None else Prepared(untouched.statement)
        self._shape_untouched = self._shape if untouched is None else Shape(untouched.response, columns)
        self._as_it_was = RowReader(operation.statement) if operation.verb == "remove" else None
        self._invariants = tuple(map(failed_condition, operation.invariants))
        self._details = operation.details
        self._assigns = tuple(
            (assign, None if assign.otherwise is None else making(assign.otherwise, assign.held))
            for assign in operation.assigns
        )
        self._current = None if operation.current is None else Prepared(operation.current)
        self._read_current = None if operation.current is None else RowReader(operation.current)
        self._required = tuple(
            assign.field for assign in operation.assigns if not (assign.type.nullable or assign.in_statement)
        )
        self._lacks = {each.field: failed_condition(plan.of_lack(operation, each)) for each in operation.assigns}
        self._made_of_row = frozenset(
            assign.field
            for assign in operation.assigns
            if assign.in_statement
            or (assign.otherwise is not None and operation.resource in free_variables(assign.otherwise))
        )
        self._made_of_request = tuple(
            (assign.field, parts)
            for assign in operation.assigns
            if assign.otherwise is not None and (parts := of_request(assign.otherwise))
        )
        self._validator = operation.validator
        self._represented = None if operation.represented is None else Represented(operation.represented)
        self._upholds = tuple(map(constraints.Upheld, operation.upholds))
        self._before = tuple(map(Event, operation.before))
        self._after = tuple(map(Event, operation.after))
        self._subscribes = operation.subscribes
        self._version = operation.version
        self.password = None if operation.password is None else PasswordCheck(operation.password)
        self._issues = None if operation.issues is None else Issue(operation.issues)
        self._ends = tuple(map(Ending, operation.ends))
        self._then: Effects[Call] | None = None
        if operation.then is not None:
            self._then = effects(operation.then)
        self._further = tuple(map(Write, operation.further))
        self._was = None if operation.was is None else Prepared(operation.was)
        self._read_was = None if operation.was is None else RowReader(operation.was)

    def do(self, session: Session, call: Call, env: dict[str, Any]) -> None:
        """Do it as a part of another write, for the same call."""
        own = replace(call, env=env, body={}, valid=None, wrong=frozenset(), current=None, on_current=False)
        wanted = self.wanted(own)
        if wanted is not None:
            self.found(own, session.run(wanted.text, wanted.binds))
        self.prepare(own)
        flow.at_once(self.perform(own), session)

    def values(self, call: Call, env: dict[str, Any], current: dict[str, Value]) -> Values:
        """The values of one row of several, of which `current` was read."""
        self.prepare(replace(call, env=env, body={}, valid=None, wrong=frozenset(), current=current, on_current=False))
        new: Values = env[environment.NEW]
        return new

    def wanted(self, call: Call, given: frozenset[str] = frozenset(), merging: bool = False) -> Select | None:
        """What has to be read of the row as it is before the values are made. `given`: the fields that the body gives;
        `merging`: an object of it is merged."""
        if self._current is None or not (merging or any(_leans(assign, given) for assign, _ in self._assigns)):
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
        if self._validator and "if-match" in call.request.headers:
            wanted = conditional.revisions(call.request.headers["if-match"], self._shape.tag_prefix)
            env[environment.IF] = {"there": True} if wanted is None else {"there": True, "match": wanted}
        made: dict[str, Value] = dict(call.current or {})
        was = made.pop(environment.REVISION_COLUMN, None)
        env[environment.WRITE] = {"revision": call.sources.revision(), "was": was}
        if call.body is None:
            return
        env[environment.BODY] = body = call.body
        requested(env, body)
        if self._verb == "grant token":
            env[environment.ASKED] = credentials.asked(body)
        new: Values = {}
        issued: Values = {}
        unfit: list[Failure] = []
        told: set[str] = set()
        env |= {environment.NEW: new, environment.GIVEN: dict.fromkeys(body, True), "issued": issued}
        # A value made on create or on change reads the row as it is being made, under the resource's name.
        of_the_row = {**env, self._row: made}
        for assign, otherwise in self._assigns:
            if assign.given and assign.field in body:
                value = body[assign.field]
            elif assign.in_statement:
                continue
            elif not self._creates and assign.again and not body.keys() & set(assign.again):
                continue
            elif otherwise is not None:
                try:
                    value = otherwise(of_the_row)
                except Unfit as failed:
                    value = None
                    is_consequence = assign.held is not None and not told.isdisjoint(assign.held.reads)
                    unfit += [] if is_consequence else [failed.failure]
                    told.add(assign.field)
            elif self._verb == "replace":
                value = None
            else:
                made.setdefault(assign.field, None)
                continue
            if assign.secret == "token" and value is not None:
                issued[assign.field] = value
                new[assign.field] = sha256(value.encode()).digest()
            else:
                new[assign.field] = value
                if assign.secret is None:
                    made[assign.field] = value
        if self._subscribes:
            key = env[environment.SIGNING]["key"]
            issued[SECRET] = signing.written(signing.secret(key, str(new["id"])))
        absent = None if self._creates else KEPT
        unfit += [self._lacks[name] for name in self._required if new.get(name, absent) is None and name not in told]
        # What is made of a row that is not there says nothing; the judge says that it is not there.
        if unfit and (call.current is not None or not call.on_current):
            raise Refusal(unfit)
        if self._issues is not None:
            self._issues.make(env, call.sources)

    def is_conditional(self, call: Call) -> bool:
        """Whether the request has a condition on what GET shows."""
        return self._represented is not None and "if-match" in call.request.headers

    def shown(self, call: Call) -> tuple[str, list[Stored]]:
        """What GET shows, of which the request has a condition."""
        assert self._represented is not None
        return self._represented.asked(call.env)

    def compare(self, call: Call, rows: Sequence[Row]) -> None:
        """Hold what GET shows against the condition."""
        assert self._represented is not None
        self._represented.narrow(call.env, _if_match(call), rows)

    def wrong(self, call: Call) -> frozenset[str]:
        """The fields of which nobody knows what would be stored, where only some values of the body are valid: those
        that it gives wrongly, and those that are made of others."""
        given, refused = call.body or {}, call.env.get(environment.REFUSED, {})
        made = {name for name in self._made_of_row if name not in given}
        made |= {
            name
            for name, parts in self._made_of_request
            if any(refused.get("body" if part == "body" else "parameters") for part in parts)
        }
        return call.wrong | made

    def perform(self, call: Call) -> Next:
        if self.password is not None:
            return self.password.step(call.env, partial(self._signed_in, call))
        return self._with_values(call)

    def _signed_in(self, call: Call, is_right: bool) -> Next:
        return self._with_values(call) if is_right else self._judge.asked(call.env)

    def _with_values(self, call: Call) -> Next:
        plain = self._passwords(call)
        if plain:
            return Wait(flow.Compute(partial(_hashed, plain)), partial(self._with_passwords, call))
        return self._transact(call)

    def _passwords(self, call: Call) -> dict[str, str]:
        new = call.env[environment.NEW]
        return {
            assign.field: new[assign.field]
            for assign, _ in self._assigns
            if assign.secret == "password" and isinstance(new.get(assign.field), str)
        }

    def _with_passwords(self, call: Call, hashes: Mapping[str, str]) -> Next:
        new = call.env[environment.NEW]
        for assign, _ in self._assigns:
            if assign.field in hashes:
                hash = hashes[assign.field]
                new[assign.field] = hash.encode() if isinstance(assign.type, Digest) else hash
        return self._transact(call)

    def _transact(self, call: Call) -> Next:
        env = call.env
        switches = self._statement.switches
        if switches:
            on = {f"new {name}" for name in env[environment.NEW]}
            switches &= on | {AS_IT_WAS} if call.on_current else on

        def work(session: Session) -> tuple[Row, Shape, str | None]:
            if self._represented is not None and self.is_conditional(call):
                self._represented.narrow(env, _if_match(call), session.run(*self._represented.asked(env)))
            self._remember(session, env)
            if self._judge.holds:
                refusal = self._judge.refusal(session.run(*self._judge.bound(env, True)), env)
                if refusal is not None and not isinstance(refusal, Taken):
                    raise refusal
            if self._upholds:
                env[environment.AFFECTED] = constraints.values_before(self._upholds, session, env)
            deleted = [(event, event.found(session, env)) for event in self._before]
            acted_on = None
            if self._then is not None and self._verb == "delete":
                acted_on = self._then.acted_on(session, env)
            (row, touched), after = self._touch(session, call, switches), env
            if self._read is not None:
                after = {**env, environment.ROW: self._written(row)}
                if touched and (self._subscribes or self._version is not None):
                    subscribe(session, row[: len(self._key)], call.who, env["caller"], self._version)
            if self._then is not None and touched:
                acted_on = acted_on or self._then.acted_on(session, after)
                if acted_on is not None:
                    self._then.take_place(session, call, after, acted_on)
            if touched:
                self._go_on(session, call, after, deleted)
            if self._issues is not None:
                self._issues.grant(session, after)
            if self._read is not None:
                row = session.run(*self._read.bound(after))[0]
            for ending in self._ends:
                ending.end(session, after, env[environment.NEW])
            if self._issues is not None:
                self._issues.keep(session, after)
            if not touched:
                call.untouched = True
                tag = None if self._represented is None else self._represented.now(session, after)
                return row, self._shape_untouched, tag
            failed, told = self._failed_invariants(row), self._told(row)
            for broken, of_codes in constraints.broken_invariants(self._upholds, session, after):
                if broken not in failed:
                    failed.append(broken)
                    told |= of_codes
            if failed:
                raise Refusal(failed, told)
            tag = None if self._represented is None else self._represented.now(session, after)
            return row, self._shape, tag

        return Wait(Transact(work), lambda done: done[1].filled(done[0], (), env, done[2]))

    def _touch(self, session: Session, call: Call, switches: frozenset[str]) -> tuple[Row, bool]:
        """The row that is written, or that is there as it is wanted. What is made at random is made again where it is
        taken. Raises what refuses it."""
        env, tries = call.env, 0
        while True:
            try:
                rows = session.run(*self._statement.bound(env, switches))
            except Conflicting:
                rows = []
            if rows:
                return rows[0], True
            if self._untouched is not None and (rows := session.run(*self._untouched.bound(env))):
                return rows[0], False
            refusal = self._judge.refusal(session.run(*self._judge.bound(env, True)), env)
            tries += 1
            if not isinstance(refusal, Taken) or refusal.anew <= (call.body or {}).keys() or tries == MOST_ANEW:
                raise refusal or NothingFound
            self._make_anew(call)

    def _make_anew(self, call: Call) -> None:
        """The values once more. Passwords are hashed already."""
        hashed = {
            each.field: call.env[environment.NEW].get(each.field)
            for each, _ in self._assigns
            if each.secret == "password"
        }
        self.prepare(call)
        call.env[environment.NEW] |= {name: hash for name, hash in hashed.items() if hash is not None}

    def _go_on(self, session: Session, call: Call, after: Values, deleted: Sequence[tuple[Event, Row | None]]) -> None:
        """Write the events of this, and do what follows with the same row."""
        for event, found in (*deleted, *((each, each.found(session, after)) for each in self._after)):
            if found is not None:
                event.write(session, call.env, found, call.sources)
        for following in self._further:
            own = {**after, environment.PATH: after[environment.ROW]}
            following.do(session, call, own)
            call.env["issued"] |= own["issued"]

    def _remember(self, session: Session, env: dict[str, Any]) -> None:
        """The root `before`: the row as it is before it changes. Of what follows on one row, it is that row before the
        first; a row that is new was nothing."""
        if self._was is not None and self._read_was is not None:
            was = [self._read_was(row) for row in session.run(*self._was.bound(env))]
            env[BEFORE] = {**env[BEFORE], self._row: was[0] if was else None}
        elif self._creates:
            env[BEFORE] = {**env[BEFORE], self._row: None}

    def _written(self, row: Row) -> Values:
        """The root `$row`: what says which row was written; of a row that was removed, all of it."""
        return dict(zip(self._key, row, strict=False)) if self._as_it_was is None else self._as_it_was(row)

    def _failed_invariants(self, row: Row) -> list[Failure]:
        """The invariants that the row as it has become fails: the last columns say so."""
        if not self._invariants:
            return []
        return [
            failure for failure, failed in zip(self._invariants, row[-len(self._invariants) :], strict=True) if failed
        ]

    def _told(self, row: Row) -> dict[str, Stored]:
        """What the codes of invariants say of the row as it has become: the columns before theirs."""
        end = len(row) - len(self._invariants)
        return dict(zip(self._details, row[end - len(self._details) : end], strict=True))


def effects(planned: plan.Effects) -> Effects[Call]:
    """What else a write does, made ready."""
    return Effects(planned, lambda write: Write(write).do, _several)


def _several(effect: plan.Effect) -> Do[Call]:
    then = None if effect.write.then is None else effects(effect.write.then)
    several = Several(effect, Write(effect.write).values, then)
    return lambda session, call, env: several.do(session, call, Asking(call.sources, call.who), env)


def _if_match(call: Call) -> str:
    return call.request.headers["if-match"]


def _leans(assign: plan.Assign, given: frozenset[str]) -> bool:
    """Whether a value is made from fields of the row that the body does not give."""
    if (assign.given and assign.field in given) or (assign.again and not given & set(assign.again)):
        return False
    return not given.issuperset(assign.reads)


def _hashed(plain: Mapping[str, str]) -> dict[str, str]:
    return {name: hashed(value) for name, value in plain.items()}


class Compute:
    """A response from expressions, without a row of its own."""

    def __init__(self, operation: plan.Compute) -> None:
        self.resource: str | None = None
        self.judge: Judge | None = None
        self._select = None if operation.select is None else Prepared(operation.select)
        self._validator = operation.validator
        self._shape = Shape(operation.response, () if operation.select is None else operation.select.columns)

    def prepare(self, call: Call) -> None:
        """Nothing is made."""

    def perform(self, call: Call) -> Next:
        if self._select is None:
            return self._answered(call, ())
        return Wait(Select(*self._select.bound(call.env)), partial(self._answered, call))

    def _answered(self, call: Call, rows: Sequence[Row]) -> Response:
        return _conditional(call, self._shape, self._validator, rows[0] if rows else NO_ROW)
