"""The contracts of `examples/` and of `tests/cases/`, and what compiling makes of each: once in a process, whichever
test asks first. What is compiled is frozen, and whoever changes it makes another."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from ninefold.diagnostics.render import render
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.service import ServicePlan

ROOT: Final = Path(__file__).parents[1]
EXAMPLES: Final = sorted((ROOT / "examples").glob("*.md"))
DIRECTORIES: Final = sorted(path for path in (ROOT / "tests" / "cases").iterdir() if path.is_dir())
"""The cases (`tests/test_cases.py`)."""

SERVED: Final = [directory for directory in DIRECTORIES if (directory / "http").is_dir()]
"""The cases whose service is asked something."""

OWN: Final = [path for directory in DIRECTORIES for path in directory.glob("contract.*")]
"""The contracts of all cases but those that show an example."""

ALL: Final = [*EXAMPLES, *OWN]


@cache
def compiled(path: Path) -> Loaded:
    loaded = compile_document(path.name, path.read_bytes())
    # It is kept until the process ends: Python need not look through it whenever it looks for garbage.
    gc.freeze()
    return loaded


@lru_cache(32)
def compiled_once(name: str, data: bytes, accept_proposals: bool = False) -> Loaded:
    """The same of a document that a test has made, for those who ask of it again soon."""
    return compile_document(name, data, accept_proposals)


def plan_of(text: str | bytes, name: str = "contract.md", database: str = "sqlite") -> ServicePlan:
    """The plan of a contract that a test has written. What is wrong with it is told where there is none."""
    loaded = compiled_once(name, text.encode() if isinstance(text, str) else text)
    plan = loaded.plan_for(database)
    assert plan is not None, render(loaded.diagnostics, loaded.source)
    return plan


def contract_of(directory: Path) -> Path:
    """The contract of a case."""
    example = directory / "example.txt"
    if example.exists():
        return ROOT / "examples" / example.read_text(encoding="utf-8").strip()
    (path,) = directory.glob("contract.*")
    return path


def operator_of(directory: Path) -> Mapping[str, str]:
    """What the operator gives to the service of a case, by name."""
    given = directory / "operator.json"
    return json.loads(given.read_text(encoding="utf-8")) if given.exists() else {}


def title(path: Path) -> str:
    """What a contract is called among all."""
    return path.parent.name if path.stem == "contract" else path.stem
