"""Which facts of the contracts the long run takes away (decisions/0228).

Those of one row of the language, written equally deep, of the same method, are alike: the long run takes one of them
in each contract, which its name decides, so that it is another one in another contract. What is tried closely besides,
in every way that there is, is tried so in a quarter of the contracts that have such a fact, and in FEW where they are
few. `make honesty` takes every fact, in every way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Final, TypeAlias
from zlib import crc32

from tests.contracts import SERVED, contract_of
from tests.slices import WHOLE

from ninefold.diff.ablate.facts import Written, written
from ninefold.syntax.nodes import Document
from ninefold.syntax.parser import form_of, parse, read

QUARTER: Final = 4
FEW: Final = 4

Like: TypeAlias = tuple[int, str, bool, str, int]


def like(fact: Written) -> Like:
    """What facts that are alike have in common."""
    method = fact.names[0].partition(" ")[0] if fact.part == 4 else ""
    return fact.part, fact.path, fact.is_named, method, len(fact.route)


def one_of_each(case: str, facts: Iterable[Written]) -> list[Written]:
    """One of those that are alike, in their order; all of them in `make honesty`."""
    every = list(facts)
    if WHOLE:
        return every
    chosen = dict[Like, Written]()
    for fact in sorted(every, key=lambda each: _number(case, each.address)):
        chosen.setdefault(like(fact), fact)
    return [fact for fact in every if chosen[like(fact)] is fact]


def is_tried_closely(case: str, fact: Written) -> bool:
    having = _having()[like(fact)]
    return WHOLE or case in having[: max(FEW, len(having) // QUARTER)]


def _number(case: str, told: object) -> int:
    return crc32(f"{case} {told}".encode())


@cache
def _having() -> dict[Like, list[str]]:
    """The cases that have such facts, in an order by chance."""
    found = defaultdict[Like, set[str]](set)
    for directory in SERVED:
        contract = contract_of(directory)
        for fact in written(_parsed(contract.name, contract.read_bytes())):
            found[like(fact)].add(directory.name)
    return {each: sorted(cases, key=lambda case: _number(case, each)) for each, cases in found.items()}


def _parsed(name: str, data: bytes) -> Document:
    source = read(name, data).value
    return parse(source, form_of(name, source.text)).value
