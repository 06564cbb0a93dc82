"""The roots that a plan's expressions read, and where the server takes their values from.

Names with a dollar sign cannot be written in a contract: they are between planner and server. Rows are roots, too, by
the names of their resources (`with_rows`): in a value given on create or on change the row as it is being made, field
by field, and in what follows the row acted on.

A bind whose expression cannot be evaluated (the caller has no such member, the body did not give the field) is
NULL, which no condition holds for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypedDict, cast

PATH: Final = "$path"
BODY: Final = "$body"
NEW: Final = "$new"
GIVEN: Final = "$given"
ANEW: Final = "$anew"
WAS: Final = "$was"
FILTER: Final = "$filter"
CHOSEN: Final = "$chosen"
RESULT: Final = "result"
LIST: Final = "$list"
IF: Final = "$if"
WRITE: Final = "$write"
CREDENTIAL: Final = "$credential"
ISSUED: Final = "$issued"
ARISEN: Final = "$arisen"
ASKED: Final = "$asked"
VERIFIED: Final = "$verified"
ROW: Final = "$row"
JUDGE: Final = "$judge"
DUE: Final = "$due"
LOG: Final = "$log"
AFFECTED: Final = "$affected"
SEVERAL: Final = "$several"
REFUSED: Final = "$refused"
REQUESTED: Final = "$requested"
THIS: Final = "this"
EACH: Final = "each"
SIGNING: Final = "$signing"

Values: TypeAlias = dict[str, Any]
"""Values by the names that the contract gives them: of fields, of parameters, of what the operator gives."""


class Asked(TypedDict, total=False):
    """`scopes`: None: all."""

    scopes: list[str] | None


class Granted(TypedDict):
    """What comes with a token: for how many seconds, and what it may."""

    expires_in: int | None
    scope: str | None
    scopes: list[str]


class Issued(TypedDict, total=False):
    """Of a credential just made."""

    digest: bytes
    expires: str | None
    scopes: list[str]


class Precondition(TypedDict, total=False):
    """`there`: an If-Match came, which asks for a row. `match`: the revisions that the row may have; without them, any.
    `others`: those that it may not have."""

    there: bool
    match: list[str]
    others: list[str]


class Refused(TypedDict, total=False):
    """Of what the request gives there, something is refused."""

    body: bool
    parameters: bool
    path: bool


class Several(TypedDict, total=False):
    """Of a write of several rows: what is known of each before, and the keys of those that were written; JSON arrays of
    arrays of stored forms."""

    wanted: str
    written: str


class Written(TypedDict, total=False):
    """`revision`: that this write gives; `was`: that of the row as it was read."""

    revision: str
    was: Any


Environment = TypedDict(
    "Environment",
    {
        # Of every call. `caller`: the row that the credential belongs to, as loaded under its resource's name, and what
        # the scheme adds; `request`: values of the path that are no fields, query, headers, and of the body what is no
        # field.
        "now": str,
        "caller": Mapping[str, Any],
        "request": dict[str, Any],
        "operator": Mapping[str, object],
        "$sources": Any,
        # Of the request. `$path`: values by the name in braces, as written; `$body`: decoded values by field, where
        # they were given; `$requested`: true, by field, for what the body gives fields of the row that it is about.
        "$path": Values,
        "$body": Values,
        "$requested": dict[str, bool],
        "$refused": Refused,
        "$filter": Values,
        "$chosen": frozenset[str],
        "$list": Values,
        "$if": Precondition,
        "page": Mapping[str, Any],
        "result": Any,
        # Of who calls: `$credential` is what the one presented is found by, `$asked` and `granted` are of
        # a grant, `$verified` is the hash of the password in the body once it was found to be right, and `issued`
        # are secrets just made, by field.
        "$credential": Mapping[str, Any],
        "$issued": Issued,
        "$asked": Asked,
        "$verified": Values,
        "issued": Values,
        "granted": Granted,
        "$signing": Mapping[str, bytes],
        # Of a write. `$new`: the values that it stores, by field; `$given`: of these, true for what the body gives;
        # `$anew`: true for what is made anew because others change; `$was`: the row as it was read, by field;
        # `$row`: the primary key of the row written, by field, for the select that reads it back; `before`: rows as
        # they were, by resource; `$affected`: keys as they were, of rows whose invariants are asked again after it.
        "$new": Values,
        "$given": dict[str, bool],
        "$anew": dict[str, bool],
        "$was": Values,
        "$write": Written,
        "$row": Values,
        "before": Values,
        "$affected": Values,
        "$several": Several,
        "$judge": Mapping[str, bool],
        # Of what follows: `this` is the row that the operation acts on, `each` the item that a row is made of;
        # `$arisen`: events that are written when that of their cause is.
        "this": Values,
        "$arisen": list[Callable[[], None]],
        "each": Any,
        # Of the event log: `position`, the last one seen, or the one that was just given; then `lane`, `due`, `version`
        # of the deliveries, and the `subscription` that alone is meant. Of a sweep: `until`, the last time of entering
        # that is due; `beyond`, the last that is not asked for; `skip`, how many rows to leave; `most`, how many.
        "$log": Mapping[str, Any],
        "$due": Mapping[str, Any],
    },
    total=False,
)
"""What the expressions of one call read, by their roots."""


NO_PARAMETERS: Final[dict[str, Any]] = {"path": {}, "query": {}, "headers": {}}
"""The root `request` where there is none."""


def with_rows(env: Environment, rows: Mapping[str, Any]) -> Environment:
    """The same with rows under the names of their resources, which are the contract's and so no type's."""
    return cast(Environment, {**env, **rows})


REVISION_COLUMN = "$revision"
"""The hidden column from which entity tags are made: random, and new at every write."""

POSITION, AS_WANTED = "$n", "$same"
"""The columns of a row that an item names: the item's position, and whether the row is as it is wanted."""

ENTERED_COLUMN = "$entered"
"""The hidden column of a resource with states: when a row entered the state that it is in."""

IDENTITY_COLUMN = "$identity"
"""The hidden column of a resource whose rows are told apart from all that are gone: random, and the same for as long as
the row is there, whatever it is known by."""
