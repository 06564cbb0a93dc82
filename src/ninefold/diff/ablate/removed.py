"""A contract with a fact less, beside the whole one: what is open of it now, and what of a difference what is left
accounts for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from ninefold.contract.survey import Survey
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Span
from ninefold.diff.ablate.compare import Change, does_more, is_less, refuses, says_the_same, shows_more, without_member
from ninefold.diff.ablate.facts import Removal, Said, Written
from ninefold.diff.ablate.fixed import Asked, Whole
from ninefold.diff.ablate.provenance import attributed, inside
from ninefold.diff.rehearsal import Seen
from ninefold.language.conditions import STATUSES
from ninefold.language.fact import value_of
from ninefold.language.key import Kind
from ninefold.language.question import OpenQuestion
from ninefold.pipeline import Loaded
from ninefold.syntax.nodes import Entry, Mapping, Scalar
from ninefold.trace.causes import places
from ninefold.values.keywords import SAME_VALUE

REFUSALS = 7

VERSIONING = 9

AUTHENTICATION = 5
"""The part in which nothing merely restricts."""

AsIf: TypeAlias = Callable[[Said], tuple[Change, ...] | None]
"""What comes of the fixed requests where something is said in the place of the fact; None: that is an error."""


@dataclass(frozen=True, slots=True)
class Removed:
    """`loaded`: what is left. `as_if`: what a contract comes to that says something instead."""

    whole: Whole
    fact: Written
    removal: Removal
    loaded: Loaded
    as_if: AsIf

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.loaded.diagnostics if each.code.severity is Severity.ERROR)

    @property
    def questions(self) -> tuple[OpenQuestion, ...]:
        """The questions that are open now and were not."""
        return _further(self.whole.loaded.open_questions, self.loaded.open_questions)

    # What is not served.

    def blocks(self, change: Change) -> bool:
        """Whether a question that is open now blocks what a request asks for."""
        assert self.loaded.plan is not None
        return self._is_blocked(self.asked_for(change), attributed(self.loaded.plan, change.new).version)

    def blocks_still(self, asked: Asked) -> bool:
        """The same of a request that is answered as it was."""
        return asked.told.method != "OPTIONS" and self._is_blocked(
            asked.seen.endpoint, attributed(self.whole.plan, asked.seen).version
        )

    def _is_blocked(self, endpoint: str | None, version: str | None) -> bool:
        """In a version: another one may not have what the gap is about, or not read it."""
        before, now = _open(self.whole.loaded, version), _open(self.loaded, version)
        questions = self.questions if now is None else _further(before or (), now)
        return any(endpoint in each.blocks for each in questions)

    def lacks(self, change: Change) -> bool:
        """Whether what is asked for needs a value that the operator does not give."""
        assert self.loaded.plan is not None
        operator = self.loaded.plan.operator
        return any(change.new.endpoint in each.blocks and each.name not in self.whole.given for each in operator)

    def asked_for(self, change: Change) -> str | None:
        """The endpoint that a request is for. Where callers have versions, who it was that called may not be known now,
        and the request is of another version, in which its path may be another endpoint's, or none's."""
        if change.old.endpoint == change.new.endpoint:
            return change.old.endpoint
        assert self.loaded.plan is not None
        before = attributed(self.whole.plan, change.old).version
        now = attributed(self.loaded.plan, change.new).version
        return change.old.endpoint if now == before else change.new.endpoint

    # What the kind allows.

    def explains(self, change: Change) -> bool:
        """Whether a difference is one that the kind allows."""
        new, old = change.new, change.old
        if is_less(new, old) or _is_bare(new, old) or change.turns_on_a_tag:
            return True
        if self.questions and refuses(old) and refuses(new):
            return True  # what comes later in the order of conditions is refused for what is not shown
        if self.questions and self.asked_for(change) != old.endpoint:
            return True  # as is what is asked of another version
        if self.fact.kind is Kind.RESTRICTS:
            # Its own refusals: of requests, or of rows that a list leaves out. What narrows a restriction gives that
            # one more to refuse when it goes.
            # A row that was left out may refuse what is done to all of them; and what was due is kept back no more.
            more = shows_more(new, old) or (self.fact.names[-1] == "where" and refuses(new))
            own = self.is_named(change.asked.refused_for) if refuses(old) else more or does_more(new, old)
            is_type = self.fact.names[-1] == "format"  # by which values are compared, as times or as text
            elsewhere = self._named_members(change) or self._is_asked_of_a_body(change)
            return own or is_type or Kind.RESTRICTS in self.fact.within or elsewhere
        return True

    def _named_members(self, change: Change) -> bool:
        """Whether the fact named members (meaning "unknown members"): what it no longer names is unknown, and where
        nothing names any, none is unknown or left out."""
        if self.fact.names[-1] not in _NAMING or self.loaded.plan is None or self.whole.loaded.plan is None:
            return False
        told = (
            *attributed(self.loaded.plan, change.new).refusals,
            *attributed(self.whole.loaded.plan, change.old).refusals,
        )
        return any(each.rule in ("unknown", "required") for each in told)

    def _is_asked_of_a_body(self, change: Change) -> bool:
        """Whether a body has to say what an `immutable` identifier says by the path (meaning "who gives a value")."""
        if self.fact.names[-1] != "immutable":
            return False
        assert self.loaded.plan is not None
        field = _entry(self.whole.loaded.document.parts[self.fact.part - 1].facts, self.fact.names[:-1])
        source = self.whole.loaded.source
        return field is not None and any(
            each.rule == "required" and any(inside(place, field.span, source) for place in places(each.causes))
            for each in attributed(self.loaded.plan, change.new).refusals
        )

    def is_spoken_for(self, change: Change) -> bool:
        """Whether something else that stands says it: a wider line of part 7, the reference beside a `type`, or, of
        what was `secret`, that a field is readable."""
        return self.is_wider_code(change) or self._follows(change) or self._is_readable(change)

    def _is_readable(self, change: Change) -> bool:
        """Whether nothing is otherwise but that a field is kept and shown that was `secret`."""
        return self.fact.names[-1] == "secret" and without_member(change.new, self.fact.names[-2]) == without_member(
            change.old, self.fact.names[-2]
        )

    def is_wider_code(self, change: Change) -> bool:
        """Whether one refusal came for another of the same condition: `forbidden` for `forbidden lot`."""
        new, old = change.new, change.old
        return self.fact.part == REFUSALS and refuses(new) and refuses(old) and bool(new.body)

    def _follows(self, change: Change) -> bool:
        """Whether the `type` beside a reference follows from it (meaning "references"): what comes is what comes where
        the type of what the target is known by is written in its place."""
        if self.fact.names[-1] != "type":
            return False
        followed = self._type_of(self.fact.names[:-1])
        return followed is not None and self._comes_of(followed, change)

    def _type_of(self, field: tuple[str, ...]) -> str | None:
        """The type that a field has by what it refers to."""
        resources = self.whole.loaded.document.part("resources").facts
        target = _word(resources, *field, "references")
        key = None if target is None else _word(resources, target, "primary key")
        if target is None or key is None:
            return None
        known_by = target, "fields", key
        return _word(resources, *known_by, "type") or self._type_of(known_by)

    def _comes_of(self, said: Said, change: Change) -> bool:
        """Whether the response is the one that comes where something is said in the fact's place."""
        others = self.as_if(said)
        if others is None:
            return False
        return change.new == next((each.new for each in others if each.asked is change.asked), change.old)

    def is_named(self, places: frozenset[Place]) -> bool:
        source = self.whole.loaded.source
        return any(inside(place, span, source) for place in places for span in (self.fact.span, *self._shared()))

    def _shared(self) -> Iterator[Span]:
        """The shared schemas that the fact brings in: what they refuse, it refuses."""
        text = self.whole.loaded.source.text[self.fact.span.start : self.fact.span.end]
        types = self.whole.loaded.document.part("resources").facts.get("types")
        if types is not None and isinstance(types.value, Mapping):
            for entry in types.value.entries:
                if f"#/types/{entry.name}" in text:
                    yield entry.span

    def is_its_own(self, change: Change) -> bool:
        """Whether a difference is in what the fact speaks of: an endpoint's own facts are about its responses, part 6
        about events, part 7 about refusals."""
        new, old, names = change.new, change.old, self.fact.names
        if change.turns_on_a_tag:
            return True
        match self.fact.part:
            case 4 if " " in names[0] and len(names) > 1:
                return names[0] in (old.endpoint, _newest_key(self.whole.loaded, old.endpoint))
            case 6:
                return says_the_same(new, old) or old.endpoint in self._of_events()
            case 7:
                return refuses(old) and refuses(new)
            case _:
                return True

    def _of_events(self) -> frozenset[str]:
        """The endpoints that tell of events, that read the log, or that take who wants to be told."""
        endpoints = value_of(self.whole.loaded.contract.endpoints.endpoints) or ()
        does = {each.key: value_of(each.does) or () for each in endpoints}
        subscription = Survey(self.whole.loaded.contract).graph.subscription
        told = {key for key, done in does.items() if any(each.resource == subscription for each in done)}
        return frozenset((*told, *Survey(self.whole.loaded.contract).reading_back))

    # What anybody may do or see.

    def is_wider(self, change: Change) -> bool:
        if self.fact.part != AUTHENTICATION or self.errors or change.turns_on_a_tag:
            return False
        return shows_more(change.new, change.old) and not self._sees_none(change)

    def _sees_none(self, change: Change) -> bool:
        """Whether the caller sees no row of the resource any more, and what it is shown, or what it does to all rows,
        is what comes of that: it is what a contract comes to that says so."""
        if self.fact.path != "rows.RESOURCE":
            return False
        schemes = self.whole.loaded.document.part("authentication").facts.under("schemes")
        return self._comes_of(tuple((who, "false") for who in (*(each.name for each in schemes), "anyone")), change)

    def stands_open(self, change: Change) -> bool:
        """Whether `all others` says so, of an endpoint that has no line of its own any more; or what the line says of
        somebody else, such as `anyone`, as whom the caller comes now."""
        before, now = _lines(self.whole.loaded), _lines(self.loaded)
        had_its_own = change.old.endpoint in before and change.old.endpoint not in now
        return ("all others" in now and had_its_own) or self._comes_as_another(change)

    def _comes_as_another(self, change: Change) -> bool:
        assert self.loaded.plan is not None
        before, now = attributed(self.whole.plan, change.old), attributed(self.loaded.plan, change.new)
        line = self.loaded.contract.permission(now.endpoint or "")
        admits = () if line is None else value_of(line.admits) or ()
        return now.caller != before.caller and any(
            each.who.text == now.caller and not self.fact.span.meets(each.who.span) for each in admits
        )


