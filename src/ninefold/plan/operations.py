"""Operations: what a route, a timer or the operator causes. Each is judged, and each is data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, TypeAlias

import msgspec

from ninefold.expressions.tree import Typed
from ninefold.plan.chosen import Choices
from ninefold.plan.events import Concerns, Event
from ninefold.plan.held import Held, HeldColumns, refusals
from ninefold.plan.places import Place
from ninefold.plan.problems import Condition, Judge, Location
from ninefold.plan.responses import Response
from ninefold.plan.statement import Statement
from ninefold.values import Type


class _Operation(msgspec.Struct, frozen=True, tag_field="operation", omit_defaults=True, kw_only=True):
    """`seen`: where it is stated which rows of the resource it is about."""

    resource: str
    response: Response
    seen: tuple[Place, ...] = ()


class Read(_Operation, frozen=True, tag="read"):
    """One row. No row: the judge says why. `validator`: If-None-Match is answered with 304. `choices`: what a request
    chooses of what is shown."""

    select: Statement
    judge: Judge
    validator: bool = False
    choices: Choices | None = None


class FilterParameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A query parameter that narrows a list. Where it is not given its `default` is taken, if there is one;
    else its piece (switch `filter NAME`) takes no part. `written`: how several values are given, which are an array."""

    name: str
    type: Type
    default: Typed | None = None
    written: Literal["repeated", "comma separated"] | None = None
    trace: tuple[Place, ...] = ()


class Sort(msgspec.Struct, frozen=True):
    """An order of a list, with its switches `sort NAME` and `after NAME`. `keys` are the columns of the result
    that a cursor keeps, the identifier last."""

    name: str
    keys: tuple[int, ...]


class Paging(msgspec.Struct, frozen=True, omit_defaults=True):
    """`largest` None: no bound. With `by: none` the list is given whole. `number` counts from `first`. `places`: where
    each is stated."""

    by: Literal["cursor", "offset", "page", "none"]
    default: int = 0
    largest: int | None = None
    size: str | None = None
    next: str | None = None
    start: str | None = None
    number: str | None = None
    first: Literal[0, 1] = 1
    places: dict[str, Place] = {}


class List(_Operation, frozen=True, tag="list"):
    """Rows. `sort_parameter` takes the name of one of `sorts`; the first of them holds where it is not given and
    is called `""`. `count` gives `page.total`, `head` the columns of what is shown beside the rows. `judge` is asked
    when nothing was found: the path may name rows that have to be there, and who calls may have no right to them.
    `validator`: If-None-Match is answered with 304. `choices`: what a request chooses of what is shown. `grows`: what
    makes it cost the more, the more rows there are, in words."""

    select: Statement
    paging: Paging
    sorts: tuple[Sort, ...]
    filters: tuple[FilterParameter, ...] = ()
    sort_parameter: str | None = None
    sort_trace: tuple[Place, ...] = ()
    count: Statement | None = None
    head: Statement | None = None
    judge: Judge | None = None
    validator: bool = False
    choices: Choices | None = None
    grows: tuple[str, ...] = ()


