"""The steps by which a database of one shape becomes one of another: data, which each kind of database runs in its way.

They are run in one transaction; which of them may be run before and after it, where nodes of both contracts serve at
the same time, is said in `ninefold.upgrade.running`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias, get_args

from msgspec import structs

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.tree import Typed
from ninefold.plan.schema import Aside, Column, Index, Schema, Table
from ninefold.upgrade.sources import Value
from ninefold.values import Type

Support: TypeAlias = Literal[
    "keys", "log", "reading", "deliveries", "broker", "versions", "subscribed", "credentials", "scopes", "callers"
]
"""What is kept beside the rows of resources (`ninefold.plan.schema.Schema`)."""


def aside_name(name: str) -> str:
    """What a table or a column is called that was set aside."""
    return f"$aside {name}"


def set_aside(column: Column, beside: Collection[Aside]) -> Aside:
    """A column that is hidden in its table, `beside` those that are already, under a name that is free."""
    taken = {each.stored for each in beside}
    first = aside_name(column.name)
    names = (first if number == 1 else f"{first} {number}" for number in range(1, len(taken) + 2))
    stored = next(each for each in names if each not in taken)
    return Aside(structs.replace(column, required=False, serial=False), stored)


# Steps


@dataclass(frozen=True, slots=True)
class MakeTable:
    """With its indexes."""

    table: Table


@dataclass(frozen=True, slots=True)
class MakeSupport:
    """`of`: the resource, of `credentials`, `scopes` and `callers`."""

    what: Support
    of: str = ""


@dataclass(frozen=True, slots=True)
class AddColumn:
    """One that may be without a value."""

    table: Table
    column: Column


@dataclass(frozen=True, slots=True)
class AddEntered:
    """The time since when each row is in its state: from now on."""

    table: Table


@dataclass(frozen=True, slots=True)
class AddIdentities:
    """Each row has one. To be taken last: `table` is as it is then, with what is set aside."""

    table: Table


@dataclass(frozen=True, slots=True)
class DropEntered:
    table: str


@dataclass(frozen=True, slots=True)
class Relax:
    """Rows may be without a value."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class Require:
    """No row may be without a value."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class SetAside:
    """A column stays, hidden and free of all demands, under the name that `aside` has."""

    table: str
    aside: Aside


@dataclass(frozen=True, slots=True)
class TakeBack:
    """A column that was set aside has its name again."""

    table: str
    aside: Aside


@dataclass(frozen=True, slots=True)
class Remake:
    """A table is made anew as `table`, with the rows that it has. `values`: of each column that rows have a value of,
    where it comes from. `asides`: those of the new table, each with the column of the old one that it keeps. `entered`,
    `identified`: the old one says when rows entered their states, and has their identities."""

    table: Table
    values: Mapping[str, Value]
    asides: tuple[tuple[Aside, str], ...] = ()
    entered: bool = False
    identified: bool = False


@dataclass(frozen=True, slots=True)
class SetCredentialsApart:
    """The credentials that are issued to rows are kept apart while their table is made anew, by what these are known by
    from then on. `key`: by what they were, `values`: where that comes from, by its name."""

    table: str
    key: tuple[str, ...]
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class TakeCredentialsBack:
    """`scopes`: some were granted some."""

    table: str
    scopes: bool


@dataclass(frozen=True, slots=True)
class FollowSubscribers:
    """Who subscribed is known as a row of the table is from then on. `key`: by what it was, `values`: where that comes
    from, by its name."""

    table: str
    key: tuple[str, ...]
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class SetDeliveriesApart:
    """The same of events that wait for rows. `was`: the columns of the key, `now`: where that comes from by which they
    are known then (None: no row has it), each with its stored type. `versions`: some are of others than the newest."""

    table: str
    was: tuple[tuple[str, Type], ...]
    now: tuple[tuple[Value | None, Type], ...]
    versions: bool


@dataclass(frozen=True, slots=True)
class TakeDeliveriesBack:
    """`of`: the shape in which they are kept from then on."""

    of: Schema


@dataclass(frozen=True, slots=True)
class SetTableAside:
    """The rows of a resource stay, hidden, and refer to nothing any more."""

    table: Table


@dataclass(frozen=True, slots=True)
class TakeTableBack:
    """As it was set aside; `table` is what it was."""

    table: Table


@dataclass(frozen=True, slots=True)
class MakeIndex:
    table: str
    index: Index


@dataclass(frozen=True, slots=True)
class DropIndex:
    index: Index


@dataclass(frozen=True, slots=True)
class RenameTable:
    """`issued`: by which columns credentials know its rows; None: none do. `subscribers`: who subscribed may be one."""

    old: str
    new: str
    issued: tuple[str, ...] | None
    scopes: bool
    subscribers: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """`credentials`: some are issued to its rows, and know them by it; `subscribers`: so is known who subscribed."""

    table: str
    old: str
    new: str
    credentials: bool = False
    subscribers: bool = False


Reads: TypeAlias = Mapping[str, tuple[str, Type]]
"""What an expression reads as `old.NAME`: the column, and the type of what it holds."""


@dataclass(frozen=True, slots=True)
class Said:
    """Where a decision stands, and the fields of its rows by which one is told, for which it cannot be worked out."""

    at: str
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fill:
    """A column has the value of an expression, in the rows of which `where` holds; None: in all. `whole`: of each there
    has to be one. `said`: None of what the contract decides itself."""

    table: str
    column: str
    type: Type
    value: Typed
    where: Typed | None
    reads: Reads
    whole: bool = False
    said: Said | None = None


@dataclass(frozen=True, slots=True)
class MapState:
    """`kept`: rows are in the new state since they were in the old one; else from now on. `by`: the column that says in
    which they were."""

    table: str
    column: str
    by: str
    old: str
    new: str
    kept: bool


@dataclass(frozen=True, slots=True)
class RemoveRows:
    table: str
    where: Typed | None
    reads: Reads
    said: Said | None = None


@dataclass(frozen=True, slots=True)
class Reissue:
    """The secrets of all rows end: none is kept where rows may be without one, else one that nobody knows."""

    table: str
    column: str
    password: bool
    required: bool


@dataclass(frozen=True, slots=True)
class CallCredentials:
    """What was issued to rows of the table as of one scheme is of another one."""

    table: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class DropDeliveries:
    """Nothing is delivered to anybody any more: who subscribes to what is known of their rows."""


@dataclass(frozen=True, slots=True)
class CallReceivers:
    """The rows that events go to, or what they are known by, are called as they are in this shape."""

    of: Schema


@dataclass(frozen=True, slots=True)
class Keep:
    """What a column holds, in a column of its own until `Forget` (`ninefold.upgrade.as_it_was`)."""

    table: str
    column: str
    to: str


@dataclass(frozen=True, slots=True)
class Forget:
    table: str
    column: str


Decision: TypeAlias = (
    RenameTable | RenameColumn | Fill | MapState | RemoveRows | Reissue | DropDeliveries | CallReceivers | Keep | Forget
)

Beside: TypeAlias = (
    SetCredentialsApart | TakeCredentialsBack | FollowSubscribers | SetDeliveriesApart | TakeDeliveriesBack
    | CallCredentials | DropDeliveries | CallReceivers
)  # fmt: skip
"""What is done to that which is kept beside rows, and knows them by their key."""

Step: TypeAlias = (
    MakeTable | MakeSupport | AddColumn | AddEntered | AddIdentities | DropEntered | Relax | Require | SetAside
    | TakeBack | Remake | SetTableAside | TakeTableBack | MakeIndex | DropIndex | Decision | Beside
)  # fmt: skip

UNGUARDED = (Remake, SetTableAside, TakeTableBack, *get_args(Decision))
"""Nothing keeps references while these are taken."""

# What has to be so among the rows that are there


@dataclass(frozen=True, slots=True)
class HaveValue:
    """Every row of a table has a value in a column, by its old name."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class Differ:
    """No two rows have the same in all of these columns."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refer:
    """What a column holds is the `key` of a row of `target`."""

    table: str
    column: str
    target: str
    key: str


@dataclass(frozen=True, slots=True)
class AreIn:
    """What a column holds is one of these."""

    table: str
    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AreNone:
    """The table has no rows. An empty `column`; else none that has a value there."""

    table: str
    column: str = ""


@dataclass(frozen=True, slots=True)
class Convert:
    """What a column holds can be converted, and nothing is lost by that."""

    table: str
    column: str
    old: Type
    new: Type


@dataclass(frozen=True, slots=True)
class AreSecrets:
    """What a column holds is hashed as a password is; else digests of tokens."""

    table: str
    column: str
    passwords: bool


Premise: TypeAlias = AreSecrets | HaveValue | Differ | Refer | AreIn | AreNone | Convert
