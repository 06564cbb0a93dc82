"""Part 9: versioning."""

from __future__ import annotations

import re
from typing import Any

from ninefold.contract.versioning import ENDPOINT, OF_ENDPOINT, Change, Version, Versioning, VersionScheme
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import leaves
from ninefold.language.authentication import admissions
from ninefold.language.codes import NOT_A_CHANGE, NOT_BUILT
from ninefold.language.endpoints import Endpoint, endpoint
from ninefold.language.errors import CODE
from ninefold.language.events import KIND
from ninefold.language.expressions import Expression, expression, template
from ninefold.language.fact import Name, Shown
from ninefold.language.quantities import full_date
from ninefold.language.reading import Level, Read, Reading, Slot, described, spoken
from ninefold.language.records import of_entry
from ninefold.language.resources import View
from ninefold.language.routes import route
from ninefold.language.schemas import schema
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Scalar
from ninefold.vocabulary.versioning import SCHEMES

_CHANGE = "versions.VERSION.changes.CHANGE"

_VERBS = ("rename", "remove", "add", "change")
_DIFFERENT = ("schema", "is", "endpoint", "view", "kind", "code")
_BESIDE = {
    "rename": ("to",),
    "remove": ("on create",),
    "add": (*_DIFFERENT, "permissions"),
    "change": (*_DIFFERENT, "on create", "stored"),
}
"""What may stand beside each verb. What has to, is known where it is known what the change is of."""


def versioning(r: Reading, part: Part) -> Versioning:
    said = spoken(part)
    if said is not None:
        return Versioning(said, said, said, said)
    level = r.level(part.facts, 9, "", "")
    return Versioning(
        scheme=level.fact("scheme", scheme),
        default=level.fact("default", default(part)),
        versions=level.fact("versions", versions),
        compatible=level.fact("compatible", leaves.words),
    )


def scheme(r: Reading, node: Node, slot: Slot) -> VersionScheme | None:
    """`path`, or one of `{header: NAME}`, `{query: NAME}`, `{media type: PARAMETER}`."""
    if isinstance(node, Scalar):
        if node.text in SCHEMES[1:]:
            r.wrong_shape(node, slot, help=(f"say which: `{{{node.text}: NAME}}`",))
            return None
        found = leaves.word(r, node, slot)
        return None if found is None else VersionScheme(found.text, None)
    level = r.level(node, 9, "scheme", "scheme")
    if not isinstance(node, Mapping) or not all(entry.name in level.keys for entry in node.entries):
        return None
    if len(node.entries) != 1:
        r.wrong_shape(node, slot, help=("a version is named in one way",))
        return None
    by, value = node.entries[0].name, node.entries[0].value
    if isinstance(value, Scalar) and value.says("none"):
        r.wrong_shape(value, level.slot(by), help=("a service without versions says `scheme: none`",))
        return None
    name = level.inner(by, leaves.header if by == "header" else leaves.name)
    return None if name is None else VersionScheme(by, name.text)


_OF_REQUESTS = re.compile(r"(?<![\w.])(?:caller|request|now)\b")
"""What an expression begins its values with that is to name a version."""


def default(part: Part) -> Read[Name | Expression]:
    """The name of a version; or an expression: what is none of the names, and reads something."""
    stated = part.facts.get("versions")
    names = {each.name for each in stated.value.entries} if stated and isinstance(stated.value, Mapping) else set()

    def read(r: Reading, node: Node, slot: Slot) -> Name | Expression | None:
        if isinstance(node, Scalar) and node.text not in names:
            words = set(re.findall(r"\w+", node.text))
            if _OF_REQUESTS.search(node.text) or words & r.terms.keys():
                return expression(r, node, slot)
        return leaves.name(r, node, slot)

    return read


