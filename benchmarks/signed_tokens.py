"""What a read costs of callers whose tokens somebody else signs, beside callers with keys of their own.

    python benchmarks/signed_tokens.py [--rounds 7] [--seconds 2] [--callers 100]

One service over the rows of `peers/orders.md`, with a second scheme whose tokens the service signs itself
(`--development-issuer`), as ES256. Both kinds of callers are as many, and ask in turn over 32 connections. Told are
requests a second and the CPU of one, medians of the rounds. Needs Linux (/proc) and wrk.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import tempfile
import urllib.parse
import urllib.request
from itertools import cycle
from pathlib import Path
from statistics import median

import peers

import door

KEY = "  key: {type: http, scheme: bearer, matches: customer.api_key}\n"
SIGNED = (
    (KEY, KEY + "  staff: {type: openIdConnect, issuer: operator.staff_issuer, audience: orders}\n"),
    ('customer: {key: "customer == caller.customer"}', "customer: {key: true, staff: true}"),
    ('order:    {key: "order.customer == caller.customer"}', "order: {key: true, staff: true}"),
    ("permissions: {all others: key}", 'permissions: {"GET /orders/{id}": [key, staff], all others: key}'),
)


def contract() -> str:
    text = door.CONTRACT.read_text(encoding="utf-8")
    for place, instead in SIGNED:
        assert text.count(place) == 1, place
        text = text.replace(place, instead)
    return text


def token(issuer: str, subject: str) -> str:
    with urllib.request.urlopen(issuer, urllib.parse.urlencode({"sub": subject}).encode()) as answer:
        return str(json.load(answer)["access_token"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--callers", type=int, default=100)
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("the load is made by wrk (https://github.com/wg/wrk), which is not on the PATH")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        document, by_key, by_token = folder / "orders.md", folder / "keys", folder / "tokens"
        document.write_text(contract(), encoding="utf-8")
        peers.CUSTOMERS, peers.ORDERS = arguments.callers, max(20_000, arguments.callers)
        rows = peers.fill(folder, others=False)
        with socket.create_server(("127.0.0.1", 0)) as free:
            operator = f"127.0.0.1:{free.getsockname()[1]}"
        ours = peers.CANDIDATES[0]
        command = [str(document) if part.endswith("orders.md") else part for part in ours.command]
        command[command.index("--operator") + 1] = operator
        served = peers.Candidate("signed", (*command, "--development-issuer"), "", schema=False)
        with peers.served(served, rows.ninefold, folder) as (address, process):
            tokens = [token(f"http://{operator}/identity/staff/token", f"{each}") for each in range(arguments.callers)]
            lines = [line.split() for line in rows.asked.read_text().splitlines()]
            by_key.write_text("".join(f"{key} {path}\n" for key, path in lines))
            by_token.write_text("".join(f"{each} {path}\n" for each, (_, path) in zip(cycle(tokens), lines)))
            sides = {"by keys": by_key, "by signed tokens": by_token}
            figures: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
            for asked in sides.values():
                peers.ask(address, "read", asked, 3)  # what verifies signatures is loaded with the first
            for _ in range(arguments.rounds):
                for name, asked in sides.items():
                    before = peers.cpu(process)
                    told = peers.ask(address, "read", asked, arguments.seconds)
                    spent = (peers.cpu(process) - before) / told["requests"] * 1e6
                    figures[name].append((told["requests"] / told["microseconds"] * 1e6, spent))
    print(f"| read one, {arguments.callers:,} callers | requests/s | CPU µs |\n| --- | --- | --- |")
    for name, found in figures.items():
        rate, spent = (median(each) for each in zip(*found, strict=True))
        print(f"| {name} | {rate:,.0f} | {spent:.0f} |")


if __name__ == "__main__":
    main()
