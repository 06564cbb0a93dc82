"""The verbs: one row each. What an endpoint may do is this closed list, and the transitions of part 3 besides.

Whoever asks which verbs do something asks a column: `kind_of(action.verb).makes`. A set of verbs that is kept anywhere
else has to be kept alike, and is not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass

Which: TypeAlias = Literal["new", "known", "named", "found", "caller's", "all", "none"]
"""How the row is known that a verb acts on: it is a new one; by its primary key or unique fields, whether it is there
or not; by the path or `where`; by what body and path name (who signs in); by the credential presented, or the path; it
is all of them; there is none."""


@dataclass(frozen=True, slots=True)
class Page:
    """What the page of the language says of it. `shown`: what a response shows."""

    does: str
    row: str
    body: str
    shown: str


Does: TypeAlias = Literal["makes", "changes", "removes"]


@dataclass(frozen=True, slots=True)
class Verb:
    """What a verb is. `word`: in a sentence, before the resource; `told`: the sentence, with the resource in it;
    `page`: of those that a contract writes."""

    name: str
    word: str
    told: str
    row: Which
    page: Page | None = None
    of: str = ""
    """The verb that a contract writes, where its responses or its `grant` say which of several kinds it is; none: its
    own name."""
    also: tuple[str, ...] = ()
    """What others call it."""
    meanings: tuple[str, ...] = ()
    """The fixed meanings that say more of it."""

    acts_on: Literal["a resource", "a function", "events", "nothing"] = "a resource"
    arises: tuple[str, ...] = ()
    """The verbs whose events arise of it, by its good ends; none: its own."""

    @property
    def streams(self) -> bool:
        """Whether events are told as they happen, over the connection of the request."""
        return self.acts_on == "events"

    does: Does | None = None
    """What becomes of a row of the contract's own."""
    writes: bool = True
    """Whether anything may be another afterwards: the others can be done as often as one likes."""
    outcomes: tuple[str, ...] = ()
    """Its good ends where there are several: what was to be done was done, or, the last of them, nothing was to do."""
    told_without: str = ""
    """`told` where the responses have no answer for the last of its outcomes."""
    is_whole: bool = False
    """Whether a field that nothing gives is made as on create."""

    takes_values: bool = False
    """Whether it takes what a body gives."""
    is_given_once: bool = False
    """Whether a body gives what no later request changes."""
    patches: bool = False
    """Whether what a body leaves out stays as it is, and `patch` says how it is read (RFC 7396, RFC 6902)."""
    moves: bool = False
    """Whether it moves the state of its row."""
    effects: bool = False
    """Whether `also` says what else changes."""
    etag: bool = True
    """Whether there may be entity tags."""
    issues: bool = False
    """Whether there is one row afterwards, which a credential can be issued to."""
    ends: Literal["may", "has to"] | None = None
    """Of what has a row that may have been issued credentials: whether it can end them, or that is what it does."""
    grants: bool = False
    """Whether its requests and responses are those of an OAuth 2.0 token endpoint (RFC 6749, section 4.4)."""

    of_all: bool = False
    """Whether it can be done to all rows of a resource."""
    as_effect: bool = False
    """Whether it can be an effect, under its own name."""
    is_first: bool = False
    """Whether it can only be the first of several operations: it says which row all act on, and takes what the request
    gives."""
    after_call: bool = False
    """Whether a function can be called before it."""
    by_itself: tuple[str, str] = ("is done by itself", "it has an endpoint of its own")
    """Why it stands alone, where it is not the first of several operations, and what to do instead."""
    answer: Literal["the new row", "the row", "a page", "nothing", "a token", "events"] | None = None
    """What it answers by convention; none: that is the contract's to show."""

    @property
    def makes(self) -> bool:
        return self.does == "makes"

    @property
    def changes(self) -> bool:
        return self.does == "changes"

    @property
    def removes(self) -> bool:
        return self.does == "removes"

    @property
    def gives_values(self) -> bool:
        """Whether it leaves a row of the contract's own with values that it has not had."""
        return self.makes or self.changes

    @property
    def sets(self) -> bool:
        """Whether `sets` gives values to its row."""
        return self.takes_values and self.acts_on == "a resource"

    @property
    def reads_rows(self) -> bool:
        return not self.writes and self.acts_on == "a resource"

    @property
    def reads_one(self) -> bool:
        """Whether it shows one row, and changes nothing."""
        return self.reads_rows and self.row == "named"

    @property
    def may_make(self) -> bool:
        """Whether it makes a row where there is none yet, and finds the one that there is."""
        return self.row == "known" and self.makes

    @property
    def may_be_absent(self) -> bool:
        """Whether a row that is not there is no error by itself."""
        return self.row == "known"

    @property
    def compares(self) -> bool:
        """Whether a row that is there with other values refuses it."""
        return self.may_make and "replaced" not in self.outcomes

    @property
    def is_of_what_becomes(self) -> bool:
        """Whether its checks read the row as it becomes: those of `put` do, whichever of its outcomes has an answer."""
        return self.is_whole and self.row != "new"

    @property
    def is_of_one(self) -> bool:
        """Whether the path or `where` has to say which one row it acts on."""
        return self.row == "named" or (self.row == "known" and self.removes)

    @property
    def is_conditional(self) -> bool:
        """Whether a request may ask, by `If-Match` and `If-None-Match`, what its row is before it is written (RFC 9110,
        section 13.1), be there entity tags or none."""
        return self.does is not None and self.row in ("named", "known")

    @property
    def is_of_found(self) -> bool:
        """Whether it acts on a row that is there already, however it is known, or on all."""
        return self.is_of_one or self.row in ("found", "caller's", "all")

    @property
    def is_of_all(self) -> bool:
        """Whether it acts on all rows that `where` and the request leave."""
        return self.row == "all"

    @property
    def lists(self) -> bool:
        """Whether it shows rows in an order, a page at a time."""
        return self.answer == "a page"

    @property
    def is_of_many(self) -> bool:
        """Whether it has a meaning only where a resource has more rows than one."""
        return self.acts_on == "a resource" and (self.row != "named" or self.removes)

    @property
    def stands_alone(self) -> bool:
        """Whether it is written without what it acts on."""
        return self.acts_on in ("events", "nothing")


