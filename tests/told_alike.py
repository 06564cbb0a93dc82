"""Whether two trees tell the same of all contracts: `python -m tests.told_alike BEFORE [MUTANTS [PART]]`.

BEFORE is a commit. All contracts of `tests/cases` and `examples`, and as many of their mutants, are told by its
sources and by those at hand: diagnostics, gaps, questions, explanations, plans, and the tables of the language. What
differs is printed. Where a part of the language is moved, the sources before it are the oracle of those after it; with
PART (`limits`), only that part of a document is mutated.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Final

from tests.contracts import ALL, ROOT, title
from tests.mutations.mutators import mutated
from tests.mutations.test_mutations import stock
from tests.mutations.trees import Members, literate_form, plain_form

MOST: Final = 40
"""Differing documents that are printed."""


def corpus(into: Path, mutants: int, part: str | None) -> None:
    """All contracts, and mutants of them."""
    for path in ALL:
        (into / f"{title(path)}{path.suffix}").write_bytes(path.read_bytes())
    random = Random("told alike")
    for number in range(mutants):
        tree = random.choice(stock().contracts)
        mutant = _mutated_in(tree, part, random) if part else mutated(tree, random, stock())
        written = random.choice((plain_form, literate_form))(mutant)
        suffix = "md" if written.startswith("# ") else "yaml"
        (into / f"~mutant{number:05}.{suffix}").write_text(written, encoding="utf-8")


def _mutated_in(tree: Members, part: str, random: Random) -> Members:
    """The contract with one part mutated, once to three times."""
    of_part = Members([each for each in tree.entries if each[0] == part])
    for _ in range(random.randint(1, 3)):
        of_part = mutated(of_part, random, stock())
    return Members([*(each for each in tree.entries if each[0] != part), *of_part.entries])


def main() -> int:
    before, mutants = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as folder:
        documents, sources, now = (Path(folder, name) for name in ("documents", "before", "now"))
        documents.mkdir()
        sources.mkdir()
        shutil.copytree(ROOT / "src", now / "src")
        corpus(documents, mutants, sys.argv[3] if len(sys.argv) > 3 else None)
        archive = subprocess.run(["git", "archive", before, "src"], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(sources)], input=archive, check=True)
        telling = []
        for tree in (sources, now):
            command = [sys.executable, str(ROOT / "tests" / "telling.py"), str(documents)]
            env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONHASHSEED": "0"}
            telling.append(subprocess.Popen(command, stdout=(tree / "told.json").open("wb"), env=env))
        if any(each.wait() for each in telling):
            return 2
        told = [json.loads((tree / "told.json").read_bytes()) for tree in (sources, now)]
        differing = [name for name in told[0] if told[0][name] != told[1][name]]
        for name in differing[:MOST]:
            for kind, value in told[0][name].items():
                if (other := told[1][name].get(kind)) != value:
                    texts = [each if isinstance(each, str) else json.dumps(each, indent=1) for each in (value, other)]
                    first, second = (each.splitlines() for each in texts)
                    lines = difflib.unified_diff(first, second, "before", "now", lineterm="", n=2)
                    print(f"== {name}: {kind}", *list(lines)[:40], sep="\n")
    print(f"{len(told[0])} told, {len(differing)} otherwise")
    return bool(differing)


if __name__ == "__main__":
    raise SystemExit(main())
