"""What the whole of `examples/orders.md` costs beside the same without its rates, versions, idempotency keys and entity
tags.

    python benchmarks/whole_example.py [--rounds 7] [--seconds 3]

Both are served at once, each as a process with a database of its own, and asked in turn over 32 connections. The rates
of the first are as they stand, but for their bursts: it counts every request, and refuses none, since to refuse is
quick. It is asked as a client asks that uses it all: with the version that it means, and each create under a key of its
own. Told are requests a second and CPU, medians of the rounds, and the 99th percentile; the aim is 0.7 of the bare one.
Needs Linux (/proc) and wrk.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Final

import peers
from throughput import EXAMPLE, JSON, ORDER, post

WHOLE, BARE = "whole", "bare"
SUBJECTS: Final = {"read": "read one", "list": "list 20", "create": "create"}
ORDERS, CUSTOMERS = 2_000, 20
TAKEN_AWAY: Final = (
    (r"rates:\n(  .*\n)+rate headers: .*\n", "rates: none\n"),
    (r"  idempotency key: optional\n", ""),
    (r"idempotency keys kept: .*\n", ""),
    (r"  etag: true\n", ""),
    (r"(## 9\. .*\n)(.*\n)*", r"\1\nVersioning: none.\n"),
    (r"  (stale|key_busy|key_reused|slow_down|old_version): .*\n", ""),
    (r"(unknown version|too many requests|idempotency mismatch|idempotency in progress|precondition failed), ", ""),
)
"""Of the whole contract: each is there, and what stands in its place."""


def without(contract: str) -> str:
    for pattern, instead in TAKEN_AWAY:
        contract, count = re.subn(pattern, instead, contract)
        assert count, pattern
    return contract


def that_refuse_nothing(contract: str) -> str:
    """What is taken grows again as slowly as it does in life: a bucket that is full again at once costs less."""
    contract, count = re.subn(r"burst: \d+", "burst: 1000000000", contract)
    assert count == contract.count("per: PT"), "it has a rate without a burst"
    return contract


def filled(address: str, into: Path) -> None:
    """Customers with their orders, and of each order a line for wrk: the token of who may see it, and its path."""
    lines = []
    for number in range(CUSTOMERS):
        customer = post(f"{address}/customers", {"email": f"{number}@example.com", "name": "A"}, {})
        key = {**JSON, "Authorization": f"Bearer {customer['api_key']}"}
        for _ in range(ORDERS // CUSTOMERS):
            lines.append(f"{customer['api_key']} /orders/{post(f'{address}/orders', ORDER, key)['id']}\n")
    into.write_text("".join(lines))


def candidate(name: str, contract: Path) -> peers.Candidate:
    ours = peers.CANDIDATES[0]
    command = tuple(str(contract) if part.endswith("orders.md") else part for part in ours.command)
    return peers.Candidate(name, command, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("the load is made by wrk (https://github.com/wg/wrk), which is not on the PATH")
    text = EXAMPLE.read_text(encoding="utf-8")
    contracts: Mapping[str, str] = {WHOLE: that_refuse_nothing(text), BARE: without(text)}
    print(f"{peers.machine()}; medians of {arguments.rounds} rounds of {arguments.seconds:g} s, in turn\n")
    with tempfile.TemporaryDirectory() as made, ExitStack() as services:
        sides = {}
        for name, contract in contracts.items():
            folder = Path(made, name)
            folder.mkdir()
            path = folder / "orders.md"
            path.write_text(contract, encoding="utf-8")
            (folder / "empty.db").touch()
            service = peers.served(candidate(name, path), folder / "empty.db", folder)
            sides[name] = (*services.enter_context(service), folder / "asked")
            filled(sides[name][0], sides[name][2])
        print("| | whole, requests/s | bare | ratio | whole, CPU µs | bare | whole, p99 ms | bare |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for subject, title in SUBJECTS.items():
            figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in sides}
            for number in range(arguments.rounds + 1):
                for name, side in sides.items():
                    found = asked(*side, subject, name, arguments.seconds if number else 1)
                    figures[name] += [found] if number else []
            rates, costs, waits = zip(*(map(median, zip(*each, strict=True)) for each in figures.values()), strict=True)
            print(
                f"| {title} | {rates[0]:,.0f} | {rates[1]:,.0f} | {rates[0] / rates[1]:.2f} | {costs[0]:.0f} | "
                f"{costs[1]:.0f} | {waits[0]:.2f} | {waits[1]:.2f} |",
                flush=True,
            )


def asked(
    address: str, process: int, lines: Path, subject: str, name: str, seconds: float
) -> tuple[float, float, float]:
    """Requests a second, microseconds of CPU each, and the 99th percentile in milliseconds."""
    before = peers.cpu(process)
    told = peers.ask(address, subject, lines, seconds, json.dumps(ORDER), *(("2026-06-01",) if name == WHOLE else ()))
    return (
        told["requests"] / told["microseconds"] * 1e6,
        (peers.cpu(process) - before) / told["requests"] * 1e6,
        told["p99"] / 1e3,
    )


if __name__ == "__main__":
    main()
