"""The diagnostics of older versions, NF0701 to NF0799."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Code, Severity


def _code(id: str, title: str, says: str, wrong: str, right: str) -> Code:
    return Code(id, Severity.ERROR, title, f"{says}\n\nWrong: {wrong}\n\nRight: {right}\n")


NOT_THERE = _code(
    "NF0701", "a change is of something that the version above does not have",
    "The way back begins at the version above, with the names that its callers know. What was renamed on the way has "
    "its older name from there on, and what was removed is gone.",
    "`- {rename: order.note, to: comment}` and below it `- {remove: order.note}`",
    "`- {remove: order.note}` alone, or `- {remove: order.comment}` in the version below",
)  # fmt: skip

TAKEN = _code(
    "NF0702", "an older name is taken",
    "In every version a name means one thing. An older name may be taken by something that came later; that has its "
    "own older name, or was not there.",
    "`- {rename: order.note, to: comment}` where `order` has a field `comment` as well",
    "`- {remove: order.comment}` before it, or `- {rename: order.comment, to: remark}`",
)  # fmt: skip

NO_SUCH_CHANGE = _code(
    "NF0703", "this cannot be changed so",
    "Fields, endpoints with their filters and parameters, views, kinds of event and error codes can differ between "
    "versions. A field that is added has a `schema`; an endpoint, a view, a kind or a code that is added or changed "
    "says what it was, under the key of that name. Names that no caller sees (of resources, transitions, views) are "
    "the same in every version.",
    "`- {add: order.memo}`, or `- {rename: order, to: purchase}`",
    '`- {add: order.memo, schema: {type: string}, is: "order.note"}`',
)  # fmt: skip

ODD_DATES = _code(
    "NF0704", "the end of a version comes before its announcement",
    "A version is deprecated first, and then no longer served: `sunset` says when that is to be, and is not earlier "
    "than `deprecated` (RFC 9745, section 4); it is `retired` no earlier than `sunset` promised.",
    "`deprecated: 2026-06-01` and `sunset: 2026-01-01`",
    "`deprecated: 2026-01-01` and `sunset: 2026-06-01`",
)  # fmt: skip

NO_WAY_BACK = _code(
    "NF0705", "the newest version has changes",
    "The document describes the newest version, which is the first of `versions`. There is nothing above it from which "
    "a way back could lead.",
    "`versions: {\"2\": {changes: [{remove: order.note}]}, \"1\": {}}`",
    "`versions: {\"2\": {}, \"1\": {changes: [{remove: order.note}]}}`",
)  # fmt: skip

UNNAMEABLE = _code(
    "NF0706", "no request can name this version",
    "A version in the path is one segment of it, which no endpoint has for its own first; in a header, a query or a "
    "media type it is visible ASCII. A query parameter that names the version means nothing else anywhere.",
    "`scheme: path` with a version `2026/06`, or `scheme: {query: status}` where a list has a filter `status`",
    "a version `2026-06`; `scheme: {query: version}`",
)  # fmt: skip

CODES = (
    NOT_THERE,
    TAKEN,
    NO_SUCH_CHANGE,
    ODD_DATES,
    NO_WAY_BACK,
    UNNAMEABLE,
)
