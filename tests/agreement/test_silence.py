"""Random contracts say whatever can be said, but for what one list says that they do not, with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from tests.agreement.contracts import contract
from tests.agreement.naming import named
from tests.agreement.silence import SAYABLE, SILENT, is_silent, said
from tests.agreement.test_agreement import MORE, TO_ALL
from tests.agreement.versions import compiled

from ninefold.diagnostics.diagnostic import has_errors

MOST: Final = 400
"""Contracts among which whatever is said by any has to be."""


def contracts() -> Iterator[Mapping[str, Any]]:
    return chain(
        (named(str(seed), contract(seed, more=True)) for seed in range(MORE, MORE + MOST // 10)),
        map(contract, range(MOST)),
        (contract(seed, to_all=True) for seed in range(TO_ALL, TO_ALL + MOST // 4)),
    )


def is_served(stated: Mapping[str, Any]) -> bool:
    loaded = compiled(stated)
    return loaded.checked is not None and not has_errors(loaded.diagnostics)


def test_what_random_contracts_do_not_say_is_on_the_list() -> None:
    missing, silent = set(SAYABLE), set(filter(is_silent, SAYABLE))
    for stated in contracts():
        if missing <= silent:
            break
        found = said(stated)
        if missing & found and is_served(stated):
            missing -= found
    assert missing == silent, (
        f"tests/agreement/silence.py: {sorted(missing - silent)} no random contract says, and `SILENT` gives no reason;"
        f" {sorted(silent - missing)} one says, or no contract can, and `SILENT` has it"
    )
    assert [each for each in SILENT if not any(row == each or row.startswith(f"{each}.") for row in SAYABLE)] == []
