"""Part 9: which version a request asks for."""

from __future__ import annotations

from ninefold.checked.service import Versions
from ninefold.checks.findings import Findings
from ninefold.contract.fact import value_of
from ninefold.contract.service import Contract


def check_versioning(contract: Contract, findings: Findings) -> Versions | None:
    """None where there are no versions, or where it is not shown how a request names one."""
    scheme, versions = value_of(contract.versioning.scheme), value_of(contract.versioning.versions)
    if scheme is None or not versions:
        return None
    if scheme.by == "media type":
        fact = contract.versioning.scheme
        assert fact is not None
        findings.left_for_later("a version by media type", "every request is answered in the newest version", fact.span)
        return None
    default = value_of(contract.versioning.default)
    return Versions(
        by=scheme.by,  # type: ignore[arg-type]
        name=scheme.name or "",
        current=versions[0].name,
        default=None if default is None else default.text,
        others=tuple(version.name for version in versions[1:]),
    )
