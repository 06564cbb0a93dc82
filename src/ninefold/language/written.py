"""The names that a document has at their places, before any of it is read: what a wrong word is likely to mean."""

from __future__ import annotations

from collections.abc import Mapping

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.suggest import singulars
from ninefold.language.key import KeysUnder
from ninefold.syntax.nodes import Document, Entry, Node, Part, Scalar, Word, is_word
from ninefold.syntax.nodes import Mapping as MappingNode


@dataclass(frozen=True, slots=True)
class Written:
    """`resources`: None where part 2 is not shown. `transitions[R]`: the transitions of a resource, each with the
    state that it leads to, or nothing; a resource that has none is not there, nor is one of which it is not known,
    which is `unknown`."""

    resources: tuple[str, ...] | None
    transitions: Mapping[str, Mapping[str, str]]
    unknown: frozenset[str]

    def resource(self, word: str) -> str | None:
        """The resource that a word means: its name in any case, or in the plural."""
        folded = {each.casefold(): each for each in self.resources or ()}
        return next((folded[each] for each in singulars(word) if each in folded), None)


def written(document: Document, keys_under: KeysUnder) -> Written:
    own = _named(document.part("resources"), {key.name for key in keys_under(2, "") if not key.is_placeholder})
    machines = _named(document.part("states"), {key.name for key in keys_under(3, "") if not key.is_placeholder})
    resources = None if own is None else tuple(each.name for each in own if not is_word(each.value, "none"))
    shown = {each.name: each.value for each in machines or () if not is_word(each.value, "not shown")}
    is_none = machines == ()
    unknown = frozenset(name for name in resources or () if name not in shown and not is_none)
    transitions = {name: _transitions(value) for name, value in shown.items() if isinstance(value, MappingNode)}
    return Written(resources, transitions, unknown)


def _named(part: Part, keys: set[str]) -> tuple[Entry, ...] | None:
    """What a part has under names that the contract chooses; None: that is not known."""
    if not part.facts.entries:
        return () if part.statement is not None and part.statement.word is Word.NONE else None
    return tuple(each for each in part.facts.entries if each.name not in keys)


def _transitions(machine: MappingNode) -> Mapping[str, str]:
    return {each.name: _leads_to(each.value) for each in machine.under("transitions")}


def _leads_to(transition: Node) -> str:
    to = transition.get("to") if isinstance(transition, MappingNode) else None
    return to.value.text if to is not None and isinstance(to.value, Scalar) else ""
