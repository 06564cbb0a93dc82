"""A field has one value, whoever asks: nothing that is computed can tell callers, or requests, apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.contracts import ALL, compiled, title

from ninefold.expressions.tree import free_variables


def test_no_computed_field_reads_who_asks() -> None:
    """In each contract that is served, and in each of its older versions."""
    found = [each for path in ALL for each in _computed(path)]
    assert len(found) > 50
    assert [field for field, roots in found if roots & {"caller", "request"}] == []


def _computed(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The computed fields of a contract, and the roots that each reads."""
    newest = compiled(path)
    versions = None if newest.checked is None else newest.checked.versions
    names = () if versions is None else [each.name for each in versions.versions]
    for loaded in (newest, *map(newest.of, names)):
        checked = None if loaded is None else loaded.checked
        for resource in () if checked is None else checked.resources.values():
            for field in resource.fields.values():
                if field.computed is not None:
                    yield f"{title(path)}: {resource.name}.{field.name}", free_variables(field.computed)
