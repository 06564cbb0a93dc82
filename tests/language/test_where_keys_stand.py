"""Keys of a shape stand where its page says, and are told where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.language.table import SHAPES, holders, shapes
from ninefold.pipeline import compile_document
from ninefold.tools import reference

CONTRACT: Final = """
purpose: Keeps units.
resources: {unit: {primary key: id, fields: {id: {type: string}, of: {references: unit}}}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /units:
    does: list unit
    sort: [id]
    pages: none
    responses: {200: page.items}
"""
VALUES: Final[Mapping[str, str]] = {
    "required": "true",
    "default": "x",
    "explode": "true",
    "content": "application/json",
    "where": "unit.id == value",
    "sorts": "[id]",
    "reverses": "[x]",
    "selects": "[id]",
    "always": "[id]",
    "expands": "[of]",
}


def test_a_key_of_a_parameter_stands_where_its_page_says() -> None:
    own = [name for name in shapes()["PARAMETER"] if "." not in name]
    assert own == [*VALUES]
    at = [name for name, shape in SHAPES.items() if shape == "PARAMETER"]
    parameters = (
        f"    {holder}: {{{', '.join(f'X-{name}: {{{name}: {VALUES[name]}}}' for name in own)}}}\n" for holder in at
    )
    told = compile_document("units.yaml", (CONTRACT + "".join(parameters)).encode()).diagnostics
    refused = [each for each in told if each.code.id == "NF0301"]
    found = {(each.message, each.span.start) for each in refused}
    assert len(found) == sum(holder not in holders("PARAMETER", name) for holder in at for name in own)
    for name in own:
        assert sum(each.message == f"`X-{name}` has no key `{name}`" for each in refused) == len(at) - len(
            holders("PARAMETER", name)
        )
        if name != "required":
            assert all(f"`{name}` stands at " in each.help[0] for each in refused if f"key `{name}`" in each.message)


def test_the_page_says_of_a_key_that_stands_at_some_places_at_which() -> None:
    for entry in reference.on(reference.SHAPES_PAGE):
        shape, _, path = entry.name.partition(".")
        some = holders(shape, path) != holders(shape)
        assert entry.paragraphs[0].count(" alone") == some, entry.name
