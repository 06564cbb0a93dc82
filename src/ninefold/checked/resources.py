"""Resources whose primary key, fields and types are all known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from functools import reduce
from typing import Any, Literal

from ninefold.checked.said import Saying
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Call, Select, Typed, Variable
from ninefold.language.resources import OnDelete
from ninefold.plan.environment import GIVEN, WAS
from ninefold.plan.routes import Rule
from ninefold.values import Boolean, Digest, Object, Row, Type, optional


@dataclass(frozen=True)
class Seen:
    """How callers of an older version see a field. `called` None: it is not there for them. `instead`: the field that
    is shown in its place. What they give is held to `schema` besides that of the field, or, where something is `stored`
    that is made of it (of the root `value`), to `schema` alone, and has the type `given`."""

    called: str | None
    instead: str | None = None
    schema: Mapping[str, Any] | None = None
    given: Type | None = None
    stored: Typed | None = None
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def held_to(self, unknown: str) -> Mapping[str, Any] | None:
        """The schema of what a body gives, by what is said of its unknown members."""
        return self.schemas.get(unknown, self.schema)


@dataclass(frozen=True)
class Anew:
    """What gives a field its value where a write changes one of `fields`."""

    fields: tuple[str, ...]
    value: Typed


@dataclass(frozen=True)
class Field(Saying):
    """`on_create` is what gives it its value in a new row, unless `on_change` does, at every write; `anew`: what does
    where a write changes others, in written order. `schema` is the JSON Schema that a given value must meet, with
    everything that it refers to inside it; that of a reference is its target's primary key's. `schemas`: what it is in
    bodies of whose unknown members something else is said than for all, by the word. `null_shown`: the schema admits
    null."""

    name: str
    type: Type
    schema: Mapping[str, Any]
    place: Place
    null_shown: bool
    required: bool
    stored: bool
    on_create: Typed | None = None
    on_change: Typed | None = None
    anew: tuple[Anew, ...] = ()
    computed: Typed | None = None
    normalise: Typed | None = None
    references: str | None = None
    inverse: str | None = None
    on_delete: OnDelete = "restrict"
    unique: bool = False
    immutable: bool = False
    secret: Literal["token", "password"] | None = None
    sensitive: bool = False
    serial: bool = False
    seen: Seen | None = None
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rules: tuple[Rule, ...] = field(default=(), repr=False, compare=False)

    def held_to(self, unknown: str) -> Mapping[str, Any]:
        """The schema of what a body gives, by what is said of its unknown members."""
        return self.schemas.get(unknown, self.schema)

    @property
    def called(self) -> str | None:
        """Its name for callers; None: it is not there for them."""
        return self.name if self.seen is None else self.seen.called

    @property
    def is_made(self) -> bool:
        """Whether the contract gives it a value, or works one out."""
        return self.serial or any(each is not None for each in (self.on_create, self.on_change, self.computed))


@dataclass(frozen=True)
class Guard:
    """`code` None: it is a bare status."""

    that: Typed
    code: str | None
    place: Place


@dataclass(frozen=True)
class Transition(Saying):
    """`after`: microseconds after which the service takes it by itself, or the time or duration over the row at or
    after which it does; None: it waits to be asked."""

    name: str
    origins: tuple[str, ...]
    to: str
    place: Place
    guards: tuple[Guard, ...] = ()
    sets: tuple[tuple[str, Typed], ...] = ()
    after: int | Typed | None = None
    also: tuple[Effect, ...] = ()


@dataclass(frozen=True)
class Effect:
    """What changes of other rows: `verb` is `create`, `update`, `delete`, or a transition's name. `where`: which
    rows, `of_one`: there is one at most, by the fields `known_by`; of a row that is made, whether it is. `each`: one is
    made for each item of this array. A `put` is two effects, one on rows that are there, and one that makes rows; with
    `each`, a row is changed `unless` it is as it is wanted. All of these and what is set read the row acted on, too, as
    `this`."""

    verb: str
    resource: str
    place: Place
    where: Typed | None = None
    of_one: bool = False
    each: Typed | None = None
    sets: tuple[tuple[str, Typed], ...] = ()
    unless: Typed | None = None
    known_by: tuple[str, ...] = ()

    @property
    def expressions(self) -> tuple[Typed, ...]:
        """All that it reads."""
        asked = (each for each in (self.where, self.each, self.unless) if each is not None)
        return (*asked, *(value for _, value in self.sets))

    def with_expressions(self, change: Callable[[Typed], Typed]) -> Effect:
        """The same with each of them changed."""
        where, each, unless = (None if one is None else change(one) for one in (self.where, self.each, self.unless))
        sets = tuple((name, change(value)) for name, value in self.sets)
        return replace(self, where=where, each=each, unless=unless, sets=sets)


@dataclass(frozen=True)
class Expiry:
    """The time at which a row deletes itself; null: never."""

    at: Typed
    place: Place


@dataclass(frozen=True)
class Machine:
    """`initial`: the state of a new row; None: it is not shown, and nothing makes rows. What else a machine says in
    plain values, each of its transitions says."""

    field: str
    initial: str | None
    states: tuple[str, ...]
    transitions: Mapping[str, Transition]
    gone: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resource(Saying):
    """`creation_stopped`: the gaps for which no row can be made, by whomever, each in one line. `log`: its rows are the
    events of the log."""

    name: str
    place: Place
    primary_key: tuple[str, ...]
    fields: Mapping[str, Field]
    unique: tuple[tuple[str, ...], ...] = ()
    invariants: tuple[Guard, ...] = ()
    machine: Machine | None = None
    creation_stopped: tuple[str, ...] = ()
    expiry: Expiry | None = None
    log: bool = False
    subscriptions: bool = False
    """It is the built-in resource of who is told of events."""

    @property
    def key(self) -> Field:
        """The primary key, where it is one field."""
        return self.fields[self.primary_key[0]]

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The fields that together belong to one row at most: its primary key, each that is unique, and the others."""
        alone = ((each.name,) for each in self.fields.values() if each.unique)
        return tuple(dict.fromkeys((self.primary_key, *alone, *self.unique)))

    @property
    def keys_of_one(self) -> tuple[tuple[str, ...], ...]:
        """The same, those before others of which no row may lack a value: of these, `where` has to ask for one."""
        return tuple(sorted(self.keys, key=lambda key: any(not self.fields[name].required for name in key)))

    def is_known_by(self, name: str) -> bool:
        """Whether a value of the field alone says which row."""
        return self.fields[name].unique or self.primary_key == (name,)

    def is_state(self, name: str) -> bool:
        return self.machine is not None and self.machine.field == name

    def made_otherwise(self, field: Field, *, numbers: bool = True, secret: str | None = None) -> str | None:
        """Why nobody gives a field its value; None: somebody may. `numbers`: nor one that the service numbers rows by;
        `secret`: nor a secret, of which this is said."""
        if field.computed is not None:
            return "is computed"
        if field.serial and numbers:
            return "is a number that the service gives"
        if field.secret is not None and secret is not None:
            return secret
        return "is the state, which moves by transitions alone" if self.is_state(field.name) else None

    @property
    def readable(self) -> tuple[Field, ...]:
        """The fields that a row rule may read of what is stored: a secret is compared with nothing."""
        return tuple(each for each in self.fields.values() if each.stored and not isinstance(each.type, Digest))

    def is_fixed(self, name: str) -> bool:
        """Whether what a field has been given once does not change."""
        return self.fields[name].immutable or self.fields[name].serial

    def own(self, name: str, root: str = "") -> Typed:
        """A field of the row as it becomes, or under another root."""
        return Select(Variable(root or self.name, Row(resource=self.name)), name, self.fields[name].type, "field")

    def changes(self, fields: Sequence[str]) -> Typed:
        """Whether a write changes one of these fields. A secret changes where it is given."""
        found = [
            Call("!=", [self.own(name), self.own(name, WAS)], Boolean())
            if self.fields[name].secret is None
            else Call("has", [Select(Variable(GIVEN, Object()), name, Boolean(nullable=True))], Boolean())
            for name in fields
        ]
        return reduce(lambda one, other: Call("||", [one, other], Boolean()), found)

    def made_anew(self, anew: Sequence[Anew], otherwise: Typed | None = None) -> Typed:
        """What gives a field its value because others change. `otherwise`: where none of them does; without it, one of
        them is known to."""
        *first, last = anew
        found = last.value
        if otherwise is not None:
            first, found = [*anew], otherwise
        for each in reversed(first):
            type_ = optional(found.type) if each.value.type.nullable else found.type
            found = Call("?:", [self.changes(each.fields), each.value, found], type_)
        return found

    def made_on_change(self, given: Collection[str], whole: Collection[str]) -> dict[str, tuple[Anew, ...]]:
        """By field, what gives it its value because others change, as far as a write of the fields `given` may change
        them. `whole`: the fields that are given in any case."""
        changed = {*given} | {field.name for field in self.fields.values() if field.on_change is not None}
        found: dict[str, tuple[Anew, ...]] = {}
        waiting = [field for field in self.fields.values() if field.anew and field.name not in whole]
        while more := [field for field in waiting if any(changed & {*each.fields} for each in field.anew)]:
            waiting = [field for field in waiting if field not in more]
            changed |= {field.name for field in more}
            found |= {field.name: field.anew for field in more}
        return found

    def as_given(self, name: str) -> Field:
        """What callers know of a field that they give: in an older version, what is shown in its place."""
        seen = self.fields[name].seen
        return self.fields[name if seen is None or seen.instead is None else seen.instead]


@dataclass(frozen=True)
class Record:
    """A row that the contract itself states: the JSON values of some of its fields, the primary key among them."""

    resource: str
    values: Mapping[str, Any]
    place: Place
