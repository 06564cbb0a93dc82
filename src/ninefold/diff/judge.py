"""What a difference means for whom: the kind of its key, the side on which it is felt, and its direction."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from ninefold.diff.admissions import Admitted, admitted, cells, schemes_of_both
from ninefold.diff.alone import Alone, Both
from ninefold.diff.answers import of_conditions
from ninefold.diff.audiences import (
    besides,
    has_new_states,
    is_implied,
    is_of_others,
    is_untold,
    of_older_name,
    of_records,
    of_values,
    side_of_change,
    tells_by_itself,
    timers,
)
from ninefold.diff.changes import Change
from ninefold.diff.domains import NOTHING_KNOWN, domains_of, of_both
from ninefold.diff.flows import Flows, is_told
from ninefold.diff.meaning import Piece, meaning
from ninefold.diff.normal import Words
from ninefold.diff.orders import of_order, of_precedence
from ninefold.diff.readers import WIDER, of_schemas, of_the_same_values
from ninefold.diff.rows import of_rows
from ninefold.diff.shown import members_read
from ninefold.diff.values import amount, direction, line_of
from ninefold.diff.verdicts import WHO, Audience, Direction, Effect, Promise, effects, few, side_of
from ninefold.language.authentication import BY_CALLER
from ninefold.language.json_schema import KEYWORDS
from ninefold.language.key import Key, Kind, Side
from ninefold.language.leaves import words_of
from ninefold.language.shapes import Text
from ninefold.language.table import key_at
from ninefold.syntax.nodes import Document, Node, Scalar

_TEXT = "change a text"

_ADDED: dict[Kind, Direction] = {Kind.RESTRICTS: "less"}
_TURNED: dict[Direction, Direction] = {
    "more": "less",
    "less": "more",
    "other": "other",
    "unproved": "unproved",
    "same": "same",
}


_UNSAID: Final = (Kind.ADDS, Kind.ASKED_WHEN)
"""Kinds of which one more may be something else: that it takes nothing away, its key says by a word of part 9."""


class Judge:
    """Two contracts, and the promise of the old one."""

    def __init__(self, both: Both, words: tuple[Words, Words], promise: Promise) -> None:
        self.both, self.words, self.promise = both, words, promise
        self.documents = both.old.document, both.new.document
        sides = (both.old.checked, both.new.checked)
        self.known = of_both(*(NOTHING_KNOWN if each is None else domains_of(each.resources) for each in sides))

    def effects(self, change: Change, alone: Alone) -> tuple[Effect, ...]:
        """All of them; none: nothing that the service does is another."""
        found = [*self._gaps(change, alone)]
        is_words = change.key.kind is Kind.TELLS or self._is_only_called(change, alone) or is_untold(change, self.both)
        if not alone.felt or is_words or (not found and self._is_proved_the_same(change)):
            return tuple(found)
        if found and self._all_of_it(alone):
            return tuple(found)
        same = tuple(of_the_same_values(change, alone, self.both))
        if same:
            return (*found, *same)
        if change.how == "reordered":
            return (*found, *of_order(change, alone, self.both, self.promise))
        found += of_schemas(change, self.both, self.promise)
        declared = side_of_change(change, self.both)
        found += self._more_words(change)
        found += of_rows(alone, self.both, has_rules=not self._keeps_rules(change))
        if not alone.felt.routes and {*alone.felt.rest.values()} == {"runs"}:
            return tuple(found)
        if change.key.shape in BY_CALLER or (declared == "guards" and change.part == 5):
            found += self._admissions(change)
        elif declared != "used" and not self._only_used(change):
            found += self._declared(change, declared, alone)
        found += besides(change, self.direction(change), alone, self.both, self.promise)
        found += self._met(change, alone, declared)
        found += self._elsewhere(alone)
        found += self._moved(change, alone, declared)
        found += self._reached(change, alone, found)
        found += of_older_name(change, alone, found, self.promise)
        if not found:
            found += self._unmet(change, alone)
        return tuple(dict.fromkeys(found))

    def flows(self, change: Change) -> frozenset[Side] | None:
        """Where the values are felt that a change gives a field, in either contract; None: it gives none."""
        found = [each.of(change) for each in self._flows]
        known = [each for each in found if each is not None]
        return frozenset(side for sides in known for side in sides) if known else None

    def _felt(self, resource: str, field: str) -> frozenset[Side]:
        return frozenset(side for each in self._flows for side in each.felt(resource, field))

    @cached_property
    def _admitting(self) -> frozenset[str]:
        return frozenset(resource for each in self._flows for resource in each.admitting())

    @cached_property
    def _flows(self) -> tuple[Flows, Flows]:
        return Flows(self.both.old.contract), Flows(self.both.new.contract)

    def _keeps_rules(self, change: Change) -> bool:
        """Whether rows keep the checks that there are: for another name none is another."""
        return change.called is not None or (change.key.narrows and self.direction(change) == "more")

    def _gaps(self, change: Change, alone: Alone) -> Iterator[Effect]:
        def who(blocks: Collection[str]) -> Audience:
            """Who asks what is blocked, else for whom there is what is left out."""
            return "senders" if blocks else WHO[side_of(change.part, change.key.path)]

        for each in alone.opened:
            costs = f"{', '.join(each.blocks)} answers 501" if each.blocks else each.left_out or "nothing is served"
            if not each.blocks and not alone.felt:
                continue
            yield Effect(who(each.blocks), "breaking", None, f"a gap opens: {each.text} ({costs})")
        for each in alone.closed:
            yield Effect(who(each.blocks), "compatible", "close a gap", f"a gap closes: {each.text}")

    def _is_proved_the_same(self, change: Change) -> bool:
        if change.how == "changed" and change.key.shape in BY_CALLER:
            before, after = self._admitted(change)
            return before.keys() == after.keys() and not [*cells(before, after, self.known)]
        is_one = change.how == "changed" and change.key.narrows
        return (is_one or is_implied(change, self.documents)) and self.direction(change) == "same"

    def _is_only_called(self, change: Change, alone: Alone) -> bool:
        """Whether a scheme has another name, which no caller sees, and plans differ in that alone."""
        if change.how != "renamed" or change.key.path != "schemes.SCHEME" or alone.plan is None:
            return False
        assert change.old is not None and change.new is not None
        names = (change.old.name, change.new.name)
        was, now = self.both.before.pieces, meaning(alone.plan).pieces
        return was.keys() == now.keys() and all(each.is_called(*names, now[key]) for key, each in was.items())

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
        is_lasting = key.path == "schemes.SCHEME.lasts" and alone.felt.routes
        if is_lasting and ("granted", "expires_in") in members_read(self.both.new_plan):
            yield Effect("readers", "look", None, "who is given a credential is told another time")
        if key.path == "ENDPOINT.ends" or has_new_states(change, self.both):
            return
        if key.path == "precedence":
            yield from of_precedence(alone, self.both, side, self.promise)
            return
        if key.path.startswith(_RECORDS) and alone.plan is not None:
            yield from of_records(alone.before, alone.plan, self.both, self._felt, self._admitting, self.promise)
            return
        if side == "moves" and not alone.felt.sides - {"runs"}:
            side = "runs"
        sides = self.flows(change) if side == "moves" or change.how == "renamed" else None
        if sides is not None:
            yield from of_values(way, sides, self.promise)
            return
        if way == "more" and is_of_others(change, side, self.promise):
            way = "other"
        if key.path in _CODES and change.how in ("added", "removed"):
            now = alone.plan or self.both.new_plan
            for each in of_conditions(Piece(alone.before.problems).plain, Piece(now.problems).plain):
                yield from effects(each.side, each.direction, self.promise, each.word, each.said)
            if key.path != "codes.CODE":
                return
        word = key.promise if way == "more" else None
        if way == "more" and word is None and key.path.endswith(".*"):
            word = self._word_around(change)
        met = {each.direction for each in alone.met if each.side == "takes"}
        if side == "takes" and met and (way == "more" or met != {"more"} or key.kind is Kind.NAMES):
            return  # said member by member
        if side == "takes" and met and key.name in KEYWORDS:
            if alone.felt.sides - {"takes"}:
                yield from effects("moves", "unproved", self.promise, said="it is read as another value")
            return
        if side in ("gives", "tells") and change.how == "changed" and alone.adds:
            return  # said member by member
        is_member = key.path.endswith(".*") and change.how != "changed"
        if side == "gives" and is_member and any(each.side == "gives" for each in alone.met):
            return
        found = effects(side, way, self.promise, word)
        if word is None and way == "more" and change.how == "added" and key.kind in _UNSAID:
            found = (_unproved(each) for each in found)
        yield from found
        if side == "moves" and "tells" in alone.felt.sides:
            yield from effects("tells", _other(way), self.promise)
        if side == "moves" and "takes" in alone.felt.sides:
            yield from effects("takes", "unproved", self.promise, said="what is asked of requests reads it")
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
        if is_implied(change, self.documents):
            return "same"
        if key.kind is Kind.FALLS_BACK and (old is None or new is None):
            stood = line_of(key, self.documents[0]) if old is None else old.node
            stands = line_of(key, self.documents[1]) if new is None else new.node
            if stood is not None and stands is not None:
                return direction(key, stood, stands, self.documents, self.words, self.known)
            return "other"
        match change.how:
            case "added":
                assert new is not None
                return self._of_one(key, new.node, self.documents[1])
            case "removed":
                assert old is not None
                return _TURNED[self._of_one(key, old.node, self.documents[0])]
            case "renamed":
                return "other"
            case "reordered":
                return "unproved"
            case "changed":
                assert old is not None and new is not None
                return direction(key, old.node, new.node, self.documents, self.words, self.known)

    def _of_one(self, key: Key, node: Node, document: Document) -> Direction:
        """From where it is absent to where it is there."""
        if key.order == "other":
            return "other"
        if key.order == "all":
            return "more" if key.kind is Kind.RESTRICTS else "less"
        if key.amount is not None:
            there = amount(key, node, document)
            if there is None or there == key.amount:
                return "same" if there == key.amount else "other"
            return "more" if (there > key.amount) is (key.order == "more") else "less"
        if key.kind is Kind.ADDS and key.order == "words" and isinstance(node, Scalar):
            return "less" if node.says(words_of(key.shape)[0]) else "more"
        return _ADDED.get(key.kind, "more")

    def _elsewhere(self, alone: Alone) -> Iterator[Effect]:
        """Of a path: whose requests it takes, and who is left with its own."""
        for (_, key), others in alone.felt.elsewhere.items():
            by = few([f"answered by `{each}`" if " " in each else each for each in others])
            yield from effects("takes", "less", self.promise, said=f"some requests to `{key}` are {by}")

    def _more_words(self, change: Change) -> Iterator[Effect]:
        """Of a state: whoever reads it may meet a word that is not known, by transitions that alone lead nowhere."""
        if change.part == 3 and change.how == "added" and change.key.path.startswith("RESOURCE.states"):
            said = "rows may be in a state that readers do not know"
            yield from effects("gives", "more", self.promise, "add a state", said)

    def _moved(self, change: Change, alone: Alone, declared: Side) -> Iterator[Effect]:
        """Of a transition: rows that it moves by itself, where it brings its time along; the events that arise upon it;
        and where rows get to that did not."""
        own = change.names[0::2][:2] if change.part == 3 and change.names[1:2] == ("transitions",) else ()
        # What makes no sense alone, since events arise upon it, is as it is in the new contract.
        plan, of = (self.both.new_plan, own) if alone.plan is None and own else (alone.plan, ())
        if declared != "moves" and plan and timers(alone.before, self.both, of) != timers(plan, self.both, of):
            yield from effects("moves", "other", self.promise, said="rows move by themselves otherwise than they did")
        way = self.direction(change)
        if plan is not None and change.called is None and tells_by_itself(alone.before, plan, of):
            yield from effects("tells", _other(way), self.promise, said=_OTHERWISE)
        if change.part != 3 or change.names[1:2] != ("transitions",) or len(change.names) < 3:
            return
        if way == "more" and change.names[3:4] in ((), ("from",)):
            listed = self.promise.lists(_TRANSITION)
            said = "rows may go where they did not"
            yield Effect("readers", "compatible" if listed else "look", _TRANSITION, said)
        if (declared == "moves" or (declared == "takes" and way != "more")) and is_told(
            self.both.old.contract, change.names[2], change.names[0]
        ):
            yield from effects("tells", _other(way), self.promise, said=_OTHERWISE)

    def _reached(self, change: Change, alone: Alone, found: Collection[Effect]) -> tuple[Effect, ...]:
        """Of what says which rows there are for a request that changes several, or one if there is one: a row that was
        not found was no refusal, and each that is found may refuse the request, or changes with it."""
        narrows = change.key.name == "where" or (change.part == 5 and change.key.path.startswith("rows"))
        known = any(each.audience == "senders" and each.verdict in ("breaking", "look") for each in found)
        if known or not narrows or not alone.reached:
            return ()
        said = f"{few([*alone.reached])}: other rows are changed, and each of them may refuse it"
        return (Effect("senders", "look", None, said),)

    # Who is admitted.

    def _admissions(self, change: Change) -> Iterator[Effect]:
        key = change.key
        if key.shape not in BY_CALLER:
            yield from effects("guards", self.direction(change), self.promise)
            return
        of_rows = key.path.startswith("rows")
        word = "show more rows" if of_rows else None
        before, after = self._admitted(change)
        for cell in cells(before, after, self.known):
            yield from effects("guards", cell.direction, self.promise, word, cell.said)

    def _admitted(self, change: Change) -> tuple[Admitted, Admitted]:
        """By the line itself, else by the one that holds instead of it."""
        key = change.key
        has_another = any(change.names[-1] in each.contract.endpoints_by_key for each in (self.both.old, self.both.new))
        lines = [line_of(key, each) if has_another else None for each in self.documents]
        stood, stands = (lines[n] if place is None else place.node for n, place in enumerate((change.old, change.new)))
        were, are = self.both.once(schemes_of_both)
        return admitted(stood, self.words[0], were), admitted(stands, self.words[1], are)

    # Where it is used.

    def _met(self, change: Change, alone: Alone, declared: Side) -> Iterator[Effect]:
        for each, endpoints in alone.met.items():
            where = few(endpoints)
            if each.direction == "more" and change.how == "added" and change.key.promise is not None:
                each = replace(each, word=change.key.promise)  # what brings it with it is what is promised
            yield from effects(each.side, each.direction, self.promise, each.word, f"{where}: {each.said}")
            if each.side == "takes" and each.is_schema and each.direction == "more" and each.word != _FIELD:
                listed = each.word is not None and self.promise.lists(each.word)
                yield Effect("readers", "compatible" if listed else "look", each.word, WIDER)
            is_shown = each.word not in (_KIND, _CODE) if each.side in ("gives", "tells") else each.word == _ENDPOINT
            if is_shown and each.direction == "more" and not _is_new_field(change):
                yield Effect("owners", "opens", each.word, f"{where}: {each.said}")
        if declared == "used" and change.how == "changed" and not alone.adds:
            way: Direction = "other" if self.direction(change) == "other" else "unproved"
            sides: set[Side] = {each.side for each in alone.met if each.direction == "more"}
            for side in sorted(sides & {"gives", "tells"}):
                yield from effects(side, way, self.promise, said="something that is shown is another value")

    def _unmet(self, change: Change, alone: Alone) -> Iterator[Effect]:
        """Felt, and neither declared nor met member by member: what rows are made of, or by which they are found."""
        of_routes = frozenset(side for sides in alone.felt.routes.values() for side in sides)
        if change.how in ("added", "removed") and change.key.kind is Kind.NAMES and of_routes <= {"moves"}:
            said = "rows are kept in another form: `ninefold upgrade` moves them"
            yield Effect("operators", "compatible", None, said)
            return
        for side in sorted(alone.felt.sides - {"runs"}) or ["runs"]:
            yield from effects(side, "unproved", self.promise, said="something else comes of it")


def _other(way: Direction) -> Direction:
    """Neither more nor less, as far as it is proved."""
    return "unproved" if way == "unproved" else "other"


def _unproved(effect: Effect) -> Effect:
    return replace(effect, verdict="look", word=None) if effect.verdict == "compatible" else effect


_OTHERWISE: Final = "events arise otherwise"
_FIELD = "add an optional field"
_RECORDS = "RESOURCE.records"
_CODES: Final = ("codes.CODE", "codes.CODE.for", "codes.CODE.for.*")
_KIND = "add an event kind"
_CODE = "add an error code"
_ENDPOINT = "add an endpoint"
_TRANSITION = "add a transition"


def _is_new_field(change: Change) -> bool:
    return change.part == 2 and change.how == "added" and change.key.kind is Kind.NAMES
