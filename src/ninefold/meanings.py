"""The fixed meanings of the language: the same in every service, because no contract could say them in two ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """One row of the table; `text` is Markdown."""

    number: int
    about: str
    text: str


_TABLE: tuple[tuple[str, str], ...] = (
    (
        "Views and templates",
        "A view or template is JSON (RFC 8259, UTF-8), members in written order. A resource's name as a response is "
        "all its fields that are not `secret`, in written order; a reference is shown as its target's identifier "
        "unless a view is applied.",
    ),
    (
        "No value",
        'There is one "no value". It is shown as `null` where the schema admits null, else left out, in templates '
        "too. On create an absent field takes its `on create` or has no value (then `required` decides); in a merge "
        'patch absent keeps, `null` clears a nullable field and is `invalid` for another; `[]` and `""` are values.',
    ),
    (
        "Times, numbers, lengths",
        "Times are RFC 3339, UTC, six digits; `now` is one value per request. `integer` is 64-bit, `number` a double; "
        "what lies outside is `invalid`. Lengths count code points; `format` is asserted; nulls are distinct in "
        "`unique`.",
    ),
    (
        "Who gives a value",
        "`on create` gives the value when the body does not; a body that names the field may still leave it out. "
        "`on change` acts on create too. A field that no `body` names, clients cannot set. An identifier without "
        "`on create` is the client's. A state field moves by transitions alone.",
    ),
    (
        "Pages and filters",
        "A page size outside 1…largest, and a cursor that the service did not make, are `invalid`, never clamped. "
        "Ties are ordered by identifier, nulls last. A filter's `value` has the type that its expression gives it; "
        "text that is not of that type, or a parameter repeated where one is meant, is `invalid`.",
    ),
    (
        "Paths",
        "A path value that is not of the field's type is `missing`. Path names are resolved from the left; the first "
        "row not found is `missing`. A literal segment beats a name. While R's identifier is a gap, a path name that "
        "is no field belongs to that gap. On create and ensure, path names set the references that they go through.",
    ),
    (
        "Merge patches",
        "`patch: merge` reads RFC 7396, sent as `application/merge-patch+json` or as the stated request media type.",
    ),
    (
        "Credentials",
        "No credential or a bad one is `unauthenticated`, also where `anyone` may call besides; a good one that the "
        "endpoint does not admit is `forbidden`. Schemes are tried in written order.",
    ),
    (
        "Conditions and errors in expressions",
        "A condition or boolean `computed` holds only when it is *true*: what CEL calls an error (null in `<`, "
        "division by zero, overflow) is not true, and stays so under `!`, `exists` and `all`, in SQL as in Python. "
        "A condition that reads `caller.x` does not hold for a caller without x.",
    ),
    (
        "Before and after",
        "Guards see the row as it was (on create, as it would be); invariants, responses and events see it as it has "
        "become; `before.R` is as it was. A transition that is due has happened, at the time it was due.",
    ),
    (
        "Precedence",
        "`precedence` orders the conditions; where it is not shown, the closed list (below) does; a condition left "
        "out follows its predecessor there. 501 (blocked, or not in force) precedes every condition but no such path "
        "and method not allowed. All failing rules of all fields are reported, in the contract's order.",
    ),
    (
        "Bare statuses",
        "A condition without a code is answered with its bare status and an empty body: the table below.",
    ),
    ("U+0000", "Text that contains U+0000 is `invalid`."),
    ("Digits of a second", "Timestamps keep six digits of a second; further digits are cut off."),
    (
        "Members given twice",
        "Of members of a JSON object that a body gives twice, the last counts (RFC 8259, section 4, leaves it open).",
    ),
    (
        "References given by clients",
        "A reference to a row that does not exist, or that the caller may not see, is `invalid` at that field by the "
        "rule `refers to`: the same answer for both.",
    ),
    (
        "What row rules narrow",
        "Row rules narrow what filters, sorts, views and computed fields read of other resources. Row rules, "
        "permissions, guards and invariants themselves read all rows. A row that a request has just created, or that "
        "it has just signed in to, is always shown in the response.",
    ),
    (
        "Bodies of `none`",
        "`body: none` where unknown members are refused: a body that is sent must be an object without members. "
        "Where they are ignored, it is not read.",
    ),
    (
        "Content that no fact asks for",
        "GET and DELETE ignore a body unless one is stated, and so do verbs that take no values. An empty body where "
        "one is stated is `malformed`; content without Content-Type is `unsupported media type`.",
    ),
    (
        "Entity tags",
        "An ETag is opaque and changes with every write. `If-Match` and `If-None-Match` act only where "
        "`validators: etag` is stated.",
    ),
    ("Ties", "Where a list's order leaves rows equal, identifiers decide, ascending."),
    ("Names", "The names of resources and fields are CEL identifiers."),
    (
        "No endpoint, no rule of one",
        "The conditions `no such path` and `method not allowed` leave no endpoint: only conditions of every request "
        "can precede them.",
    ),
    (
        "Cascades",
        "A deletion that cascades is one deletion: what refers to a row that it reaches is asked the same question, "
        "and one `refuse` anywhere refuses all of it.",
    ),
    (
        "What rates count",
        "A rate counts every request to its endpoints, whatever becomes of it, but those that a rate refuses; a "
        "request that one of several rates refuses is counted by none. What is answered 501 or reaches no endpoint "
        "is not counted. `caller` is the row to which the credential belongs, told apart by scheme; where no "
        "credential was accepted it is the address. `address` is the whole address of the client. A request for "
        "which an expression has no value is not counted by it. Counts begin anew when the service does.",
    ),
    (
        "How rates count",
        "`fixed window`: `allow` in a window of length `per`, which begins with the first request that finds none "
        "open. `sliding window`: `allow` in any stretch of length `per` (where `allow` is above 1024, times are told "
        "apart to a 1024th part of `per`, taking back late and never early). `token bucket` and `gcra`: `burst` at "
        "once, and then one more each `per / allow`; they differ in nothing that a caller sees. `burst: none` is one "
        "at a time.",
    ),
    (
        "What headers of rates carry",
        "They are sent with every response to a request that a rate counts or refuses. `RateLimit-Policy` and "
        "`RateLimit` are those of draft-ietf-httpapi-ratelimit-headers, an item for each rate, named after it: `q` "
        "is `allow`, `w` is `per` where that is whole seconds, `r` how many requests would be taken now, `t` the "
        "seconds until it is as if there had been none. Of other names the ending says what they carry: `-Policy` "
        "the same as `RateLimit-Policy`; `-Limit`, `-Remaining` and `-Reset` are `q`, `r` and `t` of the rate that "
        "is the nearest to its end. `Retry-After` (seconds) is sent with `rate limited`, and with `unavailable`, "
        "then as 1.",
    ),
    (
        "Idempotency keys",
        "A key is a String of RFC 9651, or visible ASCII without its quotes: `\"abc\"` and `abc` are one. One that "
        "is empty, longer than 255 characters or neither of these is `invalid`; so is a request without one where it "
        "is `required`. It belongs to the endpoint and to the caller; callers without a credential share theirs. The "
        "request is the same if path, query and body are, byte for byte; another one with the key is `idempotency "
        "mismatch`, and one that comes while the first is not answered `idempotency in progress`. Only a success is "
        "kept, in the transaction of what it did, and given again as it was; a refused request leaves its key free. "
        "After `kept` the key means nothing; `kept: none` keeps none, and nothing is done once.",
    ),
    (
        "Too much to do",
        "A service that has more requests on their way than it takes answers `unavailable` before all else. A body "
        "of which nothing comes for half a minute is answered 408 (RFC 9110, section 15.5.9).",
    ),
    (
        "Transitions that the service takes",
        "`after` counts from when the row entered `from`; a transition enters its `to` also where the row was there "
        "already, and the time counts anew. What falls due is taken in the order in which it does, each as of that "
        "time: it is the `now` of guard, `sets` and `on change`. Where its guard or an invariant keeps a row, it "
        "waits: it is asked again after every write and, where its guard reads `now`, as time passes, and is taken as "
        "of then. Nothing of such a transition reads `caller` or `request`.",
    ),
    (
        "Rows that are gone",
        "A row in a state of `gone` answers `gone` to whoever could see it, also where a path only leads through it; "
        "a transition that leaves that state acts on it. It is in no list, total or view; a reference to it shows its "
        "identifier still, and a new one is `invalid`. Its credential is no credential. It keeps its unique values, "
        "and what refers to it. Row rules, permissions, guards and invariants read it like any other.",
    ),
    (
        "Records",
        "A record is a row like any other. At every start, before anything is served, those that are absent are added "
        "and those whose stated values differ are given them again, as a write that nobody asked for: `on create`, "
        "`on change` and invariants take part. What a record does not state is left alone, and so is a row that is no "
        "record any more.",
    ),
)

MEANINGS: tuple[Meaning, ...] = tuple(
    Meaning(number, about, text) for number, (about, text) in enumerate(_TABLE, start=1)
)
"""The table. Numbers never change: a new meaning goes to the end."""

BARE_STATUSES: dict[str, int] = {
    "no such path": 404,
    "method not allowed": 405,
    "unknown version": 400,
    "retired version": 410,
    "rate limited": 429,
    "unauthenticated": 401,
    "sign in refused": 401,
    "forbidden": 403,
    "too large": 413,
    "unsupported media type": 415,
    "not acceptable": 406,
    "malformed": 400,
    "invalid": 422,
    "idempotency mismatch": 422,
    "idempotency in progress": 409,
    "missing": 404,
    "gone": 410,
    "precondition required": 428,
    "stale": 412,
    "illegal transition": 409,
    "guard": 409,
    "invariant": 409,
    "different": 409,
    "conflict": 409,
    "unavailable": 503,
    "timed out": 503,
    "internal": 500,
}
"""The status of each condition of the closed list where no code gives one (meaning 12), in the order of the list."""

NOT_IN_FORCE = 501
"""The status of what is blocked by a gap, or is stated and not in force: it is no condition, and has no code."""


def precedence(stated: Sequence[str]) -> tuple[str, ...]:
    """The whole order of conditions and codes (meaning 11): what is stated, and each condition that is left out
    behind its predecessor in the closed list."""
    order = list(stated)
    closed = list(BARE_STATUSES)
    for index, condition in enumerate(closed):
        if condition not in order:
            order.insert(order.index(closed[index - 1]) + 1 if index else 0, condition)
    return tuple(order)
