"""What reads `operator.NAME`, wherever it stands, has the name told, and is not served without it.

An expression of a contract is written so that it reads one more such name and gives what it gave.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from tests.contracts import DIRECTORIES, compiled, contract_of
from tests.slices import LONG, some

from ninefold.language.expressions import Expression, expressions_in
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan

ASKED = "asked_of_the_operator"

CASES = some(DIRECTORIES, 8)


def with_one_more(path: Path) -> Iterator[Loaded]:
    """The contract with one of its expressions read so, of some; those are passed over in which it cannot be."""
    loaded = compiled(path)
    written: list[Expression] = [each for _, part in loaded.contract.parts for each in expressions_in(part)]
    for each in Random(path.parent.name).sample(written, len(written) if LONG else min(4, len(written))):
        text = f"operator.{ASKED} == 'a' ? ({each.text}) : ({each.text})"
        before, after = loaded.source.text[: each.span.start], loaded.source.text[each.span.end :]
        made = compile_document(path.name, (before + json.dumps(text) + after).encode())
        if made.plan is not None:
            yield made


def readers(plan: ServicePlan) -> set[str]:
    """The endpoints that read the name, in any version, and those whose requests a rate counts by it."""
    routes = [*plan.routes, *(each for one in (plan.versions.versions if plan.versions else ()) for each in one.routes)]
    found = {
        each.key for each in routes if isinstance(each, Served) and f'"{ASKED}"'.encode() in msgspec.json.encode(each)
    }
    return found | {key for rate in plan.limits.rates if ASKED in repr(rate.of) for key in rate.endpoints}


@pytest.mark.long
@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_what_reads_it_is_blocked_without_it(directory: Path) -> None:
    for made in with_one_more(contract_of(directory)):
        assert made.plan is not None
        (told,) = [each for each in made.plan.operator if each.name == ASKED]
        assert readers(made.plan) <= set(told.blocks), (made.source.text, told)