class Assign(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value that a write stores in `field`, in `$new`.

    `given`: taken from the body where the body gives it. `otherwise`: evaluated where it does not; without it the
    field has no value on create, and is kept on update. `again`: on update, evaluated (instead of kept) when one
    of these fields is given. `secret`: what is stored is a digest, and the value itself is in `issued`. `reads`: the
    fields of the row, as it is being made, that `otherwise` reads. `in_statement`: where the body does not give it, the
    statement makes it. `held`: what `otherwise` gives is held to the field.
    """

    field: str
    type: Type
    given: bool = False
    otherwise: Typed | None = None
    again: tuple[str, ...] = ()
    secret: Literal["token", "password"] | None = None
    reads: tuple[str, ...] = ()
    in_statement: bool = False
    held: Held | None = None


class Untouched(msgspec.Struct, frozen=True):
    """There was nothing to do: `ensure` finds the row as it is wanted, `remove` finds none. `statement` gives a row
    then, with the same columns as the write's own, and no row where something refuses the request."""

    statement: Statement
    response: Response


class PasswordCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of `sign in`: the password that the body gives in `field` is held to the hash that `find` gives, that of the row
    which path and body name. That hash is the root `$verified` then; nothing is where the password is another. `find`
    None: it is a random secret, of which the row holds the SHA-256 digest: that is `$verified`, whosever it is."""

    field: str
    find: Statement | None


class Granted(msgspec.Struct, frozen=True):
    """The scopes of a credential that is made: of the `scopes` that its scheme lists, those that `find` gives, an array
    of what the row is granted, by `$row`, and that are asked for (`$asked`). `store` keeps them (`$issued`)."""

    scopes: tuple[str, ...]
    find: Statement
    store: Statement


class Issue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A credential of `scheme` is made for the row, in the transaction of the write: `store` keeps its digest
    (`$issued`), `clean` removes a few that have ended. `lasts_microseconds` None: it lasts as long as the row."""

    scheme: str
    store: Statement
    clean: Statement
    lasts_microseconds: int | None = None
    granted: Granted | None = None


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """`statement` ends credentials that were issued to the row: where one of `fields`, its passwords, is written; where
    there are none of these, always."""

    statement: Statement
    fields: tuple[str, ...] = ()


class Upheld(msgspec.Struct, frozen=True, omit_defaults=True):
    """An invariant of other rows that a write may break. `failing`, after the write, gives a row if there is one that
    it now fails of: the details of the codes in `details`. `before` the write one row is asked for: the keys, in arrays
    by the names of its columns, by which the rows that have to be asked are known; they are the root `$affected`."""

    condition: Condition
    failing: Statement
    details: tuple[str, ...] = ()
    before: Statement | None = None


class Represented(msgspec.Struct, frozen=True, omit_defaults=True):
    """What GET shows at the path of a write, where its entity tags are of more than the row: `before`, by the path, it
    is compared with If-Match; `after`, by `$row`, it gives the tag of the response."""

    before: Statement
    response: Response
    after: Statement | None = None


class Each(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row is made for each item of an array, which is the root `each` of its values. `pointer`: where the body gives
    the array. `held`: who answers for an array that cannot be made, which is no field's."""

    items: Typed
    pointer: str | None = None
    held: Held | None = None


class Effect(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of another row, or of several. `find` gives the key of the row, which is the root `$path` of the write;
    no row: nothing happens. None: there is a new row, or only one, or one for `each` item. Where the write is of
    `several`, `find` gives the key of each and what its values are made of, in the order of identifiers."""

    write: Write
    find: Statement | None = None
    each: Each | None = None


class Effects(msgspec.Struct, frozen=True):
    """What else changes in the transaction of a write, in this order. `acted_on` gives what is read of the row that the
    write acted on: by `$row` as it has become, or, before a deletion, by what the deletion finds it by. That is the
    root `resource` of the effects."""

    resource: str
    acted_on: Statement
    effects: tuple[Effect, ...]


class Write(_Operation, frozen=True, tag="write"):
    """A change of one row, with everything that guards it in its own WHERE.

    The statement returns the row's columns (as `response` wants them), then the detail of each code in `details`,
    a text, then, for each of `invariants`, whether it fails. Pieces under the switch `new FIELD` take part where
    `$new` has the field. Nothing returned: nothing was touched, and the judge says why. `read`: where the response
    reads beyond the written row, this select follows in the same transaction and gives the columns (and the
    invariants) instead.
    The write then returns the fields of `key` and nothing else, and they are the root `$row` of that select.
    `validator`: If-Match is honoured, and asks for what is `represented` as well where entity tags are of more than the
    row; a write with an `after` of it returns the fields of `key`. So does one that `upholds` invariants of other rows.
    `before` and `after` are the events that the write causes, each written in its
    transaction: those of a deletion are found before it (they show the row as it was), the others by `$row` after it.
    The write then returns the fields of `key`, as where there is a `read`. `subscribes`: the row is a subscription,
    whose secret is `issued.secret`. `current`: the row as it is, its revision first, where what is stored may depend on
    it: what is merged into an object, or a value that is made from fields which the body does not give. The statement
    then has the switch `as it was`, under which it acts on no other revision. `untouched`: what `ensure` and `remove`
    do where the statement touches nothing; only if that finds nothing either, the judge is asked. What `remove` returns
    are the fields of the row as it was (or, untouched, as it would be), which are the root `$row` of its `read`.
    `password` is checked before anything is written; the statement of a sign in that changes nothing is a select, as
    that of every sign out. A
    write that `issues` or `ends` credentials returns the fields of `key`, as where there is a `read`.
    """

    verb: Literal[
        "create", "update", "replace", "delete", "transition", "ensure", "remove", "sign in", "grant token", "sign out"
    ]
    statement: Statement
    judge: Judge
    assigns: tuple[Assign, ...] = ()
    held: tuple[HeldColumns, ...] = ()
    """What the statement makes, by columns of the judge. Where one has a schema, the judge is asked before the
    statement."""
    key: tuple[str, ...] = ()
    read: Statement | None = None
    current: Statement | None = None
    invariants: tuple[Condition, ...] = ()
    details: tuple[str, ...] = ()
    validator: bool = False
    represented: Represented | None = None
    upholds: tuple[Upheld, ...] = ()
    before: tuple[Event, ...] = ()
    after: tuple[Event, ...] = ()
    subscribes: bool = False
    version: str | None = None
    """Where there are versions, that in which a row is made that is told of events: a subscription, or one of the
    contract's own."""
    untouched: Untouched | None = None
    password: PasswordCheck | None = None
    issues: Issue | None = None
    ends: tuple[Ending, ...] = ()
    then: Effects | None = None
    """Done where the write has touched its row; it returns the fields of `key` then, as where there is a `read`."""
    was: Statement | None = None
    """The row as it was, as far as anything reads it: the root `before`. Asked for before the statement."""
    further: tuple[Write, ...] = ()
    """Done with the same row after that, where the write has touched it: one after another, each by `$row`, which is
    the root `$path` of them. The write returns the fields of `key` then, as where there is a `read`."""
    several: bool = False
    """It is of all rows of `$several`: each of them is judged before, and the judge gives a row for each."""
    places: dict[str, tuple[Place, ...]] = {}
    """Where it is stated what gives the fields of the row their values, by field."""


def of_values(write: Write, without: Collection[str] = ()) -> Iterator[Condition]:
    """The conditions with which a write may be refused for what the contract gives fields; `without` some of these."""
    held = (*(each.held for each in write.held), *(each.held for each in write.assigns if each.held is not None))
    held = tuple(each for each in held if each.field not in without)
    arrays = () if write.then is None else (each.each for each in write.then.effects)
    held += tuple(each.held for each in arrays if each is not None and each.held is not None)
    yield from dict.fromkeys(condition for each in held for condition in refusals(each))


def of_lack(write: Write, assign: Assign) -> Condition:
    """The condition with which it is refused where a field has to have a value and is given none. What no body may
    give, the client is not told to give."""
    subject, trace = f"{write.resource}.{assign.field}", write.places.get(assign.field, ())
    if not assign.given:
        return Condition("invalid", subject, trace=trace)
    pointer = "/" + assign.field.replace("~", "~0").replace("/", "~1")
    return Condition("invalid", subject, None, Location("body", pointer, assign.field), "required", trace)


def of_lacks(write: Write) -> Iterator[Condition]:
    """The same of every field to which the contract may give none."""
    makes = (each for each in write.assigns if each.otherwise is not None and not each.type.nullable)
    yield from (of_lack(write, each) for each in makes)


class Sweep(_Operation, frozen=True, tag="sweep"):
    """A change of all the rows that `change.find` gives, under the switches `filter NAME` of `filters`. `judge` is
    asked where it finds none: the path may name rows that have to be there, and who calls may have no right to them.
    `items` gives the columns of the rows by `$several`: as they have become, or, before a deletion, as they are; None:
    no row is shown. `head`: the columns of what is shown beside them."""

    change: Effect
    filters: tuple[FilterParameter, ...] = ()
    items: Statement | None = None
    head: Statement | None = None
    judge: Judge | None = None


class Stream(msgspec.Struct, frozen=True, tag_field="operation", tag="stream", omit_defaults=True, kw_only=True):
    """The event log, followed as it grows. `select` gives the events behind `$log.position`, at most as many as a batch
    holds: position, whether this caller sees the row (null: not), then id, kind, row, time, payload. `resume`: the
    request header that names the last position seen; None: a stream starts with what comes next. `judge`: whether the
    caller is permitted, where that takes rows to say. `concerns`: which events may be seen; None: each may."""

    response: Response
    select: Statement
    resume: str | None = None
    judge: Judge | None = None
    concerns: Concerns | None = None


class Compute(msgspec.Struct, frozen=True, tag_field="operation", tag="compute", omit_defaults=True, kw_only=True):
    """No row of its own: a response from expressions; `select` gives the columns that need the database. `validator`:
    If-None-Match is answered with 304."""

    response: Response
    select: Statement | None = None
    validator: bool = False


Operation: TypeAlias = Read | List | Write | Sweep | Compute | Stream
