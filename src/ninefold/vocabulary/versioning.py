"""The keys of part 9: versioning."""

from __future__ import annotations

from ninefold.language.authentication import ADMISSIONS
from ninefold.language.json_schema import keywords
from ninefold.language.key import Key, adds, asked, asked_when, names, restricts
from ninefold.language.shapes import (
    Date,
    Expression,
    HeaderName,
    JSONSchema,
    ListOf,
    MappingOf,
    Members,
    Name,
    OneOf,
    Template,
    Text,
    Word,
)

SCHEME = "versioning"
VERSIONS = "versions"
DEFAULT = "default"
CHANGES = "changes"
COMPATIBLE = "compatible"

SCHEMES = ("path", "header", "query", "media type")

COMPATIBLE_CHANGES = (
    "add a resource", "add an optional field", "add a state", "add a transition", "add an endpoint",
    "add an optional parameter", "add a filter", "add a sort", "add a response member", "add a response header",
    "add an event kind", "add an event member", "add an error code", "add an enum value", "add a scheme",
    "relax a restriction", "raise a limit", "deprecate",
)  # fmt: skip
"""The kinds of change of which a contract may say that they keep the promise."""

_C = "versions.VERSION.changes.CHANGE"
_NO_VERSIONS = "A gap: there are no versions."
_AS_NOW = "The older version is as the one after it."

KEYS: tuple[Key, ...] = (
    asked(9, "scheme", OneOf((Word(("path",)), Members())), SCHEME,
          "How a request names its version: `path`, `{header: NAME}`, `{query: NAME}` or `{media type: PARAMETER}`.",
          _NO_VERSIONS, says_none=True),
    asked_when(9, "scheme.header", HeaderName(), SCHEME, "it is a mapping that says no other place",
              "The request header that names it.", "A gap: there are no versions."),
    asked_when(9, "scheme.query", Name("a query parameter"), SCHEME, "it is a mapping that says no other place",
              "The query parameter that names it.", "A gap: there are no versions."),
    asked_when(9, "scheme.media type", Name("a parameter of the media type"), SCHEME,
              "it is a mapping that says no other place",
          "The parameter of the media type in Accept and Content-Type that names it.", "A gap: there are no versions."),
    asked(9, "default", OneOf((Name("a version"), Expression())), DEFAULT,
          "The version of a request that names none; or what gives its name, of who calls.",
          "A gap: such a request is `unknown version`.", says_none=True),
    asked(9, "versions", MappingOf("versions to the way back to them"), VERSIONS,
          "The versions, newest first; the document describes the newest.", _NO_VERSIONS),
    names(9, "versions.VERSION", Members(), "A version.", "Each use of its name is an error."),
    asked_when(9, "versions.VERSION.changes", ListOf(Members()), CHANGES, "the version is an older one",
              "The way back to it from the version above.",
          "A gap: that version is not served. The newest has no way back.", says_none=True),
    adds(9, _C, Members(), "One step of the way back: `rename`, `remove`, `add` or `change`.", _AS_NOW),
    adds(9, f"{_C}.rename", Name("what was renamed, such as `order.note`"), "It had another name.", _AS_NOW),
    asked_when(9, f"{_C}.to", Text("a name"), CHANGES, "it is a `rename`", "With `rename`: the name that it had.",
              "A gap: there are no versions."),
    adds(9, f"{_C}.remove", Name("what was added, such as `order.note`"), "It was not there.", _AS_NOW),
    adds(9, f"{_C}.add", Text("what was removed, such as `order.memo`"), "It was there.", _AS_NOW),
    adds(9, f"{_C}.change", Name("what was changed, such as `order.note`"), "It was different.", _AS_NOW),
    adds(9, f"{_C}.schema", JSONSchema(), "With `add` or `change` of a field: the schema that it had.",
         "The schema was the same."),
    *keywords(9, f"{_C}.schema"),
    adds(9, f"{_C}.is", Expression(), "With `add` or `change` of a field: its value, worked out from the stored row.",
         "The value was the same; a field that is added has none."),
    adds(9, f"{_C}.on create", Expression(),
         "With `remove` or `change` of a field: its value in a row that is created in the older version, where the "
         "client gives none.", "It is as in the version above."),
    adds(9, f"{_C}.stored", Expression(),
         "With `is`: what is stored of a `value` that a client of the older version gives.",
         "Clients of the older version cannot give it."),
    adds(9, f"{_C}.endpoint", Members(), "With `add` or `change` of an endpoint: what it was, in the keys of part 4.",
         "It was the same."),
    adds(9, f"{_C}.permissions", ADMISSIONS, "With `add` of an endpoint: who may call it, as in part 5.",
         "`all others` holds."),
    adds(9, f"{_C}.view", Template(), "With `add` or `change` of a view (`order.views.short`): what it showed.",
         "It was the same."),
    adds(9, f"{_C}.kind", Members(), "With `add` or `change` of a kind of event: what it was, in the keys of part 6.",
         "It was the same."),
    adds(9, f"{_C}.code", Members(), "With `add` or `change` of an error code: what it was, in the keys of part 7.",
         "It was the same."),
    adds(9, "versions.VERSION.deprecated", Date(), "Since when it is deprecated: the header Deprecation (RFC 9745).",
         "Responses have no header Deprecation."),
    adds(9, "versions.VERSION.sunset", Date(), "When it will no longer be served: the header Sunset (RFC 8594).",
         "Responses have no header Sunset."),
    restricts(9, "versions.VERSION.retired", Date(), "Since when it is no longer served (`retired version`).",
              "It is served."),
    asked(9, "compatible", ListOf(Word(COMPATIBLE_CHANGES)), COMPATIBLE, "The kinds of change that keep the promise.",
          "A gap: `diff` passes no verdict.", says_none=True),
)  # fmt: skip
