"""What is rewritten in several parts of a contract: keys, words, checks and effects; and what is left to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.successors import scalars_of
from ninefold.language.verbs import kind_of
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, is_word
from ninefold.tools.fix import expressions, words
from ninefold.tools.fix.expressions import Said
from ninefold.tools.fix.layout import Layout, Pairs

_OF_EFFECTS: Final = ("row", "where", "each", "sets", "does")
"""Keys of an effect; any other says by its name what is done."""


@dataclass(frozen=True, slots=True)
class Left:
    """What is left to be done by hand, or to be looked at, and where."""

    span: Span
    message: str


@dataclass
class Rewriting:
    """A document while it is rewritten. `names`: the keys that a mapping has, and is given. `codes`: those that part 7
    has for a condition, by it; `taken`: all of its codes. `permissions`: the lines of part 5; `schemes`, `endpoints`:
    those of the newest version, by their names."""

    layout: Layout
    left: list[Left] = field(default_factory=list)
    names: dict[Span, set[str]] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    permissions: Mapping | None = None
    schemes: tuple[str, ...] = ()
    endpoints: frozenset[str] = frozenset()

    def leave(self, node: Entry | Node, message: str) -> None:
        self.left.append(Left(node.span, message))

    def rename(self, mapping: Mapping, record: str) -> None:
        for old, new in words.KEYS[record].items():
            if entry := mapping.get(old):
                self.layout.rename(entry, new)

    def become(self, mapping: Mapping, entry: Entry, name: str) -> bool:
        """Rename a key where no other entry has, or is given, that name; else it is left, and told."""
        taken = self.names.setdefault(mapping.span, {each.name for each in mapping.entries})
        if name in taken:
            self.leave(entry, f"`{entry.name}` would be a second `{name}` here: one of them has to go")
            return False
        taken.add(name)
        self.layout.rename(entry, name)
        return True

    def say(self, node: Scalar, said: Iterable[Said]) -> None:
        """Words within a scalar, each in its place."""
        for start, end, word in said:
            self.layout.replace(node.part(start, end), word)

    def words(self, entry: Entry | None, of: Callable[[str], str]) -> None:
        """A scalar, or each scalar of a list, in the second words."""
        if entry is not None:
            for item in entry.value.items if isinstance(entry.value, Sequence) else (entry.value,):
                if isinstance(item, Scalar) and of(item.text) != item.text:
                    self.layout.replace(item.span, of(item.text))

    def check(self, mapping: Mapping, name: str, refused: str) -> None:
        """`when` with `otherwise`, and `guards` or `invariants`, as `check`: one, or a list in written order. `refused`
        is the condition of what one without a code refuses."""
        named = next((each for key in ("guards", "invariants") if (each := mapping.get(key))), None)
        when, otherwise = mapping.get("when"), mapping.get("otherwise")
        merged = [each for each in (when, otherwise, named) if each is not None]
        checks: list[Pairs] = []
        if when is not None:
            checks.append({"that": when.value, "else": self.code(otherwise, name, refused)})
        items = named.value.items if named is not None and isinstance(named.value, Sequence) else ()
        for item in items:
            if isinstance(item, Mapping) and (that := item.get("when")):
                checks.append({"that": that.value, "else": self.code(item.get("otherwise"), name, refused)})
        if len(checks) == 1:
            self.layout.merge(mapping, merged, "check", checks[0])
        elif checks:
            self.layout.merge(mapping, merged, "check", self.layout.items(checks))

    def code(self, otherwise: Entry | None, name: str, refused: str) -> Node | str:
        """The code of a check. One that had none was told by the code that part 7 has for it, and without one it was a
        bare 409, as one is whose code part 7 does not have."""
        if otherwise is not None:
            return otherwise.value
        own = self.codes.get(refused) or self.codes.get(refused.partition(" ")[0])
        if own is not None:
            return own
        name = name.replace(" ", "_").lower()
        while name in self.taken:
            name += "_"
        return name

    def effects(self, mapping: Mapping, resource: str) -> None:
        """`then` as `also`: `does` says what is done, `where` to which row, and `this` is the row acted on."""
        then = mapping.get("then")
        if then is not None:
            self.layout.rename(then, "also")
            for item in then.value.items if isinstance(then.value, Sequence) else (then.value,):
                if isinstance(item, Mapping) and item.get("does") is None:
                    self.effect(item, resource)

    def effect(self, item: Mapping, resource: str) -> None:
        changed = ""
        for entry in item.entries:
            verb = entry.name
            if verb in _OF_EFFECTS or not isinstance(entry.value, Scalar) or not self.become(item, entry, "does"):
                continue
            changed = entry.value.text.split()[-1]
            if verb != "take":
                self.say(entry.value, (Said(0, 0, f"{verb} "),))
        for entry in item.entries:
            if entry.name in _OF_EFFECTS and changed != resource:
                for node in scalars_of(entry.value):
                    self.say(node, expressions.row(node.text, resource, "this"))
        self.row(item, changed)

    def row(self, mapping: Mapping, resource: str) -> None:
        """`row: E` as `where: R == E`."""
        row = mapping.get("row")
        if row is None or not isinstance(row.value, Scalar):
            return
        if not resource:
            self.leave(row, "what it is a row of is not said: `where: RESOURCE == …` says both")
        elif self.become(mapping, row, "where") and not (is_word(row.value, "none") or row.value.says("not shown")):
            self.say(row.value, expressions.compared(row.value.text, resource))


def entries_of(entry: Entry | None) -> Iterator[Entry]:
    if entry is not None and isinstance(entry.value, Mapping):
        yield from entry.value.entries


def text_of(mapping: Mapping, key: str) -> str | None:
    entry = mapping.get(key)
    if entry is None or not isinstance(entry.value, Scalar) or is_word(entry.value, "none"):
        return None
    return entry.value.text


def _calls(text: str) -> bool:
    return kind_of(text.rpartition(" ")[0].rstrip()).acts_on == "a function"


def action_of(does: Entry | None) -> tuple[str, str]:
    """The verb and the resource of the first thing that is done."""
    value = does.value if does is not None else None
    if isinstance(value, Sequence):
        written = (each for each in value.items if isinstance(each, Scalar))
        value = next((each for each in written if not _calls(each.text)), None)
    if not isinstance(value, Scalar) or " " not in value.text:
        return (value.text if isinstance(value, Scalar) else "", "")
    verb, _, resource = value.text.rpartition(" ")
    return verb, resource