def _further(before: Iterable[OpenQuestion], now: Iterable[OpenQuestion]) -> tuple[OpenQuestion, ...]:
    known = {(each.question.id, each.subject, each.text) for each in before}
    return tuple(each for each in now if (each.question.id, each.subject, each.text) not in known)


def _open(loaded: Loaded, version: str | None) -> tuple[OpenQuestion, ...] | None:
    """What one version leaves open; None: it is not shown. The newest tells of the others, too."""
    found = loaded.of(version)
    if found is None or found is not loaded:
        return None if found is None else found.open_questions
    of_others = {id(each) for older in loaded.older for each in older.open_questions}
    return tuple(each for each in loaded.open_questions if id(each) not in of_others)


def _entry(facts: Mapping, names: tuple[str, ...]) -> Entry | None:
    """What is written at a path of names."""
    *above, last = names
    for name in above:
        entry = facts.get(name)
        if entry is None or not isinstance(entry.value, Mapping):
            return None
        facts = entry.value
    return facts.get(last)


def _word(facts: Mapping, *names: str) -> str | None:
    """The word at a path of names."""
    entry = _entry(facts, names)
    return entry.value.text if entry is not None and isinstance(entry.value, Scalar) else None


def _is_bare(new: Seen, old: Seen) -> bool:
    return refuses(old) and new.status in STATUSES.values() and not new.body


def _lines(loaded: Loaded) -> frozenset[str]:
    """The endpoints, and `all others`, of which part 5 says who may call them."""
    permissions = loaded.document.part("authentication").facts.get("permissions")
    return frozenset(entry.name for entry in getattr(getattr(permissions, "value", None), "entries", ()))


def _newest_key(loaded: Loaded, endpoint: str | None) -> str | None:
    """What an endpoint of some version is called in the newest."""
    versions = None if loaded.checked is None else loaded.checked.versions
    called: dict[str, str] = {}
    for version in () if versions is None else versions.versions:
        called |= {here: called.get(above, above) for here, above in version.moved.items()}
    return endpoint if endpoint is None else called.get(endpoint, endpoint)


_NAMING = {"properties", "patternProperties", "additionalProperties", *SAME_VALUE} - {"not"}
"""The keywords of a schema by which members are named (meaning "unknown members")."""
