"""What is secret in the URL of a server is told by no command, log, metric or answer, however the URL was written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import httpx
import pytest
from tests.postgresql import server
from tests.postgresql.nodes import Node
from tests.postgresql.test_service import planned
from tests.waiting import until

from ninefold.cli import main
from ninefold.cli.commands import COMMANDS, Parameter
from ninefold.cli.compiling import compiled
from ninefold.runtime.addresses import shown
from ninefold.runtime.store.opening import open_counts, open_database
from ninefold.runtime.store.protocol import Opened, Refused

ORDERS: Final = Path(__file__).parents[2] / "examples" / "orders.md"

SECRET: Final = "hunter2"

WRITTEN: Final = (
    "ann:hunter2@127.0.0.1:1/0",
    "hunter2@127.0.0.1:1/0",  # a token; of PostgreSQL the user, which is none
    "ann:a/hunter2@127.0.0.1:1/0",
    "ann:a#hunter2@127.0.0.1:1/0",
    "ann:a?hunter2@127.0.0.1:1/0",
    "ann:a@hunter2@127.0.0.1:1/0",
    "ann:hunter2",
    "ann:hunter2@[::1:1/0",
    "ann:hunter2@127.0.0.1:port/0",
    "127.0.0.1:1/0?password=hunter2",
    "127.0.0.1:1/0?pass%77ord=hunter2&sslpassword=hunter2",
)
"""With what has to be escaped in a password and is not, too."""

COMPILED: Final = cache(compiled)
"""What another process makes of the example is the same for each URL; a test of this process has threads, so that the
other one would begin anew."""

SCHEMES: Final = {"database": "postgresql", "replica": "postgresql", "rates": "valkeys", "broker": "tls"}


def given(function: Callable[..., Any]) -> Iterator[str]:
    """The parameters of a command that take a URL of a server."""
    for name, hint in get_type_hints(function, include_extras=True).items():
        if get_origin(hint) is Annotated and "://" in str(
            [each for each in get_args(hint) if isinstance(each, Parameter)]
        ):
            yield name


ALL: Final = [
    (verb, name)
    for verb, command in COMMANDS.items()
    for name in given(getattr(import_module(f"ninefold.cli.{command.module}"), verb))
]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("scheme", [*SCHEMES.values(), "postgres", "valkey", "nats", "kafkas"])
def test_a_url_is_shown_without_what_is_secret(scheme: str, written: str) -> None:
    url = f"{scheme}://{written}"
    assert SECRET not in shown(url) or (scheme.startswith("postgres") and written.startswith(SECRET)), shown(url)


def test_a_url_is_shown_as_it_was_written_but_for_that() -> None:
    for url in (
        "postgresql://ann@one:5432,two:5432/orders?sslmode=verify-full",
        "postgresql:///orders?host=/var/run",
        "valkey://[::1]:6379/2",
    ):
        assert shown(url) == url


def test_the_options_are_found() -> None:
    assert {name for verb, name in ALL if verb == "serve"} == SCHEMES.keys()
    assert {verb for verb, _ in ALL} >= {"serve", "upgrade", "move", "rows", "add", "events"}


@pytest.mark.parametrize(("verb", "name"), ALL, ids=lambda each: str(each))
def test_no_command_tells_it(
    verb: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each URL cannot be used, and it is said why."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ninefold.cli.service.compiled", COMPILED)
    caplog.set_level(logging.DEBUG)
    written = WRITTEN if verb in ("serve", "move") else WRITTEN[:4]
    for scheme, each in product([SCHEMES.get(name, "postgresql"), *(["kafkas"] if name == "broker" else [])], written):
        if scheme == "postgresql" and each.startswith(SECRET):
            continue
        status = main(called(verb, name, f"{scheme}://{each}"))
        said = capsys.readouterr()
        assert status == 2 and SECRET not in said.out + said.err + caplog.text, (each, said)


def called(verb: str, name: str, url: str) -> list[str]:
    """As a whole command, which ends before anything is served."""
    if verb == "move":
        return ["move", str(ORDERS), *((url, "a.db") if name == "source" else ("a.db", url))]
    listen = ["--listen", "nowhere" if name == "broker" else "127.0.0.1:0", "--operator", "127.0.0.1:0"]
    listen = listen if verb == "serve" else []
    more = {"rows": ["customer"], "add": ["customer", "email=ann@example.org", "name=Ann"]}.get(verb, [])
    # Neither goes with a SQLite file, and nothing is sent to a broker where the service has no address.
    return [verb, str(ORDERS), *more, f"--{name}", url, *listen]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_url_of_a_valkey_is_told_without_it(written: str, tmp_path: Path) -> None:
    opened = open_database(str(tmp_path / "a.db"), planned(ORDERS))
    assert isinstance(opened, Opened)
    found = open_counts(f"valkeys://{written}", opened.database)
    opened.database.close()
    assert SECRET not in str(found.message if isinstance(found, Refused) else found.name)


@pytest.mark.serves
def test_no_service_over_postgresql_tells_it(capfd: pytest.CaptureFixture[str]) -> None:
    """None of what is beside the database is there."""
    url = server.database().replace("ninefold@", f"ninefold:{SECRET}@")
    away = [
        word
        for name in ("replica", "rates", "broker")
        for word in (f"--{name}", f"{SCHEMES[name]}://ann:{SECRET}@127.0.0.1:1")
    ]
    err = ""

    def is_told() -> bool:
        nonlocal err
        err += capfd.readouterr().err
        return all(each in err for each in ("the replica is not", "rates cannot be", "the broker takes"))

    node = Node(url, *away).begun()
    try:
        answers = [node.client.get("/limited"), node.client.post("/people", json={"name": "ann"})]
        assert [each.status_code for each in answers] == [503, 201]
        until(is_told, lambda: err)
        metrics = httpx.get(f"{node.operator}/metrics").text
        node.process.terminate()
        assert node.process.stdout is not None
        out = node.process.stdout.read()
    finally:
        node.close()
    assert SECRET not in out + err + metrics + "".join(each.text for each in answers)
