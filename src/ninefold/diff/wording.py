"""What an older contract says of a thing, as it is to stand in part 9 of the newer one: YAML on one line.

Part 9 has expressions in the words of the document that it stands in; so what has another name there is called so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from ninefold.contract.service import Contract
from ninefold.contract.writes import acted_on
from ninefold.diagnostics.frozen import dataclass
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.fact import value_of
from ninefold.language.resources import Field
from ninefold.language.versioning import BESIDE
from ninefold.syntax.nodes import Document, Entry, Node, Scalar, Sequence, Style
from ninefold.syntax.nodes import Mapping as MappingNode

_PLAIN: Final = re.compile(r"[A-Za-z_/][\w./-]*(?: [\w./-]+)*")
_WORD: Final = re.compile(r"(?<![\w'\"])(?:(\w+)\.)?(\w+)\b(?!['\"])")


NOT_SHOWN: Final = "not shown"


@dataclass(frozen=True, slots=True)
class Step:
    """One change as it is written. `asked`: keys that only the author can answer, with what stood in for the answer
    while it was tried. `line`: who may call the endpoint that it adds, as a line of part 5. `called`: words of the
    newer contract, with what the older one calls them."""

    verb: str
    subject: str
    beside: tuple[tuple[str, str], ...] = ()
    asked: tuple[tuple[str, str], ...] = ()
    note: str = ""
    line: str | None = None
    called: tuple[tuple[str, str], ...] = ()

    @property
    def is_instead(self) -> bool:
        """Whether something else is shown than what is stored."""
        return "is" in dict((*self.beside, *self.asked))

    def written(self, *, tried: bool = False) -> str:
        """`tried`: with what stands in for an answer."""
        open_ones = self.asked if tried else tuple((key, NOT_SHOWN) for key, _ in self.asked)
        said = ", ".join(f"{key}: {value}" for key, value in (*self.beside, *open_ones))
        return f"{{{self.verb}: {quoted(self.subject)}{', ' if said else ''}{said}}}"


@dataclass(frozen=True, slots=True)
class Wording:
    """Where the words are. `said`: of a derived version, what its changes say that things were, by their subjects;
    None: the whole document is the older contract. `fields`: names of fields that the newer document has others for, by
    resource; `codes`: the same of error codes."""

    document: Document
    said: Mapping[str, Node] | None
    fields: Mapping[tuple[str, str], str]
    codes: Mapping[str, str]

    def node(self, at: tuple[str, ...], *below: str, subject: str) -> Node | None:
        """What stands below an address, which is that of `subject`."""
        part, *names = at
        found: Node | None
        if self.said is not None:
            found, names = self.said.get(subject), []
        else:
            found = self.document.parts[int(part) - 1].facts
        for name in (*names, *below):
            entry = found.get(name) if isinstance(found, MappingNode) else None
            found = None if entry is None else entry.value
        return found

    def permission(self, key: str) -> str | None:
        """Whom the older contract admits to an endpoint, as a line of part 5; None: the document has it there."""
        lines = {each.name: each.value for each in self.document.part("authentication").facts.under("permissions")}
        node = None if self.said is not None else lines.get(key) or lines.get(ALL_OTHERS)
        return None if node is None else self.text(node, None)

    def text(self, node: Node, resource: str | None) -> str:
        """`resource`: the one that bare names are fields of."""
        match node:
            case Scalar():
                return self._scalar(node, resource)
            case Sequence(items=items):
                return "[" + ", ".join(self.text(each, resource) for each in items) + "]"
            case MappingNode(entries=entries):
                return "{" + ", ".join(self._entry(each, resource) for each in entries) + "}"

    def _entry(self, entry: Entry, resource: str | None) -> str:
        below = resource
        if entry.name == "sets" and isinstance(entry.value, MappingNode):
            said = (f"{self._of(resource, each.name)}: {self.text(each.value, below)}" for each in entry.value.entries)
            return "sets: {" + ", ".join(said) + "}"
        return f"{quoted(entry.name)}: {self.text(entry.value, below)}"

    def _of(self, resource: str | None, name: str) -> str:
        return self.fields.get((resource or "", name), name)

    def _scalar(self, node: Scalar, resource: str | None) -> str:
        if not isinstance(node.value, str):
            return node.text
        text = self.codes.get(node.text, node.text)
        minus = "-" if text.startswith("-") else ""
        text = self.worded(minus + self._of(resource, text.removeprefix("-")))
        return text if node.style is Style.PLAIN and _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)

    def worded(self, text: str) -> str:
        """An expression with the names that the newer document has."""
        return _WORD.sub(self._word, text) if self.fields else text

    def _word(self, found: re.Match[str]) -> str:
        of, name = found[1], found[2]
        if of is None:
            return found[0]
        here = self.fields.get((of, name))
        return found[0] if here is None else f"{of}.{here}"


def quoted(text: str) -> str:
    """A key, or what a change is of, in a mapping on one line."""
    return text if re.fullmatch(r"[\w][\w ./'-]*", text) or text == "$ref" else json.dumps(text, ensure_ascii=False)


def expression(text: str) -> str:
    """An expression as a value."""
    return text if re.fullmatch(r"\w[\w.]*", text) else json.dumps(text, ensure_ascii=False)


def said_of(version: Node) -> dict[str, Node]:
    """What the changes of a version say that things were."""
    entry = version.get("changes") if isinstance(version, MappingNode) else None
    items: Iterable[Node] = entry.value.items if entry is not None and isinstance(entry.value, Sequence) else ()
    found: dict[str, Node] = {}
    for each in items:
        if isinstance(each, MappingNode) and (was := each.get("was")) is not None:
            subject = next(one.value for verb in BESIDE if (one := each.get(verb)) is not None)
            if isinstance(subject, Scalar):
                found[subject.text] = was.value
    return found


_FORMS: Final = {
    "date": "'2000-01-01'", "date-time": "now", "uuid": "uuid()", "email": "'a@example.org'", "uri": "'https://a.b'",
    "time": "'00:00:00Z'", "duration": "'P1D'",
}  # fmt: skip


_TYPES: Final = {"integer": "1", "number": "1.0", "boolean": "false", "array": "[]", "object": "{}"}


def any_value(own: Field) -> str:
    """A value that could stand there, only so that the rest can be tried."""
    schema = value_of(own.schema)
    said = {} if schema is None else schema.json
    if "enum" in said:
        return expression(repr(said["enum"][0]))
    if (form := _FORMS.get(said.get("format", ""))) is not None:
        return expression(form)
    of = said.get("type", "string")
    return expression(_TYPES.get(of[0] if isinstance(of, list) else of, "'a'"))


def mapping(said: dict[str, str]) -> str:
    return "{" + ", ".join(f"{quoted(key)}: {text}" for key, text in said.items()) + "}"


# What is said of the older contract


def field_of(contract: Contract, resource: str, name: str) -> Field | None:
    """The field that callers know by a name."""
    own = contract.resources_by_name.get(resource)
    fields = () if own is None else value_of(own.fields) or ()
    found = (each for each in fields if each.called == name and (each.seen is None or each.seen.place_of is None))
    return next(found, None)


def stored_name(contract: Contract, resource: str, name: str) -> str:
    """What expressions of the document call it."""
    found = field_of(contract, resource, name)
    return name if found is None else found.name


def shown_value(contract: Contract, resource: str, own: Field) -> tuple[tuple[str, str], ...]:
    """What an older version shows in the place of what is stored."""
    seen = own.seen
    if seen is None or seen.instead is None:
        return ()
    fields = value_of(contract.resources_by_name[resource].fields) or ()
    shown = next(value_of(each.computed) for each in fields if each.name == seen.instead)
    assert shown is not None
    stored = () if seen.stored is None else (("stored", expression(seen.stored.text)),)
    return (("is", expression(shown.text)), *stored)


def resource_of(contract: Contract, key: str) -> str | None:
    """What an endpoint acts on."""
    endpoint = contract.endpoints_by_key.get(key)
    return None if endpoint is None else acted_on(endpoint)
