"""A key of an endpoint that says a header, and nothing else: every response of the endpoint carries it, the trace knows
its cause, and the OpenAPI document tells of it. No key is asked for by its name, so it holds of those to come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from tests.contracts import contract_of
from tests.openapi.told import untold
from tests.test_cases import exchanged
from tests.test_plain_values import CARRIERS, CASES, WITHOUT_ONE
from tests.trace.accounted import problems
from tests.trace.test_every_response import HELLO

from ninefold.language import declaration, endpoints, versioning
from ninefold.language.headers import Header
from ninefold.pipeline import compile_document

OF_ETAG: Final = Header("Tagged", "RFC 9110, section 8.8.3", lambda value: f"it is {value}")


@pytest.fixture
def says_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """The language as if `etag` said a header besides."""
    every = declaration.members

    def members(record: type) -> tuple[declaration.Declared, ...]:
        found = every(record)
        if record is not endpoints.Endpoint:
            return found
        return tuple(replace(each, planned=True, header=OF_ETAG) if each.name == "etag" else each for each in found)

    monkeypatch.setattr(declaration, "members", members)


@pytest.mark.serves
@pytest.mark.usefixtures("says_a_header")
@pytest.mark.parametrize("name", ["assets-of-two-sorts", "three-versions-of-a-shelf", "orders"])
def test_every_response_of_its_endpoint_carries_it(name: str, tmp_path: Path) -> None:
    """Of one case, in several versions, and of reads that are like earlier ones, which no trace slows down."""
    directory = CASES / name
    loaded = compile_document("contract.md", contract_of(directory).read_bytes())
    assert loaded.plan is not None
    traced = exchanged(directory, loaded.plan, tmp_path / "traced.db", trace=True)
    assert [each for response in traced for each in (*problems(loaded, response), *untold(loaded, response))] == []
    said = [response.headers.get("Tagged") for response in traced]
    assert set(said) == {None, "it is True"}
    plainly = exchanged(directory, loaded.plan, tmp_path / "plainly.db", trace=False)
    assert [response.headers.get("Tagged") for response in plainly] == said


@pytest.mark.usefixtures("says_a_header")
def test_it_is_not_a_contract_s_to_give_besides() -> None:
    stated = "etag: true, headers: {tagged: \"'by hand'\"}, responses: {200:"
    loaded = compile_document("hello.md", HELLO.replace("responses: {200:", stated).encode())
    assert "`tagged` is not a contract's to give here" in [each.message for each in loaded.diagnostics]


def test_no_other_record_says_one() -> None:
    """What stands elsewhere is no endpoint's: a header there would be sent by nobody."""
    saying = {record for record in (*CARRIERS, *WITHOUT_ONE) if any(e.header for e in declaration.members(record))}
    assert saying <= {endpoints.Endpoint, versioning.Version}
