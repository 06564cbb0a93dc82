"""What was probably meant by the name of a field that is not there."""

from __future__ import annotations

from collections.abc import Mapping

from ninefold.checked.resources import Field
from ninefold.diagnostics.suggest import did_you_mean


def meant(name: str, fields: Mapping[str, Field]) -> tuple[str, ...]:
    """A change of part 9 has the names of the document, whatever the callers of its version call them. What is worked
    out for a version alone has no name that could be written."""
    called = next((each.name for each in fields.values() if each.called == name), None)
    if called is None:
        return did_you_mean(name, [each for each in fields if each.isidentifier()])
    if called.isidentifier():
        return (f"what a change says has the names of the document: `{called}`",)
    return (f"`{name}` is worked out for that version alone: `{{{name}: EXPRESSION}}` shows it",)
