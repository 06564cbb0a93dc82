"""What an endpoint may do: the closed list of verbs, and what each of them means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ninefold.vocabulary.endpoints import ENDS, GRANT, VERBS


class Deed(NamedTuple):
    """One row of the table. `row`: how the row that is acted on is known. `shown`: what a response shows of it."""

    does: str
    row: str
    body: str
    shown: str


_NONE = "–"
_NAMED = "the one that the path names, or `row`"

_TAKES_A_TRANSITION = Deed(
    "Takes that transition of part 3, if the row is in one of its `from`; else it is an `illegal transition`.",
    _NAMED, "the fields that it may give besides, or `none`", "the row, as it has become",
)  # fmt: skip

_OF_ALL_ROWS = Deed(
    "The same of all rows that the path, `where` and the given `filters` leave and that the caller sees: of all, or, "
    "where one of them is refused, of none (fixed meaning 75).",
    "all; those under a row of the path, where it names one",
    "as of one row; of `delete`: members that are no fields",
    "`page.items`, as they have become or, deleted, as they were; `page.total`",
)  # fmt: skip

_DEEDS: Mapping[str, Deed] = {
    "create": Deed(
        "Makes a row. The body gives fields; path names set the references that they go through; `sets` gives values; "
        "all else is as its `on create` says.",
        "the new one", "the fields that clients may give, or `none`", "the row"),
    "read": Deed("Shows a row.", _NAMED, _NONE, "the row"),
    "list": Deed(
        "Shows rows: those that the caller may see, of which `where` and the given `filters` hold, in an order "
        "(`sorts`), a page at a time (`pages`).",
        "all; those under a row of the path, where it names one (`/orders/{order.id}/lines`)", _NONE,
        "`page.items` and the other names of `page`"),
    "update": Deed(
        "Changes a row: what the body gives, read as `patch` says, and what `sets` says. The other fields keep their "
        "values.",
        _NAMED, "the fields that clients may change, or `none`", "the row, as it has become"),
    "replace": Deed(
        "Changes a row in whole: a field of the body that the request leaves out becomes what its `on create` says, or "
        "has no value. Fields that the body does not name keep their values.",
        _NAMED, "the fields that clients give", "the row, as it has become"),
    "delete": Deed(
        "Deletes a row, and what `on delete: cascade` takes with it.", _NAMED, _NONE,
        "the row's own fields, as they were"),
    "ensure": Deed(
        "Makes a row, or finds the same one there already: then nothing changes. One that is there and has other "
        "values is `different`. Good ends: `created`, `unchanged`.",
        "by its identifier or unique fields, from the path, the body and `on create` (fixed meaning 41)",
        "as of `create`", "the row"),
    "remove": Deed(
        "Deletes a row, or finds that there is none. Good ends: `removed`, `absent`.", "as of `ensure`, or `row`",
        _NONE, "the row's own fields, as they were"),
    "sign in": Deed(
        "Checks a password; with `issues`, whoever knew it is given a credential. Else it is `sign in refused`.",
        "the one that path and body name", "what finds the row, and its `secret: password`",
        "the row, `caller.credential`"),
    GRANT: Deed(
        "Issues a token to a client that knows its secret (RFC 6749, section 4.4).",
        "the one that `client_id` names", "its identifier as `client_id`, its secret as `client_secret`",
        "the row, `caller.credential`, `granted`"),
    "sign out": Deed(
        "Ends credentials that the service issued: which, `ends` says.",
        "the one that the credential belongs to, or that the path or `row` names", _NONE, _NONE),
    "compute": Deed(
        "Shows what expressions make of the request, of the caller and of `all(R)`. Nothing changes.", "none",
        "by other methods than GET and DELETE: `none`, or a shared schema", "any template"),
    "subscribe": Deed(
        "Makes a `subscription`: an address, and the kinds of events that are sent to it.", "a new `subscription`",
        "`subscription.url` and `subscription.kinds`", "`subscription`, `issued.secret`"),
    "unsubscribe": Deed("Ends a subscription.", "the `subscription` that the path names", _NONE, _NONE),
    "stream events": Deed(
        "Tells of events as they happen, as long as the caller listens (part 6).", "none", _NONE, "`stream`"),
    "call": Deed(
        "Calls a function of the operator's (`calls`), outside of every transaction. Alone, it shows what the function "
        "gives; before `create`, `update`, `replace`, `delete` or a transition, these have it.",
        "none", "as of `compute`, or of what follows", "`result.NAME`; and what follows shows"),
}  # fmt: skip

ALONE = frozenset(["compute", "subscribe", "unsubscribe", "stream events"])
"""Verbs that act on no resource of the contract's own, and are written alone."""


ALL = " all"
"""What stands behind a verb that is done to all the rows of a resource: `delete all todo`."""

OF_ALL = frozenset(["update", "delete"])
"""The verbs that can be done to all rows; a transition can too."""


def table() -> Iterator[tuple[str, ...]]:
    """How each is written (R stands for a resource), what it does, which row, the body and what may be shown."""
    for verb in VERBS:
        deed = _DEEDS[verb]
        yield (f"`{verb}`" if verb in ALONE else f"`{verb} NAME`" if verb == "call" else f"`{verb} R`", *deed)
        if verb == "remove":
            assert verb in ENDS
            yield ("a transition: `close note`", *_TAKES_A_TRANSITION)
            yield ("`update all R`, `delete all R`, `close all note`", *_OF_ALL_ROWS)