_NONE: Final = "–"
_NAMED: Final = "the one that the path names, or `where`"
_NAMED_OR_ALL: Final = f"{_NAMED}; of `all R`: all, or those under a row of the path"
_BECOME: Final = "the row, as it has become; of `all R`: `page.items` and `page.total`"
_SHOWN_BY_RESPONSES: Final = "what a row has become is shown by `responses`"
_NO_ROW_LEFT: Final = ("leaves no row to go on with", "a row that is deleted takes no transition")

GRANT: Final = "grant token"
"""The kind of `sign in` that an OAuth 2.0 token endpoint does (RFC 6749, section 4.4)."""

ALL: Final = " all"
"""What stands behind a verb that is done to all the rows of a resource: `delete all todo`."""

_ROWS: tuple[Verb, ...] = (
    Verb(
        name="create", word="creates", told="creates one `{}`", row="new", does="makes", is_whole=True,
        also=("add", "insert", "new", "make", "post", "register", "store", "save"),
        takes_values=True, is_given_once=True, effects=True, issues=True,
        as_effect=True, is_first=True, after_call=True, answer="the new row",
        page=Page(
            "Makes a row. The body gives fields; path names set the references that they go through; `sets` gives "
            "values; all else is as its `on create` says.",
            "the new one", "the fields that clients may give, or `none`", "the row")),
    Verb(
        name="read", word="shows", told="shows one `{}`", row="named", writes=False, answer="the row",
        also=("get", "show", "fetch", "view", "find", "retrieve", "return", "select", "load", "see"),
        by_itself=("shows a row", _SHOWN_BY_RESPONSES),
        page=Page("Shows a row.", _NAMED, _NONE, "the row")),
    Verb(
        name="list", word="lists", told="lists rows of `{}`", row="all", writes=False, answer="a page",
        also=("search", "index", "query", "browse"),
        by_itself=("acts on no one row", _SHOWN_BY_RESPONSES),
        page=Page(
            "Shows rows in an order (`sort`), a page at a time (`pages`). They are those that the caller may see, of "
            "which `where` and what is given of `query` hold.",
            "all; those under a row of the path, where it names one (`/orders/{order.id}/lines`)", _NONE,
            "`page.items` and the other names of `page`")),
    Verb(
        name="update", word="changes", told="changes one `{}`", row="named", does="changes",
        also=("edit", "modify", "change", "patch", "set"),
        takes_values=True, patches=True, effects=True, issues=True, ends="may",
        of_all=True, as_effect=True, is_first=True, after_call=True, answer="the row",
        page=Page(
            "Changes a row: what the body gives, read as `patch` says, and what `sets` says. The other fields keep "
            "their values.",
            _NAMED_OR_ALL, "the fields that clients may change, or `none`", _BECOME)),
    Verb(
        name="put replaced", of="put", word="replaces", told="replaces one `{}`", row="named", does="changes",
        is_whole=True, outcomes=("replaced",), arises=("update",),
        takes_values=True, effects=True, issues=True, ends="may", is_first=True, after_call=True,
        answer="the row"),
    Verb(
        name="delete", word="deletes", told="deletes one `{}`", row="named", does="removes",
        also=("destroy", "drop", "erase", "remove"),
        effects=True, of_all=True, as_effect=True, after_call=True, by_itself=_NO_ROW_LEFT, answer="nothing",
        page=Page(
            "Deletes a row, and what `on delete: cascade` takes with it. Where `responses` names `absent` beside "
            "`deleted`, that there is no such row is as good.",
            f"{_NAMED_OR_ALL}; with `absent`, as of `put`, or `where`", "none; of `all R`: members that are no fields",
            "the row's own fields, as they were; of `all R`: `page.items` and `page.total`")),
    Verb(
        name="put ensured", of="put", word="creates",
        told="creates one `{}`, or compares the one that is there and leaves it",
        told_without="creates one `{}` where there is none",
        row="known", does="makes", is_whole=True, outcomes=("created", "unchanged"), arises=("create",),
        takes_values=True, is_given_once=True, effects=True, is_first=True),
    Verb(
        name="put", word="creates or replaces", told="creates one `{}`, replaces the one that is there, or leaves it",
        told_without="creates one `{}`, or replaces the one that is there",
        row="known", does="makes", is_whole=True, outcomes=("created", "replaced", "unchanged"),
        also=("ensure", "replace", "upsert", "overwrite"),
        arises=("create", "update"), takes_values=True, effects=True, as_effect=True, answer="the row",
        by_itself=(
            "may find the row in any state",
            "a transition can follow where `replaced` is the only outcome that is stated, or is not stated"),
        page=Page(
            "Makes a row where there is none (`created`), changes the one that is there in whole (`replaced`), or "
            "finds it as it is wanted (`unchanged`).",
            "the one that `where` names, or by its primary key or unique fields, from the path, the body, `sets` and "
            "`on create`; where `replaced` alone is named, the one that the path names, or `where`",
            "the fields that clients give, or `none`", "the row, as it has become")),
    Verb(
        name="delete if there", of="delete", word="deletes", told="deletes one `{}`, if there is one", row="known",
        does="removes", outcomes=("deleted", "absent"), arises=("delete",), effects=True, by_itself=_NO_ROW_LEFT),
    Verb(
        name="sign in", word="signs in to", told="signs in to one `{}`", row="found",
        also=("login", "log in", "signin", "authenticate"),
        takes_values=True, is_given_once=True, effects=True, etag=False, issues=True, ends="may",
        is_first=True, answer="a token",
        page=Page(
            "Checks a password, or, with `grant`, the secret of a client; with `issues`, whoever knew it is given a "
            "credential. Else it is `sign in refused`.",
            "the one that path and body name", "what finds the row, and its secret",
            "the row, `caller.credential`, `granted`")),
    Verb(
        name=GRANT, of="sign in", word="grants a token to", told="grants a token to one `{}`", row="found",
        arises=("sign in",), meanings=("granted tokens",), takes_values=True, etag=False, issues=True,
        ends="may", grants=True, answer="a token"),
    Verb(
        name="sign out", word="signs out of", told="ends credentials that were issued to one `{}`", row="caller's",
        also=("logout", "log out", "signout", "log off"), meanings=("ended credentials",),
        effects=True, etag=False, ends="has to", answer="nothing",
        by_itself=("changes no row", "credentials of a row that is changed end by `ends`"),
        page=Page(
            "Ends credentials that the service issued: which, `ends` says.",
            "the one that the credential belongs to, or that the path or `where` names", _NONE, "the row")),
    Verb(
        name="compute", word="computes", told="computes a response; it acts on no row", row="none",
        acts_on="nothing", writes=False, takes_values=True,
        by_itself=("acts on no row", "what is computed is shown by `responses`"),
        page=Page(
            "Shows what expressions make of the request, of the caller and of `all(R)`, unless a `check` refuses it. "
            "One that is `false` always does, and no `responses` are asked for. Nothing changes.", "none",
            "by other methods than GET and DELETE: `none`, or a shared schema", "any template")),
    Verb(
        name="stream event", word="streams", told="streams events", row="none",
        meanings=("who is told of events", "streams"),
        acts_on="events", writes=False, etag=False, answer="events",
        page=Page(
            "Tells of events as they happen, as long as the caller listens (part 6).", "none", _NONE, "`stream`")),
    Verb(
        name="call", word="calls", told="calls the function `{}`", row="none", acts_on="a function",
        takes_values=True,
        page=Page(
            "Calls a function of the operator's (`functions`), outside of every transaction. Alone, it shows what the "
            "function gives; before `create`, `update`, `put` of `replaced` alone, `delete` or a transition, these "
            "have it.",
            "none", "as of `compute`, or of what follows", "`result.NAME`; and what follows shows")),
)  # fmt: skip

