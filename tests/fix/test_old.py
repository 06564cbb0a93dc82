"""What was served in the first words is served after `fix`: each frozen contract (`freeze.py`) passes `check`, and its
service answers the requests of its case as it did, from the database that the older service made."""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from pathlib import Path

import httpx
import pytest
from tests.http_cases import serving, tell
from tests.slices import some

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import render
from ninefold.diagnostics.source import Source
from ninefold.diff.requests import Exchange, Known, read_exchanges
from ninefold.pipeline import Loaded, compile_document
from ninefold.syntax.parser import form_of, parse
from ninefold.tools.fix.fix import Fixed, fixed

OLD = sorted(path for path in (Path(__file__).parent / "old").iterdir() if path.is_dir())
ASKED = [directory for directory in OLD if (directory / "http").is_dir()]

BY_HAND = {
    "events-of-a-calendar": "the broker is given to `serve`",
    "wishes-that-are-there-or-not": "whether a thing is wished is `computed` from who asks",
}
"""Contracts of which a line is left to do, and so are not served as they were: why."""

OTHERWISE = {
    "values-that-the-contract-cannot-make": "what cannot be made had the code of `invariant`, and is a bare 409"
}
"""Contracts that answer a request otherwise, as the line that `fix` names says: why."""

SINCE = {
    "books-that-show-what-is-asked-for": "a name that is not offered is told at its place, `/fields/0`",
    "errors-of-fields": "what is wrong with a body is told in the order of the contract",
    "members-known-by-two-references": "a predicate on a caller who is nobody is `false`, and is shown",
    "reports-of-a-month": "what makes a path be not found is told with no fields",
    "tasks-that-change-all-at-once": "a value that is taken is told with its field",
}
"""Contracts that answer a request otherwise, whatever they say, since answers were mended: how."""

REFUSED = {"values-of-any-type-are-compared-as-what-they-are": "`sum` asks which type the items are of (decision 0230)"}
"""Contracts that are not served any more, since what they say has several meanings: which."""

TOLD = {"refers to": "references"}
"""What errors tell, and call otherwise now."""


@cache
def rewritten(directory: Path) -> tuple[Fixed, Loaded]:
    (path,) = directory.glob("contract.*")
    text = path.read_text(encoding="utf-8")
    result = fixed(parse(Source(path.name, text), form_of(path.name, text)).value)
    return result, compile_document(path.name, result.text.encode())


@pytest.mark.long
def test_every_contract_that_was_served_is_served() -> None:
    offenders = []
    for directory in some(OLD, 4):
        result, loaded = rewritten(directory)
        errors = [each for each in loaded.diagnostics if each.code.severity is Severity.ERROR]
        if (directory.name in BY_HAND) != bool(result.left):
            offenders.append(f"{directory.name}: {[each.message for each in result.left]}")
        if directory.name in REFUSED:
            assert errors, "it need not stand among those that are refused"
        elif directory.name not in BY_HAND and (errors or loaded.plan is None or not loaded.plan.routes):
            offenders.append(f"{directory.name}:\n{render(errors, loaded.source)}")
    assert not offenders, "\n".join(offenders)


@pytest.mark.long
@pytest.mark.serves
@pytest.mark.parametrize("directory", some(ASKED, 4), ids=lambda path: path.name)
def test_its_service_answers_as_it_did(directory: Path, tmp_path: Path) -> None:
    _, loaded = rewritten(directory)
    if directory.name in (*BY_HAND, *OTHERWISE, *SINCE, *REFUSED):
        return
    assert loaded.plan is not None
    database = tmp_path / "service.db"
    made = sqlite3.connect(database)
    made.executescript((directory / "database.sql").read_text(encoding="utf-8"))
    made.close()
    given = directory / "operator.json"
    operator = json.loads(given.read_text(encoding="utf-8")) if given.exists() else {}
    for path in sorted((directory / "http").glob("*.http")):
        with serving(loaded.plan, database, operator) as client:
            known: Known = {}
            text = path.read_text(encoding="utf-8")
            for old, new in TOLD.items():
                text = text.replace(old, new)
            for exchange in read_exchanges(text):
                asked(path, client, exchange, known)


def asked(path: Path, client: httpx.Client, exchange: Exchange, known: Known) -> None:
    try:
        tell(client, exchange, known)
    except AssertionError as error:
        raise AssertionError(f"{path.name}, {error}") from None