def versions(r: Reading, node: Node, slot: Slot) -> tuple[Version, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    return r.each(node.entries, lambda entry: version(r, entry))


def version(r: Reading, entry: Entry) -> Version:
    level = r.level(entry.value, 9, "versions.VERSION", entry.name)
    return Version(
        name=entry.name,
        span=entry.key.span,
        changes=level.fact("changes", changes, main=True),
        deprecated=level.fact("deprecated", full_date),
        sunset=level.fact("sunset", full_date),
        retired=level.fact("retired", full_date),
    )


def changes(r: Reading, node: Node, slot: Slot) -> tuple[Change, ...] | None:
    items = r.items(node, slot)
    if items is None:
        return None
    return tuple(found for item in items if (found := change(r, item)) is not None)


def change(r: Reading, node: Node) -> Change | None:
    """One step back: a verb with its subject, and what the verb needs beside it."""
    if not isinstance(node, Mapping):
        r.say(
            NOT_A_CHANGE,
            f"a change is {described(node)}, not a mapping",
            Label(node.span),
            help=("write `{rename: order.note, to: comment}`",),
        )
        return None
    level = r.level(node, 9, _CHANGE, "a change")
    verbs = [verb for verb in _VERBS if verb in level.known]
    subject = level.inner(verbs[0], leaves.name) if verbs else None
    key = level.known[verbs[0]].value if verbs else None
    beside = _beside(r, level, key if isinstance(key, Scalar) else None)
    if len(verbs) != 1:
        if all(entry.name in level.keys for entry in node.entries):
            several = " and ".join(f"`{verb}`" for verb in verbs) + " stand in one change"
            fact = several if verbs else "a change has no verb"
            r.say(NOT_A_CHANGE, fact, Label(node.span), help=("each change is one of " + ", ".join(_VERBS),))
        return None
    verb = verbs[0]
    for name, entry in level.known.items():
        if name not in (verb, *_BESIDE[verb]):
            r.say(NOT_A_CHANGE, f"`{name}` says nothing beside `{verb}`", Label(entry.key.span), help=("leave it out",))
    if verb == "rename" and "to" not in level.known:
        r.say(
            NOT_A_CHANGE,
            "`rename` does not say the older name",
            Label(level.known[verb].key.span),
            help=("write it beside: `to: …`",),
        )
    return None if subject is None else Change(verb, subject, node, **beside)


def _view(r: Reading, node: Node, slot: Slot, name: str) -> View | None:
    shown = template(r, node, slot)
    return None if shown is None else View(name, node.span, shown)


def _beside(r: Reading, level: Level, key: Scalar | None) -> dict[str, Any]:
    """What stands beside the verb, by the fields of a change. `key`: what the change is of."""
    text = "" if key is None else key.text
    is_endpoint = ENDPOINT.fullmatch(text) is not None and OF_ENDPOINT.fullmatch(text) is None
    to = level.known.get("to")
    moved = route(r, to.value) if is_endpoint and to is not None and isinstance(to.value, Scalar) else None

    def as_entry(name: str) -> Entry:
        entry = level.known[name]
        return Entry(key or entry.key, entry.value, entry.proposed)

    def differently(name: str, read: Read[Any]) -> Any:
        """What says nothing is not said."""
        value = level.known[name].value if name in level.known else None
        return None if isinstance(value, Mapping) and not value.entries else level.inner(name, read)

    def of_endpoint(r: Reading, node: Node, slot: Slot) -> Endpoint | None:
        cases = node.get("cases") if isinstance(node, Mapping) else None
        if cases is not None:
            message = "an older version has no cases that the version above it has not"
            r.say(NOT_BUILT, message, Label(cases.key.span, "is not read here"), help=("leave it out",))
        return endpoint(r, as_entry("endpoint"), route(r, key)) if key is not None and is_endpoint else None

    permissions = level.inner("permissions", admissions)
    return {
        "to": level.inner("to", leaves.name),
        "route": None if moved is None else (moved.method, moved.segments),
        "schema": level.inner("schema", schema),
        "value": level.inner("is", expression),
        "on_create": level.inner("on create", expression),
        "stored": level.inner("stored", expression),
        "endpoint": differently("endpoint", of_endpoint),
        "permissions": None if permissions is None else Shown(permissions, level.known["permissions"].value.span),
        "view": level.inner("view", lambda r, node, slot: _view(r, node, slot, text.rpartition(".")[2])),
        "kind": differently("kind", lambda r, node, slot: of_entry(KIND)(r, as_entry("kind"))),
        "code": differently("code", lambda r, node, slot: of_entry(CODE)(r, as_entry("code"))),
    }
