"""From a document to a service, stage by stage: the only module that knows all of them. Start reading here.

Each stage yields a value whatever it is given, and says what is wrong beside it, so that a half-written contract
has gaps, and a broken one has all of its diagnostics at once. Only the last two stages can have nothing to give:
a contract with errors is not served.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ninefold.checked.service import Checked
from ninefold.checks.check import check
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Diagnostic, has_errors, in_order
from ninefold.diagnostics.source import Source
from ninefold.plan.service import ServicePlan
from ninefold.planner.service import plan
from ninefold.questions.ask import ask
from ninefold.questions.question import OpenQuestion
from ninefold.resolve.contract import resolve
from ninefold.syntax.nodes import Document
from ninefold.syntax.parser import form_of, parse
from ninefold.syntax.read import read


@dataclass(frozen=True)
class Loaded:
    """What each stage made of a document. `checked` and `plan` are None where there is an error."""

    source: Source
    document: Document
    contract: Contract
    open_questions: tuple[OpenQuestion, ...]
    checked: Checked | None
    plan: ServicePlan | None
    diagnostics: tuple[Diagnostic, ...]


def compile_document(name: str, data: bytes, accept_proposals: bool = False) -> Loaded:
    """Compile a document. `name` is what it is called in diagnostics; its ending decides between the two forms."""
    source = read(name, data)
    document = parse(source.value, form_of(name, source.value.text))
    contract = resolve(document.value, accept_proposals)
    questions = ask(contract.value)
    said = (*source.diagnostics, *document.diagnostics, *contract.diagnostics)
    checked = check(contract.value, questions)
    said = in_order((*said, *checked.diagnostics))
    service = None if checked.value is None or has_errors(said) else plan(checked.value)
    return Loaded(
        source=source.value,
        document=document.value,
        contract=contract.value,
        open_questions=questions,
        checked=checked.value,
        plan=service,
        diagnostics=said,
    )


def load(path: str, accept_proposals: bool = False) -> Loaded:
    """Compile the document at a path; `-` is standard input. Raises OSError where it cannot be read."""
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    return compile_document("-" if path == "-" else path, data, accept_proposals)
