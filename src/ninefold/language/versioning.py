"""Part 9: versions, how a request names one, and the way back to each older one."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import NOT_A_CHANGE, NOT_BUILT
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.declaration import Each, Several, When, adds, asked, named, restricts, says
from ninefold.language.endpoints import Endpoint, endpoint_as_it_was
from ninefold.language.errors import ErrorCode
from ninefold.language.events import EventKind
from ninefold.language.expressions import Expression, expression, template
from ninefold.language.fact import Fact, Name, StatedNone, value_of
from ninefold.language.headers import Header, http_date, structured_date
from ninefold.language.key import Kind
from ninefold.language.question import Question
from ninefold.language.reading import Level, Reading, Slot, described
from ninefold.language.records import facts_of, keys_as_they_were, keys_of, values_of
from ninefold.language.resources import View
from ninefold.language.routes import Route, route
from ninefold.language.schemas import Schema, schema
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar

# fmt: off

VERSIONING = Question(
    "versioning", 9, "how versions are named, or none", "leaves out", "versions", left_out="versions", subject="in")
VERSIONS = Question(
    "versions", 9, "which versions there are", "leaves out", "versions", asked="unless `in` is `none`",
    left_out="versions")
DEFAULT = Question(
    "default", 9, "the version of a request that names none", "leaves out",
    "an answer to it: such a request is `unknown version`", asked="unless `in` is `none`",
    left_out="an answer to such a request: it is `unknown version`")
CHANGES = Question(
    "changes", 9, "the way back to {}, or none", "leaves out", "that version", "V", "of each version but the newest",
    left_out="the version {}")
COMPATIBLE = Question(
    "compatible", 9, "which kinds of change are compatible", "leaves out", "the verdict of `diff`",
    asked="unless `in` is `none`", left_out="the verdict of `diff`")

VERSIONED = When("`in` is not `none`", lambda versioning: not isinstance(versioning.location, StatedNone))
NO_VERSIONS = "there are no versions"


# Where a request names its version

IN_WORDS: Final = {
    "path": "the version stands at the front of the path",
    "header": "the version is asked for by a header",
    "query": "the version is asked for by a parameter of the query",
    "media type": "the version is asked for by a parameter of the media type",
}


@dataclass(frozen=True, slots=True)
class VersionScheme:
    """`by` is `path`, `header`, `query` or `media type`; `name`, but of a path, the header's or the parameter's."""

    by: str
    name: str


def name_of_place(r: Reading, node: Node, slot: Slot) -> Name | None:
    """The name of what a version is asked for by: of a header, as headers are called."""
    place = r.document.part("versioning").facts.get("in")
    is_header = place is not None and isinstance(place.value, Scalar) and place.value.text == "header"
    return leaves.header(r, node, slot) if is_header else leaves.name(r, node, slot)


OF_REQUESTS = regex.compile(r"(?<![\w.])(?:caller|request|now)\b")
"""What an expression begins its values with that is to name a version."""


def default(r: Reading, node: Node, slot: Slot) -> Name | Expression | None:
    """The name of a version; or an expression: what is none of the names, and reads something."""
    names = {each.name for each in r.document.part("versioning").facts.under("versions")}
    if isinstance(node, Scalar) and node.text not in names:
        words = set(re.findall(r"\w+", node.text))
        if OF_REQUESTS.search(node.text) or words & r.terms.keys():
            return expression(r, node, slot)
    return leaves.name(r, node, slot)


def default_in_words(default: Name | Expression) -> str:
    named = "`{}`" if isinstance(default, Name) else "the one that `{}` gives, of who calls"
    return f"a request that names no version asks for {named.format(default.text)}"


# The way back

ENDPOINT: Final = regex.compile(r"[A-Z]+ /[^ ]*")
"""The key of an endpoint, as the subject of a change."""

OF_ENDPOINT: Final = regex.compile(r"([A-Z]+ /.*)\.(query|request headers)\.([^.]+)")
"""What belongs to an endpoint is named behind its key: `GET /orders.query.status`."""

OF_CASE: Final = regex.compile(r"([A-Z]+ /.*)\.cases\.(.+)")
"""So is a case: `POST /payments.cases.card`."""

DIFFERENT = ("was", "is")
BESIDE: Final = {
    "rename": ("to",),
    "remove": ("on create",),
    "add": DIFFERENT,
    "change": (*DIFFERENT, "on create", "stored"),
}
"""The verbs, and what may stand beside each. What has to, is known where it is known what the change is of."""

AS_NOW = "The older version is as the one after it."
THE_SAME = "It was the same."


def of(level: Level) -> Scalar | None:
    """What a change is of, as it is written."""
    key = next((level.known[verb].value for verb in BESIDE if verb in level.known), None)
    return key if isinstance(key, Scalar) else None


def is_of_endpoint(key: Scalar | None) -> bool:
    if key is None or any(each.fullmatch(key.text) for each in (OF_ENDPOINT, OF_CASE)):
        return False
    return ENDPOINT.fullmatch(key.text) is not None


def _endpoint(level: Level, entry: Entry) -> Endpoint | None:
    cases, key = entry.value.get("cases") if isinstance(entry.value, Mapping) else None, of(level)
    if cases is not None:
        message = "an older version has no cases that the version above it has not"
        level.reading.say(NOT_BUILT, message, Label(cases.key.span, "is not read here"), help=("leave it out",))
    of_case = None if key is None else OF_CASE.fullmatch(key.text)
    if key is not None and of_case is not None:
        key = replace(key, text=of_case[1])
    if key is None or not is_of_endpoint(key):
        return None
    return endpoint_as_it_was(level.reading, entry, route(level.reading, key))


def _named(r: Reading, record: type[EventKind | ErrorCode], entry: Entry) -> EventKind | ErrorCode:
    """What stands under a name of its own."""
    level = r.keyed(entry.value, keys_as_they_were(record), entry.name)
    return facts_of(r, record, level, name=entry.name, span=entry.key.span)


def view_as_it_was(level: Level, entry: Entry) -> View | None:
    shown = template(level.reading, entry.value, level.slot("was"))
    return None if shown is None else View(entry.name.rpartition(".")[2], entry.value.span, shown)


Was: TypeAlias = Schema | Endpoint | View | EventKind | ErrorCode

_OF_VIEW: Final = regex.compile(r"[^.]+\.views\.[^.]+")


def as_it_was(level: Level) -> Was | None:
    """What a thing was, under its own name, in the words of the place that it comes from; what says nothing is not
    said."""
    entry = level.known.get("was")
    if entry is None or (isinstance(entry.value, Mapping) and not entry.value.entries):
        return None
    key = of(level) or entry.key
    if key.says("not shown"):
        return None
    named = Entry(key, entry.value, entry.proposed)

    def read(r: Reading, node: Node, slot: Slot) -> Any:
        said = {each.name for each in node.entries} if isinstance(node, Mapping) else set()
        if key.text.partition(" ")[2].startswith("/"):
            return _endpoint(level, named)
        if _OF_VIEW.fullmatch(key.text):
            return view_as_it_was(level, named)
        if said & {"upon", "payload"} or (key.text in _kinds(r) and not _is_field(r, key.text)):
            return _named(r, EventKind, named)
        if "." in key.text and not said & {"status", "for"}:
            return schema(r, node, slot)
        return _named(r, ErrorCode, named)

    found: Was | None = level.inner("was", read)
    return found


def _kinds(r: Reading) -> set[str]:
    return {each.name for each in r.document.part("events").facts.under("kinds")}


def _is_field(r: Reading, text: str) -> bool:
    """Whether a field is meant, where a kind of event may have a name of the same form: `order.placed`."""
    resource, _, name = text.partition(".")
    stated = r.document.part("resources").facts.get(resource)
    fields = stated.value.under("fields") if stated is not None and isinstance(stated.value, Mapping) else ()
    return any(each.name == name for each in fields)


@dataclass(frozen=True, slots=True)
class Change:
    """One step of the way back to an older version. `route`: the older method and path of what is `to` be an endpoint.

    Of a field it says what its schema `was`; its `value`, worked out from the stored row; `on_create`, its value in a
    row that is made in the older version; `stored`, made of the `value` that a client of the older version gives. Of
    what is no field, it says what it `was` as its own part does; who may call an endpoint, part 5 says."""

    node: Mapping
    route: Route | None
    rename: Name | None = adds(
        "rename", shapes.Name("what was renamed, such as `order.note`"), "It had another name.", AS_NOW)
    to: Name | None = asked(
        "to", shapes.Text("a name"), "With `rename`: the name that it had.", CHANGES, NO_VERSIONS,
        when=When("it is a `rename`"), read=leaves.name)
    remove: Name | None = adds(
        "remove", shapes.Name("what was added, such as `order.note`"), "It was not there.", AS_NOW)
    add: Name | None = adds(
        "add", shapes.Text("what was removed, such as `order.memo`"),
        "It was there. Who may call an endpoint that was, a line of part 5 says.", AS_NOW, read=leaves.name)
    change: Name | None = adds(
        "change", shapes.Name("what was changed, such as `order.note`"), "It was different.", AS_NOW)
    was: Was | None = adds(
        "was", shapes.OneOf((shapes.Members(), shapes.Template(shapes.Sight.OF_USE))),
        "With `add` or `change`: what it was, in the words of its place. That is the schema of a field, the template "
        "of a view, the keys of an endpoint (part 4), a kind of event (part 6) or an error code (part 7). Of such keys "
        "`none` says that there was none of it: `was: {headers: none}`.",
        THE_SAME, whole=as_it_was)
    value: Expression | None = adds(
        "is", shapes.Expression(), "With `add` or `change` of a field: its value, worked out from the stored row.",
        "The value was the same; a field that is added has none.")
    on_create: Expression | None = adds(
        "on create", shapes.Expression(),
        "With `remove` or `change` of a field: its value in a row that is created in the older version, where the "
        "client gives none.", "It is as in the version above.")
    stored: Expression | None = adds(
        "stored", shapes.Expression(shapes.Sight.NONE),
        "With `is`: what is stored of a `value` that a client of the older version gives.",
        "Clients of the older version cannot give it.")

    @property
    def schema(self) -> Schema | None:
        return self.was if isinstance(self.was, Schema) else None

    @property
    def endpoint(self) -> Endpoint | None:
        return self.was if isinstance(self.was, Endpoint) else None

    @property
    def view(self) -> View | None:
        return self.was if isinstance(self.was, View) else None

    @property
    def kind(self) -> EventKind | None:
        return self.was if isinstance(self.was, EventKind) else None

    @property
    def code(self) -> ErrorCode | None:
        return self.was if isinstance(self.was, ErrorCode) else None

    @property
    def verb(self) -> str:
        return next(verb for verb in BESIDE if getattr(self, verb) is not None)

    @property
    def subject(self) -> Name:
        subject: Name = getattr(self, self.verb)
        return subject

    @property
    def span(self) -> Span:
        return self.node.span

    def said(self, key: str) -> Span:
        """Where a key of the change stands; the whole change where it does not."""
        entry = self.node.get(key)
        return self.node.span if entry is None else entry.key.span


def changes(r: Reading, node: Node, slot: Slot) -> tuple[Change, ...] | None:
    items = r.items(node, slot)
    return None if items is None else tuple(found for item in items if (found := change(r, item)) is not None)


def change(r: Reading, node: Node) -> Change | None:
    """One step back: a verb with its subject, and what the verb needs beside it."""
    if not isinstance(node, Mapping):
        r.say(NOT_A_CHANGE, f"a change is {described(node)}, not a mapping", Label(node.span),
              help=("write `{rename: order.note, to: comment}`",))
        return None
    level = r.keyed(node, keys_of(Change), "a change")
    verbs, to = [verb for verb in BESIDE if verb in level.known], level.known.get("to")
    moved = route(r, to.value) if is_of_endpoint(of(level)) and to and isinstance(to.value, Scalar) else None
    found = Change(node, moved, **values_of(level, Change))
    if len(verbs) != 1:
        if all(entry.name in level.keys for entry in node.entries):
            several = " and ".join(f"`{verb}`" for verb in verbs) + " stand in one change"
            r.say(NOT_A_CHANGE, several if verbs else "a change has no verb", Label(node.span),
                  help=("each change is one of " + ", ".join(BESIDE),))
        return None
    verb = verbs[0]
    for name, entry in level.known.items():
        if name not in (verb, *BESIDE[verb]):
            r.say(NOT_A_CHANGE, f"`{name}` says nothing beside `{verb}`", Label(entry.key.span), help=("leave it out",))
    if verb == "rename" and to is None:
        r.say(NOT_A_CHANGE, "`rename` does not say the older name", Label(level.known[verb].key.span),
              help=("write it beside: `to: …`",))
    return None if getattr(found, verb) is None else found


# Versions

@dataclass(frozen=True, slots=True)
class Version:
    """The dates are RFC 3339 full-dates."""

    name: str
    span: Span
    changes: Fact[tuple[Change, ...]] | None = asked(
        "changes",
        Several(Change, named("CHANGE", Kind.ADDS,
                              "One step of the way back: `rename`, `remove`, `add` or `change`.", AS_NOW)),
        "The way back to it from the version above.", CHANGES,
        "that version is not served. The newest has no way back", when=When("the version is an older one"),
        says_none=True, main=True, read=changes, told="the way back to it", side="used")
    deprecated: Fact[str] | None = adds(
        "deprecated", shapes.Date(), "Since when it is deprecated: the header Deprecation (RFC 9745).",
        "Responses have no header Deprecation.", order="choice", promise="deprecate",
        header=Header("Deprecation", "RFC 9745", structured_date))
    sunset: Fact[str] | None = adds(
        "sunset", shapes.Date(), "When it will no longer be served: the header Sunset (RFC 8594).",
        "Responses have no header Sunset.", order="choice", promise="deprecate",
        header=Header("Sunset", "RFC 8594", http_date))
    retired: Fact[str] | None = restricts(
        "retired", shapes.Date(), "Since when it is no longer served (`retired version`).", "It is served.")


COMPATIBLE_CHANGES = (
    "add a resource", "add an optional field", "add a state", "add a transition", "add an endpoint",
    "add an optional parameter", "add a sort", "add a response member", "add a response header",
    "add an event kind", "add an event member", "add an error code", "add an enum value", "add a scheme",
    "relax a restriction", "raise a limit", "deprecate", "close a gap", "widen a permission", "show more rows",
    "change a text", "add a version")
"""The kinds of change of which a contract may say that they keep the promise."""


@dataclass(frozen=True, slots=True)
class Versioning:
    """`default`: a version, or what gives its name. `versions`, newest first."""

    location: Fact[Name] | None = asked(
        "in", shapes.Word(tuple(IN_WORDS)), "Where a request names its version.", VERSIONING, NO_VERSIONS,
        says_none=True, words=lambda place: IN_WORDS[place.text], sentence="{}")
    parameter: Fact[Name] | None = asked(
        "name", shapes.Name("a header, or a parameter of the query or of the media type"),
        "What the header or the parameter is called that names it.", VERSIONING, NO_VERSIONS,
        when=says("it is no part of the path", "location", "header", "query", "media type"), read=name_of_place,
        sentence="it is called {}")
    versions: Fact[tuple[Version, ...]] | None = asked(
        "versions",
        Each(Version, named("VERSION", Kind.NAMES, "A version.", "Each use of its name is an error.",
            promise="add a version"),
             "versions to the way back to them"),
        "The versions, newest first; the document describes the newest.", VERSIONS, NO_VERSIONS, when=VERSIONED,
        order="steps")
    default: Fact[Name | Expression] | None = asked(
        "default", shapes.OneOf((shapes.Name("a version"), shapes.Expression(shapes.Sight.NONE))),
        "The version of a request that names none; or what gives its name, of who calls.", DEFAULT,
        "such a request is `unknown version`", says_none=True, when=VERSIONED, read=default,
        words=default_in_words, sentence="{}")
    compatible: Fact[tuple[Name, ...]] | None = asked(
        "compatible", shapes.ListOf(shapes.Word(COMPATIBLE_CHANGES)), "The kinds of change that keep the promise.",
        COMPATIBLE, "`diff` passes no verdict", when=VERSIONED, says_none=True, told="compatible changes")

    @property
    def scheme(self) -> VersionScheme | None:
        """How a request names its version, where that is all shown."""
        place, name = value_of(self.location), value_of(self.parameter)
        if place is None or (name is None and place.text != "path"):
            return None
        return VersionScheme(place.text, "" if name is None else name.text)
