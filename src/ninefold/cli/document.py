"""The document that a command is about."""

from __future__ import annotations

import sys
from pathlib import Path

from ninefold.cli.files import opened
from ninefold.cli.terminal import HasErrors, Unusable, reason, remark, show
from ninefold.diagnostics.diagnostic import Diagnostic, Severity, has_errors
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.service import ServicePlan

LARGEST = 64 * 1024 * 1024
"""Bytes that are read of whatever it is: a document is refused long before, and a device has no end."""


def load(file: str, accept_proposals: bool = False) -> Loaded:
    """Read and compile a document. Raises Unusable where it cannot be read."""
    return compiled(file, read_bytes(file), accept_proposals)


def compiled(file: str, data: bytes, accept_proposals: bool = False) -> Loaded:
    """Compile what was read of a document."""
    return compile_document(file, data, accept_proposals)


def read_bytes(file: str) -> bytes:
    """What a document holds. Raises Unusable where it cannot be read."""
    try:
        if file == "-":
            return sys.stdin.buffer.read(LARGEST)
        with opened(file) as found:
            return found.read(LARGEST)
    except (OSError, ValueError) as error:
        raise Unusable(f"{file or 'a file without a name'} cannot be read: {reason(error)}") from None


def errors_of(loaded: Loaded) -> tuple[Diagnostic, ...]:
    """The errors of a contract, which are shown beside what was asked for."""
    found = tuple(each for each in loaded.diagnostics if each.code.severity is Severity.ERROR)
    show(found, loaded.source, sys.stderr)
    return found


def planned(file: str, accept_proposals: bool = False) -> tuple[Loaded, ServicePlan]:
    """A contract and its plan. Raises HasErrors where it has none, and it is shown why; Unusable where the document
    cannot be read."""
    loaded = load(file, accept_proposals)
    errors_of(loaded)
    if loaded.plan is None:
        raise HasErrors
    return loaded, loaded.plan


def has_routes(plan: ServicePlan) -> bool:
    """Whether anything would be served; it is said where nothing would."""
    if not plan.routes:
        remark("there is nothing to serve: ninefold gaps says why")
    return bool(plan.routes)


def in_version(loaded: Loaded, version: str | None) -> Loaded:
    """A contract in one of its versions. Raises Unusable where it has none of that name, or none that is served."""
    found = loaded.of(version)
    if found is not None:
        return found
    stated = [each.name for each in value_of(loaded.contract.versioning.versions) or ()]
    if version in stated and not has_errors(loaded.diagnostics):
        raise Unusable(f"the way back to the version {version} is not shown")
    if version in stated:
        raise Unusable(f"the contract has errors, and no version {version} is made of it")
    listed = ", ".join(stated)
    help = (f"its versions are {listed}",) if stated else ("it states no versions",)
    raise Unusable(f"the contract has no version {version}", *help)


def plan_beside(loaded: Loaded, plan: ServicePlan, file: str, named: str | None) -> tuple[str, ServicePlan]:
    """The database that is meant (`database_of`), and the plan that is made for its kind. Raises Unusable."""
    from ninefold.runtime.store.opening import kind_of  # whoever only reads a contract needs no database

    url = database_of(file, named)
    return url, loaded.plan_for(kind_of(url)) or plan


def database_of(file: str, named: str | None) -> str:
    """The URL or path that is named, else a file in the working directory that is called after the document.
    Raises Unusable for a document without a name."""
    if named is not None:
        return named
    if file == "-":
        raise Unusable("a contract from standard input has no name for its database", "--database names the file")
    return called_after(file)


def called_after(file: str) -> str:
    """The database of a document where none is named."""
    return f"{Path(file).stem}.db"
