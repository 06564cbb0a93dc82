"""From a document to a service, stage by stage: the only module that knows all of them. Start reading here.

Each stage yields a value whatever it is given, and says what is wrong beside it, so that a half-written contract
has gaps, and a broken one has all of its diagnostics at once. Only the last two stages can have nothing to give:
a contract with errors is not served.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ninefold.checked.service import Checked
from ninefold.checks.check import check
from ninefold.checks.inference import with_types
from ninefold.checks.versioning import with_older
from ninefold.contract.questions.ask import ask
from ninefold.contract.resolve.consequences import causes
from ninefold.contract.resolve.contract import resolve
from ninefold.contract.resolve.elsewhere import placed
from ninefold.contract.service import Contract
from ninefold.contract.versions.derive import derive, newest, of_version, with_that_version
from ninefold.diagnostics.diagnostic import Diagnostic, has_errors, in_order
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source
from ninefold.language.fact import value_of
from ninefold.language.question import OpenQuestion
from ninefold.language.successors import named
from ninefold.syntax.nodes import Document
from ninefold.syntax.parser import form_of, parse, read

if TYPE_CHECKING:
    from ninefold.plan.service import ServicePlan


@dataclass(frozen=True)
class Loaded:
    """What each stage made of a document. `checked` and `plan` are None where there is an error. The plan is made when
    it is first asked for."""

    source: Source
    document: Document
    contract: Contract
    open_questions: tuple[OpenQuestion, ...]
    checked: Checked | None
    planned: Callable[[], ServicePlan | None]
    diagnostics: tuple[Diagnostic, ...]
    older: tuple[Older, ...] = ()

    @property
    def plan(self) -> ServicePlan | None:
        return self.planned()

    def plan_for(self, database: str) -> ServicePlan | None:
        """The plan for a database: `sqlite`, which is the plan as it is told everywhere, or `postgresql`."""
        if database == "sqlite" or self.planned is _nothing or self.checked is None:
            return self.planned()
        from ninefold.compile.service import plan_for

        with uncollected():
            return plan_for(self.checked, database)

    def plans(self) -> Iterator[ServicePlan]:
        """Those for each database, made when they are asked for."""
        from ninefold.compile.service import DIALECTS

        return (plan for each in DIALECTS if (plan := self.plan_for(each)) is not None)

    def of(self, version: str | None) -> Loaded | None:
        """The same for one version; None: there is none of that name, or the way back to it is not shown."""
        versions = value_of(self.contract.versioning.versions) or ()
        if version is None or (versions and version == versions[0].name):
            return self
        for each in self.older:
            if each.version == version:
                return replace(
                    self,
                    contract=each.contract,
                    open_questions=each.open_questions,
                    checked=each.checked,
                    planned=each.planned,
                )
        return None


@dataclass(frozen=True)
class Older:
    """What each stage made of an older version."""

    version: str
    contract: Contract
    open_questions: tuple[OpenQuestion, ...]
    checked: Checked | None
    planned: Callable[[], ServicePlan | None]

    @property
    def plan(self) -> ServicePlan | None:
        return self.planned()


def compile_document(name: str, data: bytes, accept_proposals: bool = False) -> Loaded:
    """Compile a document. `name` is what it is called in diagnostics; its ending decides between the two forms."""
    with uncollected():
        source = read(name, data)
        document = parse(source.value, form_of(name, source.value.text))
        return compile_tree(document.value, accept_proposals, (*source.diagnostics, *document.diagnostics))


@contextmanager
def uncollected() -> Iterator[None]:
    """Without Python's search for circles of objects: a compiler makes none, and of a large contract the search would
    visit all that is made, again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@uncollected()
def compile_tree(document: Document, accept_proposals: bool = False, said: tuple[Diagnostic, ...] = ()) -> Loaded:
    """Compile a document that is parsed, or was made of one that is. `said`: what reading and parsing had to say."""
    resolved = resolve(document, accept_proposals)
    contract = with_types(resolved.value)
    questions = ask(contract)
    said = (*said, *resolved.diagnostics)
    derived = derive(contract)
    contract = newest(contract, derived.value)
    checked = check(contract, questions)
    said = (*said, *checked.diagnostics, *derived.diagnostics)
    whole, older, asked = checked.value, list[Older](), list(questions)
    if whole is not None and not has_errors(said):
        beside = []
        for each in derived.value:
            # What is wrong or open in the version above has been said.
            open_questions = ask(each.contract)
            below = check(each.contract, open_questions)
            said = (*said, *of_version(each.version, below.diagnostics, said))
            asked = with_that_version(asked, open_questions)
            older.append(Older(each.version.name, each.contract, open_questions, below.value, _nothing))
            if below.value is not None:
                beside.append((each.version.name, below.value, each.moved))
        whole = with_older(whole, beside)
    said = named(document, placed(document, causes(document, in_order(said))))
    is_served = whole is not None and not has_errors(said)
    return Loaded(
        source=document.source,
        document=document,
        contract=contract,
        open_questions=tuple(asked),
        checked=whole,
        planned=_planned(whole) if whole is not None and is_served else _nothing,
        diagnostics=said,
        older=tuple(_served(each, whole) for each in older) if whole is not None and is_served else tuple(older),
    )


def _served(older: Older, whole: Checked) -> Older:
    """An older version as a service of its own."""
    versions = whole.versions
    found = None if versions is None else next((v for v in versions.versions if v.name == older.version), None)
    if versions is None or found is None or found.checked is None:
        return older
    own = replace(found.checked, versions=replace(versions, current=older.version, versions=(found,)))
    return replace(older, checked=own, planned=_planned(own))


def _planned(checked: Checked) -> Callable[[], ServicePlan | None]:
    """Plans when it is first asked to: most commands are about what a contract says, and not about its plan."""

    @cache
    def planned() -> ServicePlan | None:
        from ninefold.compile.service import plan

        with uncollected():
            return plan(checked)

    return planned


def _nothing() -> None:
    return None


def load(path: str, accept_proposals: bool = False) -> Loaded:
    """Compile the document at a path; `-` is standard input. Raises OSError where it cannot be read."""
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    return compile_document("-" if path == "-" else path, data, accept_proposals)