KINDS: Final[Mapping[str, Verb]] = {verb.name: verb for verb in _ROWS}
"""What an endpoint may do, besides the contract's own transitions, by name; `put`, `delete` and `sign in` in each of
their kinds, whose names have spaces, so that no transition is called like one."""

VERBS: Final[Mapping[str, Verb]] = {name: verb for name, verb in KINDS.items() if not verb.of}
"""The same, as a contract writes it."""

TRANSITION: Final = Verb(
    name="transition", word="takes a transition of", told="takes the transition `{}` of one `{}`", row="named",
    does="changes", takes_values=True, moves=True, effects=True, issues=True, ends="may",
    of_all=True, after_call=True, answer="the row",
    page=Page(
        "Takes that transition of part 3, if the row is in one of its `from`; else it is an `illegal transition`.",
        _NAMED_OR_ALL, "the fields that it gives besides, or `none`; one that is left out keeps its value, and is "
        "`invalid` where the resource requires it", _BECOME),
)  # fmt: skip
"""Each transition of part 3, whatever the contract calls it."""

OUTCOMES: Final = tuple(dict.fromkeys(outcome for verb in _ROWS for outcome in verb.outcomes))
"""The good ends of operations that have several."""

UPON: Final = tuple(
    verb.name for verb in VERBS.values() if verb.writes and verb.acts_on == "a resource" and not verb.arises
)
"""What an event may arise upon, besides the contract's own transitions."""


