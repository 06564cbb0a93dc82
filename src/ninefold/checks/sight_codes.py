"""The diagnostics of who sees what: callers that nobody is, and rows that a caller learns of."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Code, Severity


def _code(id: str, severity: Severity, title: str, says: str, wrong: str, right: str) -> Code:
    return Code(id, severity, title, f"{says}\n\nWrong: {wrong}\n\nRight: {right}\n")


NOBODY_CALLS = _code(
    "NF0632", Severity.ERROR, "an expression reads `caller` where nobody is the caller",
    "An endpoint for `anyone` alone reads no credential (fixed meaning 8), so that `caller` has no members there, and "
    "no credential is presented that could be ended. The same is so of what is said of `anyone` beside schemes. "
    "`caller.credential` may be read where the endpoint issues one. What is shared with endpoints that know their "
    "callers (views, computed fields, guards of transitions) may ask by `has(caller.…)` whether there is one.",
    "`permissions: {GET /notes: anyone}` and `where: note.owner == caller.user`",
    "`permissions: {GET /notes: [anyone, token]}`, or a `where` that does not read who calls",
)  # fmt: skip

CALLER_COMPUTED = _code(
    "NF0631", Severity.NOTE, "a computed field reads `caller`",
    "A value is the same for everyone who may see it (fixed meaning 17). What depends on who asks is no field: it is "
    "shown by a view. In a later version of the language this is an error.",
    '`following: {type: boolean, computed: "user.followers.exists(f, f.follower == caller.user)"}`',
    "`views: {profile: [username, {following: \"user.followers.exists(f, f.follower == caller.user)\"}]}`",
)  # fmt: skip

LEARNS = _code(
    "NF0593", Severity.NOTE, "a caller learns of rows that it may not see",
    "Row rules say which rows a caller is shown. Computed fields, guards, permissions and invariants read all rows "
    "(fixed meaning 17), so that they are the same whoever asks: who sees the field, filters or sorts by it, or is "
    "refused by the condition, learns something of the rows behind it. That may be meant: that a room is taken says "
    "nothing of who has taken it.",
    '`free: {computed: "!room.bookings.exists(b, b.open)"}` in a response, with a row rule by which the caller sees '
    "its own bookings alone",
    "a row rule by which the caller sees those rows too, or a member of a view, which counts what the caller sees",
)  # fmt: skip

GONE_COUNTED = _code(
    "NF0633", Severity.NOTE, "a computed field reads rows that are gone",
    "A row in a state of `gone` is in no list, total or view, but it is there, and a computed field reads all rows "
    "(fixed meanings 17 and 31): it counts those, too, wherever it is read. That may be meant.",
    "`comments: {type: integer, computed: article.comments.size()}`, where a comment has `gone: deleted`",
    '`comments: {type: integer, computed: "article.comments.filter(c, c.state != \'deleted\').size()"}`',
)  # fmt: skip

CODES: tuple[Code, ...] = (NOBODY_CALLS, CALLER_COMPUTED, LEARNS, GONE_COUNTED)
