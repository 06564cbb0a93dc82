"""Writes: a change of one row, of each kind what there is for it, and what follows in the same transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, TypeAlias, TypeVar

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.authentication import PasswordCheck
from ninefold.plan.events import Event
from ninefold.plan.held import Held, HeldColumns, Upheld, refusals
from ninefold.plan.problems import Condition, Judge, location
from ninefold.plan.responses import Response
from ninefold.plan.statement import Plainly, ResultColumn, Statement
from ninefold.values import Type
from ninefold.values.plain import Plain


class OfResource(msgspec.Struct, frozen=True, tag_field="operation", omit_defaults=True, kw_only=True):
    """`seen`: where it is stated which rows of the resource it is about."""

    resource: str
    response: Response
    seen: tuple[Place, ...] = ()


class Assign(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value that a write stores in `field`, in `$new`. `given`: taken from the body where the body gives it.
    `otherwise`: evaluated where it does not; without it the field has no value on create, and is kept on update, and
    if `kept` in a replacement too. `again`: on update, evaluated (instead of kept) when one of these fields changes.
    `secret`: what is stored is a digest, and the value itself is in `issued`. `reads`: the fields of the row, as it is
    being made, that `otherwise` reads. `in_statement`: where the body does not give it, the statement makes it.
    `held`: what `otherwise` gives is held to the field. `compared`: a row that is there is asked for the same value."""

    field: str
    type: Type
    given: bool = False
    otherwise: Typed | None = None
    again: tuple[str, ...] = ()
    secret: Literal["token", "password"] | None = None
    reads: tuple[str, ...] = ()
    in_statement: bool = False
    held: Held | None = None
    kept: bool = False
    compared: bool = False


class Untouched(msgspec.Struct, frozen=True):
    """There was nothing to do: `put` finds the row as it is wanted, `delete` finds none. `statement` gives a row
    then, with the same columns as the write's own, and no row where something refuses the request."""

    statement: Statement
    response: Response


class Represented(msgspec.Struct, frozen=True, omit_defaults=True):
    """What GET shows at the path of a write, where its entity tags are of more than the row: `before`, by the path, it
    is compared with If-Match; `after`, by `$row`, it gives the tag of the response."""

    before: Statement
    response: Response
    after: Statement | None = None


class Precondition(msgspec.Struct, frozen=True, omit_defaults=True):
    """The write asks what If-Match and If-None-Match ask of its row, and of what is `represented` as well where entity
    tags are of more than the row; a write with an `after` of it is read back."""

    represented: Represented | None = None


