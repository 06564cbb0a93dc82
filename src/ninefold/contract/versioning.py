"""Part 9: versioning."""

from __future__ import annotations

from dataclasses import dataclass

from ninefold.contract.fact import Fact, Name
from ninefold.diagnostics.source import Span
from ninefold.syntax.nodes import Mapping


@dataclass(frozen=True, slots=True)
class VersionScheme:
    """`by` is `path`, `header`, `query` or `media type`; `name` is the header's or the parameter's."""

    by: str
    name: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One step of the way back to an older version: `verb` is rename, remove, add or change."""

    verb: str
    subject: Name
    node: Mapping


@dataclass(frozen=True, slots=True)
class Version:
    """The dates are RFC 3339 full-dates."""

    name: str
    span: Span
    changes: Fact[tuple[Change, ...]] | None
    deprecated: Fact[str] | None
    sunset: Fact[str] | None
    retired: Fact[str] | None


@dataclass(frozen=True, slots=True)
class Versioning:
    """`versions`, newest first."""

    scheme: Fact[VersionScheme] | None
    default: Fact[Name] | None
    versions: Fact[tuple[Version, ...]] | None
    compatible: Fact[tuple[Name, ...]] | None
