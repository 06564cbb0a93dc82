"""What the language called otherwise once: each key, verb, condition and word that is gone, and what says it now.

`ninefold fix` rewrites them, and a diagnostic that stands where one of them does names what it is now (`successors`).
A key is known by the place where it stood (its part and path, as in the table of all keys), a word by the key whose
value it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.language.conditions import BY_NAME
from ninefold.language.errors import RULES
from ninefold.language.table import key_named
from ninefold.language.verbs import VERBS as IN_FORCE
from ninefold.syntax.nodes import Document, Entry, Node, Scalar, Sequence
from ninefold.syntax.nodes import Mapping as MappingNode

At: TypeAlias = tuple[int, str]
"""A part, counted from 1, and the path of a key in it."""

RENAMED: Final[Mapping[At, str]] = {
    (2, "RESOURCE.identifier"): "primary key",
    (2, "RESOURCE.fields.FIELD.refers to"): "references",
    (2, "RESOURCE.fields.FIELD.back"): "inverse",
    (3, "RESOURCE.transitions.TRANSITION.then"): "also",
    (4, "ENDPOINT.cases.otherwise"): "all others",
    (4, "cross origin"): "cors",
    (4, "cross origin.kept"): "max age",
    (4, "calls"): "functions",
    (4, "ENDPOINT.pages.largest"): "maximum",
    (4, "ENDPOINT.then"): "also",
    (5, "schemes.SCHEME.openIdConnectUrl"): "issuer",
    (6, "kinds.KIND.when"): "where",
    (6, "delivery.webhooks.when"): "where",
    (7, "shape"): "error shape",
    (7, "codes.CODE.when"): "for",
    (7, "messages.otherwise"): "all others",
    (7, "messages.refers to"): "references",
    (8, "headers"): "rate headers",
    (8, "pages.largest"): "maximum",
}
"""Keys of which nothing but the word has changed."""

_CHECK: Final = "`check: {that: CONDITION, else: CODE}`"
_CHECKS: Final = "`check`, a list of `{that: CONDITION, else: CODE}`"
_DOES: Final = "`does`, as of an endpoint: `{does: create R, …}`"
_FINDS: Final = "`where: R == EXPRESSION`"
_PLACE: Final = "left out: `size` and `at` name the parameters, `first` is 0 or 1"
_WAS: Final = "`was`"
_CHECKED: Final = ("that", "else")

_SAID: Final[Mapping[At, str]] = {
    (2, "RESOURCE.invariants"): _CHECKS,
    (2, "RESOURCE.records.RECORD"): "an item without a name: `records: [{FIELD: VALUE}]`",
    (2, "RESOURCE.expires.at"): "left out: `expires: EXPRESSION`",
    (2, "RESOURCE.fields.FIELD.again on"): "`on change: {FIELD: EXPRESSION}`, in place of `on create`",
    (2, "types.TYPE.fields"): "`properties`, beside `type: object`",
    (3, "RESOURCE.field"): "implied: the field with `state: true` is it",
    (3, "RESOURCE.final"): "implied: a state that no transition leaves is final",
    (3, "RESOURCE.transitions.TRANSITION.when"): _CHECK,
    (3, "RESOURCE.transitions.TRANSITION.otherwise"): "`else` under `check`",
    (4, "responses"): "`produces: MEDIA TYPE`",
    (4, "ENDPOINT.row"): _FINDS,
    (4, "ENDPOINT.path.NAME.otherwise"): "said under `errors`: `not found path.NAME: CODE`",
    (4, "ENDPOINT.query.PARAMETER.otherwise"): "said under `errors`: `invalid query.NAME: CODE`",
    (4, "ENDPOINT.request headers.PARAMETER.otherwise"): "said under `errors`: `invalid header.NAME: CODE`",
    (4, "ENDPOINT.query.PARAMETER.is"): "`where`",
    (4, "ENDPOINT.query.PARAMETER.written"): "`explode: true`, and `comma separated` is `explode: false`",
    (4, "ENDPOINT.filters"): "`query`: a parameter with an expression, or with `where`",
    (4, "ENDPOINT.sorts"): "`sort: [KEY]`; its parameter stands under `query`: `sort: {sorts: [KEY, -KEY]}`",
    (4, "ENDPOINT.pages.parameters"): _PLACE,
    (4, "ENDPOINT.when"): _CHECK,
    (4, "ENDPOINT.otherwise"): "`else` under `check`",
    (4, "ENDPOINT.guards"): _CHECKS,
    (4, "ENDPOINT.validators"): "`etag: true`",
    (4, "ENDPOINT.projection"): "a parameter under `query`: `fields: {selects: [NAME], explode: false}`",
    (4, "ENDPOINT.expand"): "a parameter under `query`: `include: {expands: [NAME], explode: false}`",
    (5, "schemes.SCHEME.flows"): "implied: the flow follows from the endpoint that grants tokens",
    (6, "delivery.stream.format"): "left out: `stream: server-sent events`",
    (6, "delivery.stream.resume"): "implied: `Last-Event-ID`, as server-sent events have it",
    (6, "delivery.stream.kept"): "`kept`, beside `delivery`",
    (6, "delivery.broker"): "an option of `ninefold serve`: `--broker`",
    (6, "delivery.order"): "implied: the events of one row always come in the order of commits",
    (6, "log"): "`kept: DURATION`",
    (6, "log.lasts"): "`kept: DURATION`, in place of `log`",
    (8, "sizes"): "`body size: SIZE`",
    (8, "time-outs"): "`timeout: DURATION`",
    (8, "idempotency keys"): "`idempotency keys kept: DURATION`",
    (8, "pages.parameters"): _PLACE,
    (9, "scheme"): "`in: header` and `name: NAME`; `in: path` without a name",
    (9, "versions.VERSION.changes.CHANGE.schema"): _WAS,
    (9, "versions.VERSION.changes.CHANGE.endpoint"): _WAS,
    (9, "versions.VERSION.changes.CHANGE.view"): _WAS,
    (9, "versions.VERSION.changes.CHANGE.kind"): _WAS,
    (9, "versions.VERSION.changes.CHANGE.code"): _WAS,
    (9, "versions.VERSION.changes.CHANGE.permissions"): "a line of `permissions` in part 5",
    **{
        (part, f"{at}.also.{path}"): _FINDS if path == "EFFECT.row" else _DOES
        for part, at in ((3, "RESOURCE.transitions.TRANSITION"), (4, "ENDPOINT"))
        for path in ("EFFECT.create", "EFFECT.update", "EFFECT.delete", "EFFECT.take", "EFFECT.row")
    },
    **{
        (part, f"{at}.check.{word}"): f"`{now}`"
        for part, at in ((2, "RESOURCE"), (3, "RESOURCE.transitions.TRANSITION"), (4, "ENDPOINT"))
        for word, now in zip(("when", "otherwise"), _CHECKED, strict=True)
    },
}
"""Keys that are said in another way, and what stands behind `it is now …`."""

KEYS: Final[Mapping[At, str]] = {**{at: f"`{word}`" for at, word in RENAMED.items()}, **_SAID}


class Verb(NamedTuple):
    """`outcomes`: what an answer stands for that was given to all good ends alike once; none: it stays. `arises`: upon
    what its events arise; none: upon itself. `beside`: what another key of the endpoint says of it."""

    word: str
    outcomes: str | None = None
    arises: str | None = None
    beside: tuple[str, str] | None = None


VERBS: Final[Mapping[str, Verb]] = {
    "ensure": Verb("put", "created or unchanged", "create"),
    "replace": Verb("put", "replaced", "update"),
    "remove": Verb("delete", "deleted or absent", "delete"),
    "grant token": Verb("sign in", beside=("grant", "client_credentials")),
    "subscribe": Verb("create subscription"),
    "unsubscribe": Verb("delete subscription"),
    "stream events": Verb("stream event"),
}
"""The verbs that are gone, and what says the same; the last three say themselves what they are done to."""

CONDITIONS: Final[Mapping[str, str]] = {
    "missing": "not found",
    "stale": "precondition failed",
    "rate limited": "too many requests",
    "guard": "check",
    "invariant": "check",
}
"""A condition may be narrowed: `missing order` is `not found order`."""

_ALL: Final = {"any": "all"}
_TRUTHS: Final = {"any": "true", "none": "false"}

WORDS: Final[Mapping[At, Mapping[str, str]]] = {
    (2, "RESOURCE.fields.FIELD.on delete"): {"refuse": "restrict", "clear": "set null"},
    (4, "cors.origins"): _ALL,
    (5, "schemes.SCHEME.matches"): _ALL,
    (5, "rows"): _ALL,
    (5, "rows.RESOURCE"): _ALL,
    (5, "rows.RESOURCE.CALLER"): _TRUTHS,
    (5, "permissions.ENDPOINT"): {"any": "anyone"},
    (5, "permissions.ENDPOINT.CALLER"): _TRUTHS,
    (8, "rates.RATE.algorithm"): {"gcra": "token bucket"},
    (9, "compatible"): {"add a filter": "add an optional parameter"},
}
"""Words of closed lists."""

UPON: Final[At] = (6, "kinds.KIND.upon")
ACTIONS: Final[tuple[At, ...]] = (
    (3, "RESOURCE.transitions.TRANSITION.also.EFFECT.does"),
    (4, "ENDPOINT.does"),
    (4, "ENDPOINT.also.EFFECT.does"),
    UPON,
)
CONDITIONS_AT: Final[tuple[At, ...]] = ((5, "unseen rows"), (7, "codes.CODE.for"), (7, "precedence"))
NARROWED_AT: Final[tuple[At, ...]] = ((4, "ENDPOINT.errors"),)
"""Where actions are written, conditions, and conditions that are keys."""


def renamed(part: int, under: str) -> Iterator[tuple[str, str]]:
    """The keys of the mapping at a path that have another word now, each with that."""
    for (of, path), word in RENAMED.items():
        if of == part and path.rpartition(".")[0] == under:
            yield path.rpartition(".")[2], word


def outcomes(verb: str) -> str | None:
    if verb in IN_FORCE:
        return " or ".join(IN_FORCE[verb].outcomes) or None
    return VERBS[verb].outcomes if verb in VERBS else None


def condition(text: str) -> str:
    """A condition as it is called now, narrowed as it was."""
    return _called(text, {old: new for old, new in CONDITIONS.items() if old not in BY_NAME})


def action(text: str) -> str:
    """What is done, as it is called now."""
    return _called(text, {old: new.word for old, new in VERBS.items() if old not in IN_FORCE})


def now(called: str) -> Iterator[str]:
    """What says now what was called so once: a key, by its name or its path; a verb; a condition."""
    wanted, told = called.casefold(), set[str]()
    for (part, path), found in KEYS.items():
        if wanted in (path.casefold(), path.rpartition(".")[2].casefold()) and found not in told:
            told.add(found)
            yield f"`{path}` of part {part} is now {found}"
    if wanted in VERBS:
        yield f"the verb `{wanted}` is now `{VERBS[wanted].word}`"
    if wanted in CONDITIONS:
        yield f"the condition `{wanted}` is now `{CONDITIONS[wanted]}`"


def beside(text: str) -> tuple[str, str] | None:
    """The key, and its value, that says part of what a verb said."""
    verb = text.rpartition(" ")[0]
    return VERBS[verb].beside if verb in VERBS and verb not in IN_FORCE else None


def _called(text: str, words: Mapping[str, str]) -> str:
    """The first word of a text as it is called now, or the whole."""
    for old, new in words.items():
        if text == old or text.startswith(old + " "):
            return new + text[len(old) :]
    return text


def word(part: int, path: str) -> Callable[[str], str]:
    """A word that is the value of a key, as it is called now."""
    words = WORDS[part, path]
    return lambda text: words.get(text, text)


def cause(text: str) -> str:
    """What an event arises upon, as it is called now: what `put` made was created, or else updated."""
    verb, space, resource = text.partition(" ")
    arises = VERBS[verb].arises if verb in VERBS and verb not in IN_FORCE else None
    return action(text) if arises is None else f"{arises}{space}{resource}"


# What is in force still: it is nothing else yet


def stays(at: At) -> bool:
    """Whether the table has a key that is to go."""
    part, path = at
    under, _, name = path.rpartition(".")
    if under == "messages":
        return name in RULES
    return key_named(part, under, name) is not None


STAYS: Final = "\0"
"""How the name begins of a key that is in force still."""


def only_gone(document: Document) -> Document:
    """The document with no key that is in force still: `fix` leaves those as they are. Each is where it was, under a
    name that nothing has."""
    parts = list(document.parts)
    for number, part in enumerate(parts, 1):
        paths = [path for at in KEYS if stays(at) for of, path in places(at) if of == number]
        kept = {entry.key.span for path in paths for entry in entries_at(part.facts, path)}
        if kept:
            parts[number - 1] = replace(part, facts=_without(part.facts, kept))
    return replace(document, parts=tuple(parts))


def _without(node: Node, kept: set[Span]) -> Any:
    match node:
        case MappingNode(entries=entries):
            return replace(node, entries=tuple(_entry_without(each, kept) for each in entries))
        case Sequence(items=items):
            return replace(node, items=tuple(_without(each, kept) for each in items))
        case Scalar():
            return node


def _entry_without(entry: Entry, kept: set[Span]) -> Entry:
    key = replace(entry.key, text=STAYS + entry.name) if entry.key.span in kept else entry.key
    return replace(entry, key=key, value=_without(entry.value, kept))


# Where they are met


def entries_at(node: Node, path: str, now: Mapping[str, str] | None = None) -> Iterator[Entry]:
    """The entries of a part's facts at a path: a segment in capitals stands for any name, or for an item of a list.
    `now`: what else a segment may be called, by the path that ends with it."""
    yield from _entries_at(node, tuple(path.split(".")), (), now or {})


def _entries_at(
    node: Node, segments: tuple[str, ...], before: tuple[str, ...], now: Mapping[str, str]
) -> Iterator[Entry]:
    head, *rest = segments
    if isinstance(node, Sequence):
        below = tuple(rest) if head.isupper() else segments
        for item in node.items if below else ():
            yield from _entries_at(item, below, (*before, head) if head.isupper() else before, now)
    elif isinstance(node, MappingNode):
        here = (*before, head)
        named = (head, now.get(".".join(here)))
        for entry in node.entries:
            if not head.isupper() and entry.name not in named:
                continue
            if not rest:
                yield entry
            else:
                yield from _entries_at(entry.value, tuple(rest), here, now)


_CHANGE: Final = "versions.VERSION.changes.CHANGE"
_AGAIN: Final = (
    (4, "ENDPOINT", (4, "ENDPOINT.cases.CASE")),
    (4, "ENDPOINT", (9, f"{_CHANGE}.endpoint")),
    (6, "kinds.KIND", (9, f"{_CHANGE}.kind")),
    (7, "codes.CODE", (9, f"{_CHANGE}.code")),
    (2, "RESOURCE.fields.FIELD", (9, f"{_CHANGE}.schema")),
)
"""Which records stand at another place as well: in a case, and as they were in an older version."""


def places(at: At) -> Iterator[At]:
    """A place, and those where the same key stands as well."""
    part, path = at
    yield at
    for of, record, (there, other) in _AGAIN:
        if part == of and path.startswith(record + "."):
            yield there, other + path.removeprefix(record)