def kind_of(verb: str) -> Verb:
    """The row of a verb as an action has it; what is no verb of the list is a transition."""
    return KINDS.get(verb, TRANSITION)


def kind_by(verb: str, outcomes: Collection[str], grants: bool) -> str:
    """Which kind of a verb it is whose responses state these outcomes: `put` that replaces nothing compares, one that
    does nothing else changes a row that is there, and `delete` may find none where `absent` has an answer. `grants`:
    whether a client signs in by a grant."""
    if verb == "sign in":
        return GRANT if grants else verb
    if verb == "put" and outcomes:
        return "put replaced" if {*outcomes} == {"replaced"} else verb if "replaced" in outcomes else "put ensured"
    return "delete if there" if verb == "delete" and "absent" in outcomes else verb


def instead_of(verb: str, outcomes: Collection[str]) -> Mapping[str, str]:
    """Of a verb whose responses state some outcomes: what each of the others is refused as, or which it counts as. Of
    `delete` one that is not stated is nothing else."""
    every = kind_of(kind_of(verb).of or verb).outcomes
    found = {
        "created": "not found",
        "replaced": "different" if "unchanged" in outcomes else "conflict",
        "unchanged": "replaced" if "replaced" in outcomes else "conflict",
    }
    return {outcome: told for outcome, told in found.items() if outcome in every and outcome not in outcomes}


# The resources that the language has itself

LOG: Final = "event"
"""The log of events as a resource, unless the contract calls one of its own so."""

SUBSCRIPTION: Final = "subscription"
"""Who is called with which kinds of event, unless the contract calls a resource of its own so."""

BUILT_IN: Final = {
    SUBSCRIPTION: ("id", "url", "kinds"),
    LOG: ("position", "id", "kind", "time", "resource", "row", "payload"),
}
"""All of them, with their fields."""

READ_ONLY: Final = {LOG: tuple(verb.name for verb in VERBS.values() if verb.reads_rows)}
"""Those that nobody writes, with what can be done."""


def arises(verb: str) -> tuple[str, ...]:
    """What an event arises upon where it is done: what `put` makes is created."""
    return kind_of(verb).arises or (verb,)
