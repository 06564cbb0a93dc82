"""What a contract states outside its endpoints and this build does not put in force."""

from __future__ import annotations

from ninefold.checks.findings import Findings
from ninefold.contract.fact import Shown, value_of
from ninefold.contract.service import Contract


def left_for_later(contract: Contract, findings: Findings) -> None:
    """Versions and the like: read and checked, noted one by one."""
    cross_origin = contract.endpoints.cross_origin
    if isinstance(cross_origin, Shown):
        findings.left_for_later("`cross origin`", "no header for other origins is sent", cross_origin.span)
    versions = value_of(contract.versioning.versions) or ()
    for version in versions[1:]:
        findings.left_for_later(
            f"the version `{version.name}`", "a request that names it is answered 501", version.span
        )
