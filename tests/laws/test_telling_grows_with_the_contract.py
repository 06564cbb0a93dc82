"""What is told of a contract takes work that grows as the contract does: told function by function, by how often each
is called, which is the same each time.

A function that is called four times as often for twice as much is quadratic, however little it costs yet, and however
much else there is. So sizes are small, and what is counted are calls of ninefold's own functions, and of its generators
each time that they go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from cProfile import Profile
from types import CodeType
from typing import Final

import msgspec
import pytest
from benchmarks.families import FAMILIES
from tests.slices import some

from ninefold.cli.plan import listing
from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diagnostics.render import render, to_json_lines
from ninefold.pipeline import Loaded, compile_document
from ninefold.syntax.edits import edited
from ninefold.tools import gaps
from ninefold.tools.explain import render as explained
from ninefold.tools.explain.service import explain_service
from ninefold.tools.fix.fix import fixed
from ninefold.tools.letter import letter
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service
from ninefold.tools.permissions import render as permitted
from ninefold.tools.permissions.matrix import matrix
from ninefold.tools.propose.accept import acceptance, candidates
from ninefold.tools.propose.propose import propose

SIZE: Final = 6


def _checked(loaded: Loaded) -> object:
    again = compile_document("contract.yaml", loaded.source.text.encode())
    return render(again.diagnostics, again.source), list(to_json_lines(again.diagnostics, again.source))


def _gaps(loaded: Loaded) -> object:
    asked = loaded.contract, loaded.open_questions
    return gaps.to_text(*asked), gaps.to_json(*asked), letter(*asked)


def _permissions(loaded: Loaded) -> object:
    found = matrix(loaded.contract, loaded.checked)
    return permitted.to_text(found), permitted.to_json(found)


def _exported(loaded: Loaded) -> object:
    if loaded.plan is None or loaded.checked is None:
        return None
    described = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    return msgspec.json.encode(described), listing(loaded.plan)


def _proposed(loaded: Loaded) -> object:
    data = loaded.source.text.encode()
    text = propose(compile_document("contract.yaml", data, accept_proposals=True)).text
    proposed = compile_document("contract.yaml", text.encode())
    chosen = [each.written for each in candidates(proposed.document, proposed.open_questions)]
    return edited(text, acceptance(proposed.document, chosen))


TOLD: Final[dict[str, Callable[[Loaded], object]]] = {
    "check": _checked,
    "gaps": _gaps,
    "explain": lambda loaded: explained.to_text(explain_service(loaded)),
    "permissions": _permissions,
    "export and plan": _exported,
    "propose and accept": _proposed,
    "fix": lambda loaded: fixed(loaded.document),
}


def calls_of(tell: Callable[[Loaded], object], loaded: Loaded) -> Counter[CodeType]:
    """How often each of ninefold's functions is called."""
    profile = Profile(builtins=False)
    with profile:
        tell(loaded)
    return Counter(
        {
            each.code: each.callcount
            for each in profile.getstats()
            if isinstance(each.code, CodeType) and "ninefold" in each.code.co_filename
        }
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("family", "name"), some([(family, name) for name in TOLD for family in ("a sketch", "business", "gaps")], 10)
)
def test_no_function_is_called_four_times_as_often_for_twice_as_much(family: str, name: str) -> None:
    sizes = SIZE, 2 * SIZE, 4 * SIZE
    # The first is told before anything is counted: what a process makes once is made. What is made once of a contract,
    # such as its plan, is counted of all three.
    first, small, middle, large = (
        compile_document("contract.yaml", FAMILIES[family][0](size).encode()) for size in (SIZE, *sizes)
    )
    assert not has_errors(large.diagnostics)
    TOLD[name](first)
    once, twice, four_times = (calls_of(TOLD[name], each) for each in (small, middle, large))
    # What every contract costs is in all three; what the second and the third have more is in proportion.
    quadratic = {
        f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}": (once[code], twice[code], count)
        for code, count in four_times.items()
        if count >= 4 * sizes[2] and count - twice[code] > 3 * (twice[code] - once[code])
    }
    assert not quadratic
