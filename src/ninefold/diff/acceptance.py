"""Findings that somebody has looked at and taken, in a file that is reviewed with the change:

    - {finding: 3f1c09aa52e81b07, reason: nobody has called it since May, date: 2026-11-22}

`finding` is the fingerprint of one. It is of what is found and not of its lines, so that it outlives these.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from ninefold.diagnostics.source import Source, Span
from ninefold.syntax.excerpt import whole
from ninefold.syntax.nodes import Mapping, Node, Scalar, Sequence
from ninefold.syntax.yaml import compose

KEYS: Final = ("finding", "reason", "date")


class NotAccepted(Exception):
    """A file that does not say what is accepted; the message says where and why."""


def acceptances(source: Source) -> dict[str, str]:
    """Why each finding is accepted, by its fingerprint. Raises NotAccepted."""
    outcome = compose(whole(source.text))
    for each in outcome.diagnostics:
        raise _wrong(source, each.labels[0].span, each.message)
    root = outcome.value
    if not isinstance(root, Sequence):
        raise _wrong(source, Span(0, 0), "it is not a list of `{finding: …, reason: …, date: …}`")
    return dict(_acceptance(source, item) for item in root.items)


def _acceptance(source: Source, item: Node) -> tuple[str, str]:
    entries = item.entries if isinstance(item, Mapping) else ()
    said = {entry.name: entry.value.text for entry in entries if isinstance(entry.value, Scalar)}
    if {*said} != {*KEYS} or len(entries) != len(KEYS) or not said["reason"].strip():
        raise _wrong(source, item.span, "each says a `finding`, a `reason` and a `date`, and nothing else")
    try:
        date.fromisoformat(said["date"])
    except ValueError:
        raise _wrong(source, item.span, f"{said['date']} is no date, such as 2026-11-22") from None
    return said["finding"], said["reason"]


def _wrong(source: Source, span: Span, why: str) -> NotAccepted:
    return NotAccepted(f"{source.name}:{source.place(span.start)}: {why}")
