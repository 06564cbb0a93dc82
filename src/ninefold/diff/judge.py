"""What a difference means for whom: the kind of its key, the side on which it is felt, and its direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from ninefold.contract.writes import acted_on
from ninefold.diff.admissions import admitted, cells
from ninefold.diff.alone import Alone, Both
from ninefold.diff.changes import Change
from ninefold.diff.normal import Words
from ninefold.diff.promise import Promise
from ninefold.diff.readers import WIDER, of_schemas, shown_fields
from ninefold.diff.sight import Sight, sight
from ninefold.diff.values import direction
from ninefold.diff.verdicts import Direction, Effect, effects
from ninefold.language.authentication import BY_CALLER
from ninefold.language.fact import value_of
from ninefold.language.key import Key, Kind, Side
from ninefold.language.shapes import Text
from ninefold.language.sides import side_of
from ninefold.language.table import key_at
from ninefold.pipeline import Loaded
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar

_TEXT = "change a text"

_ADDED: dict[Kind, Direction] = {Kind.RESTRICTS: "less"}
_TURNED: dict[Direction, Direction] = {
    "more": "less",
    "less": "more",
    "other": "other",
    "unproved": "unproved",
    "same": "same",
}


class Judge:
    """Two contracts, and the promise of the old one."""

    def __init__(self, both: Both, words: tuple[Words, Words], promise: Promise) -> None:
        self.both, self.words, self.promise = both, words, promise
        self.documents = both.old.document, both.new.document

    def effects(self, change: Change, alone: Alone) -> tuple[Effect, ...]:
        """All of them; none: nothing that the service does is another."""
        found = [*self._gaps(alone)]
        if not alone.felt or change.key.kind is Kind.TELLS or (not found and self._is_proved_the_same(change)):
            return tuple(found)
        if found and self._all_of_it(alone):
            return tuple(found)
        found += of_schemas(change, self.sights, self.shown, self.promise)
        declared = side_of(change.part, change.key.path)
        found += self._more_words(change)
        if not alone.felt.routes and {*alone.felt.rest.values()} == {"runs"}:
            return (*found, *effects("runs", "unproved", self.promise, said="what rows have to be is checked"))
        if change.key.shape in BY_CALLER or (declared == "guards" and change.part == 5):
            found += self._admissions(change)
        elif declared != "used" and not self._only_used(change):
            found += self._declared(change, declared, alone)
        found += self._met(change, alone, declared)
        found += self._elsewhere(alone)
        found += self._known_by(change)
        found += self._emptied(change)
        if not found:
            found += self._unmet(change, alone)
        return tuple(dict.fromkeys(found))

    @cached_property
    def sights(self) -> tuple[Sight, Sight]:
        return sight(self.both.old.contract), sight(self.both.new.contract)

    @cached_property
    def shown(self) -> frozenset[tuple[str, str]]:
        """The fields that both contracts show."""
        return shown_fields(self.both.old.contract) & shown_fields(self.both.new.contract)

    def _gaps(self, alone: Alone) -> Iterator[Effect]:
        for each in alone.opened:
            costs = f"{', '.join(each.blocks)} answers 501" if each.blocks else each.left_out or "nothing is served"
            if not each.blocks and not alone.felt:
                continue
            yield Effect("senders", "breaking", None, f"a gap opens: {each.text} ({costs})")
        for each in alone.closed:
            yield Effect("senders", "compatible", "close a gap", f"a gap closes: {each.text}")

    def _is_proved_the_same(self, change: Change) -> bool:
        return change.how == "changed" and change.key.narrows and self.direction(change) == "same"

    def _all_of_it(self, alone: Alone) -> bool:
        """Whether what is felt is what the gaps say: endpoints that are blocked, or were, or what is left out."""
        if any(not each.blocks for each in alone.closed):
            return False  # what was left out may be what restricts
        blocked = {key for each in (*alone.opened, *alone.closed) for key in each.blocks}
        return any(not each.blocks for each in alone.opened) or {*alone.felt.endpoints} <= blocked

    def _only_used(self, change: Change) -> bool:
        """Whether it has no effect but where it is used."""
        return change.key.kind is Kind.NAMES and change.how in ("added", "removed") and change.key.promise is None

    # By the side that the key declares.

    def _declared(self, change: Change, side: Side, alone: Alone) -> Iterator[Effect]:
        key = change.key
        if isinstance(key.shape, Text) and change.how == "changed" and key.kind is not Kind.ASKED and side == "gives":
            listed = self.promise.words is not None and self.promise.lists(_TEXT)
            yield Effect("readers", "compatible" if listed else "look", _TEXT, "a text is another")
            return
        way = self.direction(change)
        if side == "moves" and not alone.felt.sides - {"runs"}:
            side = "runs"
        word = key.promise if way == "more" else None
        if way == "more" and word is None and key.path.endswith(".*"):
            word = self._word_around(change)
        met = {each.direction for each in alone.met if each.side == "takes"}
        if side == "takes" and met and (way == "more" or met != {"more"}):
            return  # said member by member
        if side == "gives" and key.path.endswith(".*") and any(each.side == "gives" for each in alone.met):
            return
        yield from effects(side, way, self.promise, word)
        if side == "moves" and "tells" in alone.felt.sides:
            yield from effects("tells", "unproved" if way == "unproved" else "other", self.promise)
        if key.path == "ENDPOINT" and change.how == "added":
            yield Effect("owners", "opens", key.promise, "more can be asked")

    def _word_around(self, change: Change) -> str | None:
        path = change.key.path.removesuffix(".*")
        try:
            return key_at(change.part, path).promise
        except KeyError:
            return None

    def direction(self, change: Change) -> Direction:
        old, new = change.old, change.new
        key = change.key
        if key.kind is Kind.FALLS_BACK and (old is None or new is None):
            stood = _line(key, self.documents[0]) if old is None else old.node
            stands = _line(key, self.documents[1]) if new is None else new.node
            if stood is not None and stands is not None:
                return direction(key, stood, stands, self.documents, self.words)
            return "other"
        match change.how:
            case "added":
                return _ADDED.get(key.kind, "more")
            case "removed":
                return _TURNED[_ADDED.get(key.kind, "more")]
            case "renamed":
                return "other"
            case "changed":
                assert old is not None and new is not None
                return direction(key, old.node, new.node, self.documents, self.words)

    def _elsewhere(self, alone: Alone) -> Iterator[Effect]:
        """Of a path: whose requests it takes, and who is left with its own."""
        for (_, key), others in alone.felt.elsewhere.items():
            by = _few([f"answered by `{each}`" if " " in each else each for each in others])
            yield from effects("takes", "less", self.promise, said=f"some requests to `{key}` are {by}")

    def _more_words(self, change: Change) -> Iterator[Effect]:
        """Of a state: whoever reads it may meet a word that is not known, by transitions that alone lead nowhere."""
        if change.part == 3 and change.how == "added" and change.key.path.startswith("RESOURCE.states"):
            said = "rows may be in a state that readers do not know"
            yield from effects("gives", "more", self.promise, "add a state", said)

    def _known_by(self, change: Change) -> Iterator[Effect]:
        """Of a primary key: which rows may be there beside each other."""
        if change.part == 2 and change.key.path.startswith("RESOURCE.primary key") and change.how != "added":
            yield from effects("takes", "less", self.promise, said="rows that differ in it alone are one")

    def _emptied(self, change: Change) -> Iterator[Effect]:
        """Of a member more of a body that replaces: who does not give it leaves rows without a value that they had."""
        if change.part != 4 or change.key.path != "ENDPOINT.body" or change.how != "added" or change.new is None:
            return
        endpoint = self.both.new.contract.endpoints_by_key.get(change.names[0])
        resource = None if endpoint is None else acted_on(endpoint)
        name = change.new.node.text if isinstance(change.new.node, Scalar) else None
        if endpoint is None or endpoint.method != "PUT" or name is None:
            return
        resources = value_of(self.both.old.contract.resources.resources) or ()
        fields = (each for one in resources if one.name == resource for each in value_of(one.fields) or ())
        if any(each.name == name for each in fields):
            yield from effects("takes", "unproved", self.promise, said=f"`{name}` is emptied where it is not given")

    # Who is admitted.

    def _admissions(self, change: Change) -> Iterator[Effect]:
        old, new = change.old, change.new
        key = change.key
        if key.shape not in BY_CALLER:
            yield from effects("guards", self.direction(change), self.promise)
            return
        has_another = any(change.names[-1] in each.contract.endpoints_by_key for each in (self.both.old, self.both.new))
        lines = [_line(key, each) if has_another else None for each in self.documents]
        stood, stands = (lines[n] if place is None else place.node for n, place in enumerate((old, new)))
        of_rows = key.path.startswith("rows")
        word = "show more rows" if of_rows else None
        before = admitted(stood, self.words[0], _schemes(self.both.old))
        after = admitted(stands, self.words[1], _schemes(self.both.new))
        ways: dict[str, Direction] = {"wider": "more", "narrower": "less", "other": "other", "unproved": "unproved"}
        for cell in cells(before, after):
            yield from effects("guards", ways[cell.relation], self.promise, word, cell.said)

    # Where it is used.

    def _met(self, change: Change, alone: Alone, declared: Side) -> Iterator[Effect]:
        for each, endpoints in alone.met.items():
            where = _few(endpoints)
            if each.direction == "more" and change.how == "added" and change.key.promise is not None:
                each = replace(each, word=change.key.promise)  # what brings it with it is what is promised
            yield from effects(each.side, each.direction, self.promise, each.word, f"{where}: {each.said}")
            if each.side == "takes" and each.is_schema and each.direction == "more" and each.word != _FIELD:
                listed = each.word is not None and self.promise.lists(each.word)
                yield Effect("readers", "compatible" if listed else "look", each.word, WIDER)
            is_shown = each.side in ("gives", "tells") and each.word != _KIND
            if is_shown and each.direction == "more" and not _is_new_field(change):
                yield Effect("owners", "opens", each.word, f"{where}: {each.said}")

    def _unmet(self, change: Change, alone: Alone) -> Iterator[Effect]:
        """Felt, and neither declared nor met member by member: what rows are made of, or by which they are found."""
        of_routes = frozenset(side for sides in alone.felt.routes.values() for side in sides)
        if change.how in ("added", "removed") and change.key.kind is Kind.NAMES and of_routes <= {"moves"}:
            said = "rows are kept in another form: `ninefold upgrade` moves them"
            yield Effect("operators", "compatible", None, said)
            return
        for side in sorted(alone.felt.sides - {"runs"}) or ["runs"]:
            yield from effects(side, "unproved", self.promise, said="something else comes of it")


_FIELD = "add an optional field"
_KIND = "add an event kind"


def _is_new_field(change: Change) -> bool:
    return change.part == 2 and change.how == "added" and change.key.kind is Kind.NAMES


def _few(endpoints: list[str]) -> str:
    first = list(dict.fromkeys(endpoints))
    return ", ".join(first[:3]) + (f" and {len(first) - 3} more" if len(first) > 3 else "")


def _schemes(loaded: Loaded) -> tuple[str, ...]:
    return tuple(each.name for each in value_of(loaded.contract.authentication.schemes) or ())


def _line(key: Key, document: Document) -> Node | None:
    """What stands at the line that holds instead of a key; None: nothing, or it is no line of its own."""
    if key.line is None:
        return None
    part, path = key.line
    node: Node = document.parts[part - 1].facts
    for name in path.split("."):
        entry = node.get(name) if isinstance(node, Mapping) else None
        if entry is None or entry.proposed:
            return None
        node = entry.value
    return None if isinstance(node, Scalar) and node.says("not shown") else node
