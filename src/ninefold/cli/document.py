"""The document that a command is about."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ninefold.cli.files import database_of, read_bytes
from ninefold.cli.terminal import HasErrors, Unusable, remark, show
from ninefold.diagnostics.diagnostic import Diagnostic, Severity, has_errors
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document

if TYPE_CHECKING:
    from ninefold.plan.service import ServicePlan


def load(file: str, accept_proposals: bool = False) -> Loaded:
    """Read and compile a document. Raises Unusable where it cannot be read."""
    return compiled(file, read_bytes(file), accept_proposals)


def compiled(file: str, data: bytes, accept_proposals: bool = False) -> Loaded:
    """Compile what was read of a document."""
    return compile_document(file, data, accept_proposals)


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
