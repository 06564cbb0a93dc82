"""What an explanation is drawn from: a document after all its stages, and how each of its facts stands.

A contract may be half-written, or wrong. So facts are told from `Contract`, which there always is; what only later
stages know (the conditions of a judge, the statements) is added where there is a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, assert_never

from ninefold.checked.endpoints import Stopped
from ninefold.contract.service import Contract
from ninefold.contract.survey import Survey, actions
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Span
from ninefold.language.conditions import STATUSES, precedence
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import ErrorCode
from ninefold.language.expressions import Expression, expressions_in
from ninefold.language.fact import Fact, Gap, Name, Proposal, Shown, StatedNone, value_of
from ninefold.language.question import OpenQuestion
from ninefold.language.resources import Field, Resource
from ninefold.pipeline import Loaded
from ninefold.plan import problems
from ninefold.plan.problems import names
from ninefold.plan.routes import Served
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Scalar, Sequence
from ninefold.tools.explain.explanation import Cause, Item
from ninefold.trace.refusal import Refusal
from ninefold.trace.refusals import refusals

NOT_IN_FORCE = "NF0601"
"""The code of the notes on what is stated and not in force."""

T = TypeVar("T")


@dataclass(frozen=True)
class Grounds:
    loaded: Loaded

    @property
    def contract(self) -> Contract:
        return self.loaded.contract

    @cached_property
    def survey(self) -> Survey:
        return Survey(self.contract)

    @cached_property
    def codes(self) -> Codes:
        return Codes(self.contract)

    @cached_property
    def cases(self) -> dict[str, tuple[Endpoint, ...]]:
        """Each endpoint in each of its cases, by its key."""
        found: dict[str, list[Endpoint]] = {}
        for each in value_of(self.contract.endpoints.endpoints) or ():
            found.setdefault(each.key, []).append(each)
        return {key: tuple(every) for key, every in found.items()}

    @cached_property
    def endpoints_written(self) -> dict[str, Entry]:
        """What is written at the keys of endpoints."""
        return {each.name: each for each in self.part("endpoints").facts.entries}

    @cached_property
    def routes(self) -> dict[str, Served]:
        """What is served, by the endpoint's key; nothing where there is no plan."""
        routes = self.loaded.plan.routes if self.loaded.plan is not None else ()
        return {route.key: route for route in routes if isinstance(route, Served)}

    @cached_property
    def planned(self) -> dict[str, tuple[Refusal, ...]]:
        """What can refuse a request to each endpoint that is served, in each of its cases, by its key."""
        plan = self.loaded.plan
        return {} if plan is None else {key: refusals(route, plan) for key, route in self.routes.items()}

    @cached_property
    def blocking(self) -> dict[str, list[OpenQuestion]]:
        """The open questions that block each endpoint."""
        found: dict[str, list[OpenQuestion]] = {}
        for question in self.loaded.open_questions:
            for key in question.blocks:
                found.setdefault(key, []).append(question)
        return found

    @cached_property
    def stopped(self) -> dict[str, Stopped]:
        """What the checks have stopped, by the endpoint's key; nothing where the contract has errors."""
        checked = self.loaded.checked
        return {each.key: each for each in (checked.stopped if checked is not None else ())}

    @cached_property
    def questions(self) -> dict[Span, OpenQuestion]:
        """Open questions by where their answer is missing."""
        return {each.span: each for each in reversed(self.loaded.open_questions)}

    @cached_property
    def notes(self) -> dict[int, Diagnostic]:
        """What is stated and not in force, by the offset at which it stands."""
        return {each.span.start: each for each in self.loaded.diagnostics if each.code.id == NOT_IN_FORCE}

    def place(self, span: Span) -> Place:
        return self.loaded.source.place(span.start)

    def line(self, span: Span) -> int:
        return self.place(span).line

    def written(self, span: Span) -> str:
        """A stretch of the document in one line."""
        text = self.loaded.source.cut(span)
        if "\n" in text and not text.startswith(("{", "[", '"', "'")):
            # The lines of a block are members or items, which nothing else would divide.
            return "; ".join(filter(None, (line.strip() for line in text.splitlines())))
        return " ".join(text.split())

    def part(self, name: str) -> Part:
        return self.contract.document.part(name)

    # Names.

    def resource(self, name: str | None) -> Resource | None:
        return self.survey.graph.resources.get(name or "")

    def fields(self, resource: str | None) -> dict[str, Field]:
        return dict(self.survey.graph.fields.get(resource or "", {}))

    def acted_on(self, endpoint: Endpoint) -> str | None:
        """The resource that an endpoint acts on."""
        return next((name for action in actions(endpoint) if (name := action.resource) is not None), None)

    # Items.

    def item(
        self,
        text: str,
        span: Span | None = None,
        items: Iterable[Item] = (),
        meanings: tuple[str, ...] = (),
        cause: Cause | None = None,
    ) -> Item:
        """A fact at its place. Where a note says that it is not in force, the item says so too."""
        below = tuple(items)
        if span is None:
            return Item(text, meanings=meanings, items=below, cause=cause)
        below = below or self._terms_in(span)
        note = self.notes.get(span.start)
        if note is None:
            return Item(text, self.place(span), meanings=meanings, items=below, cause=cause)
        consequence = note.labels[0].text
        return Item(text, self.place(span), "not in force", consequence, meanings, below, cause)

    def _terms_in(self, span: Span) -> tuple[Item, ...]:
        """The terms that a fact on one line reads, each with its own line."""
        if not self.terms or "\n" in self.loaded.source.cut(span):
            return ()
        read = {name.text: name for at, names in self.terms.items() if span.start <= at < span.end for name in names}
        return tuple(
            Item(f"`{name.text}` means `{self.terms_written[name.text]}`", self.place(name.span))
            for name in read.values()
        )

    @cached_property
    def terms(self) -> dict[int, tuple[Name, ...]]:
        """The terms that expressions read, by the offset at which each expression stands."""
        return {each.span.start: each.terms for each in expressions_in(self.contract) if each.terms}

    @cached_property
    def terms_written(self) -> dict[str, str]:
        """The expression of each term, in one line. A name may have parameters."""
        written = self.part("resources").facts.under("terms")
        return {
            each.name.partition("(")[0].strip(): " ".join(each.value.text.split())
            for each in written
            if isinstance(each.value, Scalar)
        }

    def fact(
        self,
        called: str,
        fact: Fact[T] | None,
        tell: Callable[[T], str] | None = None,
        meanings: tuple[str, ...] = (),
        span: Span | None = None,
        whole: bool = False,
    ) -> list[Item]:
        """A fact under its key: one item, none where nothing is written. `tell` gives the words for a value, which
        otherwise is told as it is written; `whole`: these words are the whole sentence. `span`: where the fact is told
        to stand, if not at its value."""
        match fact:
            case None:
                return []
            case Gap():
                return [self._gap(f"{called}: not shown", fact.span, "gap")]
            case Proposal(candidate=candidate):
                return [self._gap(f"{called}: {self._candidate(candidate)} is proposed", fact.span, "proposed")]
            case StatedNone():
                item = self.item(f"{called}: none", span or fact.span, meanings=meanings)
                return [replace(item, standing="accepted") if fact.proposed else item]
            case Shown(value):
                words = (self.written(fact.span) if tell is None else tell(value)) or "nothing"
                item = self.item(words if whole else f"{called}: {words}", span or fact.span, meanings=meanings)
                return [replace(item, standing="accepted") if fact.proposed else item]
            case _:
                assert_never(fact)

    def _candidate(self, candidate: Shown[Any] | StatedNone) -> str:
        return "`none`" if isinstance(candidate, StatedNone) else f"`{self.written(candidate.span)}`"

    def _gap(self, text: str, span: Span, standing: str) -> Item:
        question = self.questions.get(span)
        return Item(text, self.place(span), standing, cost(question) if question else "")  # type: ignore[arg-type]

    def gap(self, question: OpenQuestion) -> Item:
        """An open question."""
        item = self._gap(f"not shown: {question.text}", question.span, "proposed" if question.candidate else "gap")
        return replace(item, consequence=cost(question))

    def together(self, text: str, span: Span, parts: Iterable[Item], meanings: tuple[str, ...] = ()) -> Item:
        """A thing and its facts in one item: those that stand on its own line in its sentence, the others below."""
        whole = self.item(text, span, meanings=meanings)
        here, below, cited = [], [], list(meanings)
        for part in parts:
            plain = part.standing == "in force" and not part.items and part.cause is None
            if plain and (part.place is None or (whole.place is not None and part.place.line == whole.place.line)):
                here.append(part.text)
                cited += part.meanings
            else:
                below.append(part)
        words = f"{text}: {', '.join(here)}" if here else text
        return replace(whole, text=words, items=tuple(below), meanings=tuple(dict.fromkeys(cited)))

    def sentence(
        self, called: str, fact: Fact[Name] | None, sentence: str, meanings: tuple[str, ...] = ()
    ) -> list[Item]:
        """A fact that is one word, in a sentence that leaves a `{}` for it."""
        return self.fact(called, fact, lambda value: sentence.format(value.text), meanings, whole=True)

    def expression(self, called: str, fact: Fact[Expression] | None, meanings: tuple[str, ...] = ()) -> list[Item]:
        return self.fact(called, fact, lambda value: f"`{value.text}`", meanings)

    def word(self, called: str, fact: Fact[Name] | None, meanings: tuple[str, ...] = ()) -> list[Item]:
        return self.fact(called, fact, lambda value: value.text, meanings)

    def names(self, called: str, fact: Fact[tuple[Name, ...]] | None, meanings: tuple[str, ...] = ()) -> list[Item]:
        return self.fact(called, fact, lambda value: ", ".join(each.text for each in value), meanings)

    def errors_within(self, span: Span) -> list[Item]:
        """What is wrong in a stretch of the document, or oddly said."""
        return [
            Item(f"{each.code.severity.value}[{each.code.id}]: {each.message}", self.place(each.span), "wrong")
            for each in self.loaded.diagnostics
            if each.code.severity is not Severity.NOTE and span.start <= each.span.start < max(span.end, span.start + 1)
        ]

    def unmentioned(self, node: Node, mentioned: set[int]) -> list[Item]:
        """What is written in a stretch of facts on lines that no item is about, as it is written; of an older version
        nothing, as what it does not have is written there as well."""
        if any(each.contract is self.contract for each in self.loaded.older):
            return []
        found: dict[int, Item] = {}
        for span, text in leaves(node):
            line = self.line(span)
            if line not in mentioned and line not in found:
                found[line] = self.item(text or "nothing", span)
        return list(found.values())


