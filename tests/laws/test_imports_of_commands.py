"""What a command loads: nothing that it has no use for. Told of a program that does it, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

AFTERWARDS = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
from ninefold.cli import main
sys.exit(main(sys.argv[1:]))
"""

SERVED = """
import json, os, sys
from ninefold.runtime.http import run
def stopped(*_, **__):
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
run.run = stopped
from ninefold.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Up to where the first request would be taken."""

WHO_LOADS = """
import os, sys, threading
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.write(2, threading.current_thread().name.encode())
            os._exit(0)
sys.meta_path.insert(0, Finder())
from ninefold.cli import main
main(sys.argv[1:])
"""
"""Up to where a module is loaded: by which thread."""

COMMAND_LINE = {"cyclopts", "attrs", "attr", "rich.console", "rich.markdown", "argparse"}
SERVER = {"asyncio", "apsw", "uvloop", "prometheus_client", "ninefold.runtime"}
SECRETS = {"cryptography", "argon2", "joserfc", "secrets", "hmac"}
SENDING = {"aiohttp", "nats", "confluent_kafka"}
STAGES = {
    "ninefold.pipeline",
    "ninefold.syntax.parser",
    "ninefold.checks.check",
    "ninefold.compile",
    "ninefold.tools.explain",
}

COMPILER = {
    "yaml",
    "markdown_it",
    *(f"ninefold.{each}" for each in ("pipeline", "syntax", "contract", "questions", "resolve", "versions")),
    *(f"ninefold.{each}" for each in ("checked", "checks", "compile", "tools", "language.key", "language.declaration")),
}
"""What no process that serves has loaded: another one compiles."""

NEEDLESS: list[tuple[str, Sequence[str], set[str]]] = [
    ("a code", ["explain", "NF0601"], COMMAND_LINE | SERVER | SECRETS | SENDING | STAGES | {"yaml", "markdown_it"}),
    ("a check", ["check", "examples/orders.md"], COMMAND_LINE | SERVER | SECRETS | SENDING | {"ninefold.compile"}),
    ("gaps", ["gaps", "examples/orders.md"], COMMAND_LINE | SENDING | {"ninefold.compile"}),
    ("a plan", ["plan", "examples/orders.md"], COMMAND_LINE | SENDING | {"apsw", "asyncio"}),
]


def loaded(program: str, arguments: Sequence[str]) -> set[str]:
    command = [sys.executable, "-c", program, *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stderr.strip().splitlines()[-1]))


def needless(modules: set[str], unwanted: set[str]) -> list[str]:
    """The modules that are not to be loaded, and those inside of them."""
    return sorted(each for each in modules if any(each == one or each.startswith(f"{one}.") for one in unwanted))


@pytest.mark.parametrize(("arguments", "unwanted"), [each[1:] for each in NEEDLESS], ids=[each[0] for each in NEEDLESS])
def test_a_command_loads_what_it_needs(arguments: Sequence[str], unwanted: set[str]) -> None:
    assert needless(loaded(AFTERWARDS, arguments), unwanted) == []


@pytest.mark.parametrize("issuer", [[], ["--development-issuer"]])
def test_serving_without_a_broker_loads_no_client_of_others(issuer: list[str], tmp_path: Path) -> None:
    """What sends webhooks, fetches keys, verifies signatures and hashes passwords is loaded with the first of them, so
    is what seals cursors and what tells metrics; what compiles, never."""
    where = ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0", "--database", str(tmp_path / "orders.db")]
    modules = loaded(SERVED, ["serve", "examples/orders.md", *where, *issuer])
    assert (
        needless(
            modules, {*SENDING, "cyclopts", "attr", "joserfc", "argon2", "cryptography", "prometheus_client", *COMPILER}
        )
        == []
    )
    assert "ninefold.runtime.http.run" in modules


def test_what_verifies_signatures_is_loaded_before_the_first_beside_the_event_loop(tmp_path: Path) -> None:
    where = ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0", "--database", str(tmp_path / "orders.db")]
    program = WHO_LOADS.format(module="joserfc.jws")
    command = [sys.executable, "-c", program, "serve", "examples/orders.md", *where, "--development-issuer"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stderr.splitlines()[-1].startswith("ninefold-beside")