class Each(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row is made for each item of an array, the root `each` of its values. `pointer`: where the body gives that.
    `held`: who answers where it cannot be made. `chosen`: the positions of the items that are taken; none: all are. It
    reads `$several`, what `read` gives for each item; so does the `find` of an effect: the row that an item names, its
    position `$n`, and `$same` if it is as wanted; two of one row are `conflict`."""

    items: Typed
    pointer: str | None = None
    held: Held | None = None
    chosen: Statement | None = None
    read: tuple[Typed, ...] = ()
    conflict: Condition | None = None


class Effect(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of another row, or of several. `find` gives the key of the row, which is the root `$path` of the write,
    or says by a row that one is made; no row: nothing happens. None: there is a new row, or only one, or one for `each`
    item. Where the write is of `several`, `find` gives each one's key, in order, and what its values are made of."""

    write: Bulk
    find: Statement | None = None
    each: Each | None = None


# ── What follows a write ──────────────────────────────────────────────────────────────────────────────────────


class _Step(msgspec.Struct, frozen=True, tag_field="step", omit_defaults=True):
    """Done in the transaction of a write that has touched its row, or each of its rows."""


class Subscription(_Step, frozen=True, tag="subscription"):
    """The row is told of events: who called is kept, and in which `version`, where there are some. `signed`: it is of
    the language's own kind, whose secret is `issued.secret`."""

    version: str | None = None
    signed: bool = False


class Effects(_Step, frozen=True, tag="effects"):
    """What else changes, in this order. `acted_on` gives what is read of the row that the write acted on: by `$row` as
    it has become, or, `before` a deletion, by what the deletion finds it by. That is their root `this`."""

    acted_on: Statement
    effects: tuple[Effect, ...]
    before: bool = False


class Occurrences(_Step, frozen=True, tag="events"):
    """The events that the write causes. Each shows the row by `$row`, as it has become, or as it was `before` a
    deletion."""

    events: tuple[Event, ...]
    before: bool = False


class SameRow(_Step, frozen=True):
    """Another write of the same row."""

    write: Update


class Further(SameRow, frozen=True, tag="further"):
    """A transition that follows. `$row` is its root `$path`."""

    write: Transition


class Instead(SameRow, frozen=True, tag="instead"):
    """Of `Put` alone, and in its place: the row that is there, which `find` gives the primary key of, is changed. That
    is the root `$path` of it."""

    write: Replace
    find: Statement


class Scopes(_Step, frozen=True, tag="scopes"):
    """The scopes of the credential that is issued (`$issued`): of the `scopes` that its scheme lists, those that `find`
    gives, an array of what the row is granted, by `$row`, and that are asked for (`$asked`)."""

    scopes: tuple[str, ...]
    find: Statement


class ReadBack(_Step, frozen=True, tag="read"):
    """Gives the columns of the response, and what the write is held to, in the place of the write's own statement: by
    `$row`, of which that returns the fields of `key`. Read where there was nothing to do, too."""

    select: Statement


class Ending(_Step, frozen=True, tag="ending"):
    """`statement` ends credentials that were issued to the row: where one of `fields`, its passwords, is written; where
    there are none of these, always."""

    statement: Statement
    fields: tuple[str, ...] = ()


class Issue(_Step, frozen=True, tag="issue"):
    """A credential of `scheme` is made for the row: `store` keeps its digest (`$issued`), `store_scopes` its scopes,
    `clean` removes a few that have ended. `said`: what the scheme says, such as how long it `lasts`."""

    scheme: str
    store: Statement
    clean: Statement
    said: dict[str, Plain] = {}
    store_scopes: Statement | None = None


Step: TypeAlias = Subscription | Effects | Occurrences | Further | Instead | Scopes | ReadBack | Ending | Issue

STEPS = (Subscription, Effects, Occurrences, Further, Instead, Scopes, ReadBack, Ending, Issue)
"""In the order in which they follow."""

_S = TypeVar("_S", bound=_Step)


# ── Writes ────────────────────────────────────────────────────────────────────────────────────────────────────


class Write(OfResource, frozen=True, kw_only=True):
    """A change of one row, with everything that guards it in its own WHERE; one of the kinds below.

    The statement returns the fields of `key` where a `ReadBack` follows; else the row's columns, as `response` wants
    them, and what it is held to. Nothing returned: nothing was touched, and the judge says why. `upholds`: invariants
    of other rows. `follows`: what is done then, in the order of `STEPS`.
    """

    statement: Statement
    judge: Judge
    key: tuple[str, ...] = ()
    upholds: tuple[Upheld, ...] = ()
    follows: tuple[Step, ...] = ()
    places: dict[str, tuple[Place, ...]] = {}
    """Where it is stated what gives the fields of the row their values, by field."""

    @property
    def verb(self) -> str:
        """Which kind it is, in the words of the language."""
        return str(self.__struct_config__.tag)

    def step(self, kind: type[_S]) -> _S | None:
        """What follows of one kind, of which there is one at most."""
        return next((each for each in self.follows if isinstance(each, kind)), None)

    def steps(self, kind: type[_S]) -> tuple[_S, ...]:
        return tuple(each for each in self.follows if isinstance(each, kind))

    @property
    def ends_well(self) -> tuple[Response, ...]:
        """What it answers: where it did what was to be done, and, the last of several, where there was nothing."""
        without = untouched(self)
        return (self.response,) if without is None else (self.response, without.response)

    def of_end(self, end: int) -> Write | None:
        """The write that did what was to be done, where one of these is told. None: there was nothing to do."""
        return self if end == 0 else None

    @property
    def results(self) -> tuple[ResultColumn, ...]:
        """The columns of which the response is made."""
        read = self.step(ReadBack)
        return (self.statement if read is None else read.select).columns

    @property
    def events(self) -> tuple[Event, ...]:
        found = self.step(Occurrences)
        return () if found is None else found.events

    @property
    def effects(self) -> tuple[Effect, ...]:
        found = self.step(Effects)
        return () if found is None else found.effects


class WithValues(Write, frozen=True, kw_only=True):
    """It leaves a row with values. Pieces under the switch `new FIELD` take part where `$new` has the field. Behind the
    columns of the response stand the detail of each code in `details`, a text, then, for each of `invariants`, whether
    the row as it has become fails it; the first `checks` are asked before anything follows. `held`: what the statement
    makes, by columns of the judge, which is asked before where one has a schema. `of_item`: what statements of several
    rows read of the item of each, behind what `$several` has of that row."""

    assigns: tuple[Assign, ...] = ()
    of_item: tuple[Typed, ...] = ()
    held: tuple[HeldColumns, ...] = ()
    invariants: tuple[Condition, ...] = ()
    checks: int = 0
    details: tuple[str, ...] = ()


class Create(WithValues, frozen=True, kw_only=True, tag="create"):
    """A new row. `several`: one for each row of `$several`, all judged before; the judge gives a row for each."""

    several: bool = False
    plainly: Plainly | None = None


class Ensure(WithValues, frozen=True, kw_only=True, tag="ensure"):
    """A new row, unless none may be made, or one that is there already as it is wanted: `untouched`; None: that has no
    answer. Only if that finds nothing either, the judge is asked. `there` finds the row by itself, where it may be that
    a new one could not be made: of one that is there this says nothing."""

    makes: bool = True
    there: Statement | None = None
    untouched: Untouched | None = None
    precondition: Precondition | None = None


class Put(Ensure, frozen=True, kw_only=True, tag="put"):
    """The same, but that a row which is there with other values is changed `Instead`, if the judge finds nothing."""

    @property
    def ends_well(self) -> tuple[Response, ...]:
        instead = self.step(Instead)
        replaced = self.response if instead is None else instead.write.response
        found = () if self.untouched is None else (self.untouched.response,)
        return self.response, replaced, *found

    def of_end(self, end: int) -> Write | None:
        instead = self.step(Instead)
        return instead.write if instead is not None and end == 1 else super().of_end(end)


class Update(WithValues, frozen=True, kw_only=True, tag="update"):
    """A row that is there, changed. `was`: the row as it was, as far as anything reads it: the root `before`. Asked for
    before the statement. `current`: the row as it is, its revision first, where what is stored may depend on it: what
    is merged into an object, or a value that is made from fields which the body does not give. The statement then has
    the switch `as it was`, under which it acts on no other revision. `several`: as of `Create`, of such rows."""

    was: Statement | None = None
    current: Statement | None = None
    precondition: Precondition | None = None
    several: bool = False


class Replace(Update, frozen=True, kw_only=True, tag="replace"):
    """A field that the body leaves out is made as on create, or has no value."""


class Transition(Update, frozen=True, kw_only=True, tag="transition"):
    """A row comes into another state. `said`: what the transition says in plain values, by its keys."""

    said: dict[str, Plain] = {}


class Delete(Write, frozen=True, kw_only=True, tag="delete"):
    """A row that is there, deleted. `was` and `several`: as of `Update`."""

    was: Statement | None = None
    precondition: Precondition | None = None
    several: bool = False


class Remove(Write, frozen=True, kw_only=True, tag="remove"):
    """A row, deleted if there is one; `untouched`: there is none. What both statements return are the fields of the row
    as it was (or would be): the root `$row` of what follows. `was`: as of `Update`."""

    untouched: Untouched
    was: Statement | None = None
    precondition: Precondition | None = None


class SignIn(WithValues, frozen=True, kw_only=True, tag="sign in"):
    """A row whose password the body gives, checked before anything is written. Where nothing is, the statement is a
    select. `was`: as of `Update`."""

    password: PasswordCheck
    was: Statement | None = None


class Grant(SignIn, frozen=True, kw_only=True, tag="grant token"):
    """The same of a client (RFC 6749, section 4.4), which may ask for some of its scopes: `$asked`."""


class SignOut(Write, frozen=True, kw_only=True, tag="sign out"):
    """A row, found: credentials of it end. The statement is a select."""

    was: Statement | None = None


Written: TypeAlias = Create | Ensure | Put | Update | Replace | Transition | Delete | Remove | SignIn | Grant | SignOut
"""Every kind of write."""

Bulk: TypeAlias = Create | Update | Transition | Delete
"""What may be of several rows."""


def given_values(write: Write) -> tuple[Assign, ...]:
    """How the fields of its row have their values; a row that goes, or that stays as it is, has none."""
    return write.assigns if isinstance(write, WithValues) else ()


def own_invariants(write: Write) -> tuple[Condition, ...]:
    """Those that the row itself is held to."""
    return write.invariants if isinstance(write, WithValues) else ()


def as_it_was(write: Write) -> Statement | None:
    return write.was if isinstance(write, Update | Delete | Remove | SignIn | SignOut) else None


def precondition(write: Write) -> Precondition | None:
    return write.precondition if isinstance(write, Ensure | Update | Delete | Remove) else None


def untouched(write: Write) -> Untouched | None:
    return write.untouched if isinstance(write, Ensure | Remove) else None


def of_values(write: Write, without: Collection[str] = ()) -> Iterator[Condition]:
    """The conditions with which a write may be refused for what the contract gives fields; `without` some of these."""
    made = tuple(each.held for each in given_values(write) if each.held is not None)
    held = (*(each.held for each in write.held), *made) if isinstance(write, WithValues) else ()
    held = tuple(each for each in held if each.field not in without)
    held += tuple(one.each.held for one in write.effects if one.each is not None and one.each.held is not None)
    yield from dict.fromkeys(condition for each in held for condition in refusals(each))


def of_lack(write: Write, assign: Assign) -> Condition:
    """The condition with which it is refused where a field has to have a value and is given none. What no body may
    give, the client is not told to give."""
    subject, trace = f"{write.resource}.{assign.field}", write.places.get(assign.field, ())
    at, rule = (location("body", (assign.field,)), "required") if assign.given else (None, None)
    return Condition("invalid", subject, None, at, rule, trace)
