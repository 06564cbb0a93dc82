"""How the time of compiling grows with a contract.

    PYTHONPATH=src python benchmarks/compile.py [FAMILY …]

Compiles contracts that grow in one way alone (`families.py`), of sizes n and 2n, and prints the CPU seconds of both and
their ratio: about 2 where the time grows with the contract. A family whose contracts are refused from some size on,
with a diagnostic, is timed at refusing them. Then three large contracts as a whole: 1,000 resources, 861
types with 452 endpoints, and 949 KB of misspelt keys. Needs nothing but ninefold.
"""

from __future__ import annotations

import resource
import sys
from time import process_time

from families import FAMILIES, large, misspelt, resources

from ninefold.pipeline import Loaded, compile_document


def compiled(text: str) -> tuple[float, Loaded]:
    """The CPU seconds that it takes, and what comes."""
    data = text.encode()
    began = process_time()
    loaded = compile_document("contract.yaml", data)
    return process_time() - began, loaded


def main(wanted: list[str]) -> None:
    compiled(resources(3))  # what is loaded once has been
    print(f"{'family':26} {'n':>6} {'n':>9} {'2n':>9} {'ratio':>6}  what comes of 2n")
    for name, (family, size) in FAMILIES.items():
        if wanted and name not in wanted:
            continue
        first, _ = compiled(family(size))
        second, loaded = compiled(family(2 * size))
        came = "served" if loaded.plan is not None else loaded.diagnostics[0].message
        print(f"{name:26} {size:6} {first:8.3f}s {second:8.3f}s {second / first:6.1f}  {came[:60]}", flush=True)
    whole = (("1,000 resources", resources(1000)), ("a large one", large()), ("949 KB misspelt", misspelt(7100)))
    for title, text in () if wanted else whole:
        taken, loaded = compiled(text)
        kilobytes = len(text.encode()) // 1000
        print(f"{title:26} {taken:8.1f} s of {kilobytes} KB; {len(loaded.diagnostics)} diagnostics")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


if __name__ == "__main__":
    main(sys.argv[1:])