def cost(question: OpenQuestion) -> str:
    """What leaving a question open costs, in words."""
    blocked = {0: "", 1: f"blocks {question.blocks[0]}" if question.blocks else ""}.get(
        len(question.blocks), f"blocks {len(question.blocks)} endpoints"
    )
    left_out = f"leaves out {question.left_out}" if question.left_out else ""
    return "; ".join(filter(None, (blocked, left_out)))


def leaves(node: Node) -> Iterator[tuple[Span, str]]:
    """The single facts in a stretch of facts, a list of words being one: where each stands, and its words."""
    match node:
        case Scalar():
            pass
        case Mapping(entries=entries):
            for entry in entries:
                if isinstance(entry.value, Scalar):
                    yield entry.value.span, f"{entry.name}: {entry.value.text}"
                else:
                    yield from leaves(entry.value)
        case Sequence(items=items):
            if all(isinstance(item, Scalar) for item in items):
                yield node.span, ", ".join(item.text for item in items if isinstance(item, Scalar))
            else:
                for item in items:
                    yield from leaves(item) if not isinstance(item, Scalar) else ((item.span, item.text),)


# Part 7 as the service reads it: which code answers a condition, and which error counts first.


@dataclass(frozen=True)
class Codes:
    """Which code answers a condition, and which counts first: the contract's own words, read as the service does."""

    contract: Contract

    @cached_property
    def by_name(self) -> dict[str, ErrorCode]:
        return {each.name: each for each in value_of(self.contract.errors.codes) or ()}

    @cached_property
    def _conditions(self) -> dict[str, str]:
        return {
            f"{when.condition} {when.subject}" if when.subject else when.condition: code.name
            for code in self.by_name.values()
            for when in value_of(code.conditions) or ()
        }

    @cached_property
    def _ranks(self) -> dict[str, int]:
        stated = value_of(self.contract.errors.precedence) or ()
        return {name: rank for rank, name in enumerate(precedence([each.text for each in stated]))}

    def code(self, endpoint: Endpoint, condition: str, subject: str | None) -> str | None:
        """The code of a condition at an endpoint: the endpoint's own comes first, the narrower name before the
        wider. None: a bare status."""
        own = {name.text: code.text for name, code in value_of(endpoint.errors) or ()}
        found = names(condition, subject)
        code = next((codes[name] for codes in (own, self._conditions) for name in found if name in codes), None)
        stated = self.by_name.get(code or "")
        # A code that has no status is not told, and no wider one in its place.
        return None if stated is not None and value_of(stated.status) is None else code

    def known_as(self, name: str) -> str:
        """What callers know a code by."""
        stated = self.by_name.get(name)
        return name if stated is None else stated.known_as

    def narrowest(self, endpoint: Endpoint, condition: str, subject: str) -> str | None:
        """As much of a subject as part 7 or the endpoint tells apart; None: nothing of it."""
        own = {name.text for name, _ in value_of(endpoint.errors) or ()}
        told = own | self._conditions.keys() | self._ranks.keys()
        found = (each for each in names(condition, subject) if each in told and each != condition)
        return next((each.removeprefix(condition + " ") for each in found), None)

    def code_of_all(self, condition: str) -> str | None:
        """The code of a condition that leaves no endpoint."""
        return self._conditions.get(condition)

    def rank(self, endpoint: Endpoint, condition: str, subject: str | None, code: str | None) -> int:
        """The place in the precedence; `code`: the one that stands where the condition is stated. The lower counts."""
        own = {name.text for name, _ in value_of(endpoint.errors) or ()}
        tables = () if code is not None else (own, self._conditions)
        told = next((codes for codes in tables if any(name in codes for name in names(condition, subject))), ())
        return problems.rank(condition, subject, code is not None, told, self._ranks)

    def status(self, condition: str, code: str | None) -> int:
        """The status of a code, else the bare status of the condition."""
        stated = self.by_name.get(code or "")
        status = None if stated is None else value_of(stated.status)
        return status if status is not None else STATUSES.get(condition, 500)
