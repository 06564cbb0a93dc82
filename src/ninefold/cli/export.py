"""`ninefold export openapi FILE`"""

from __future__ import annotations

import sys
from typing import Literal

import msgspec
import yaml

from ninefold.cli.contract_file import in_version, load
from ninefold.cli.parameter import AcceptProposals, File, InVersion
from ninefold.cli.terminal import remark, say, show
from ninefold.diagnostics.diagnostic import Severity
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service


def export(
    what: Literal["openapi"],
    file: File,
    /,
    *,
    format: Literal["json", "yaml"] = "json",
    version: InVersion = None,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Write what is served in the words of another standard.

    `openapi` is an OpenAPI 3.1 document, for generators of clients, test tools and documentation. What OpenAPI has no
    words for stands under `x-ninefold`, with the line of the contract; endpoints that are blocked, and open questions,
    are named there and not filled.

    Exit status: 0, or 1 if the contract has errors or leaves nothing to serve.

        ninefold export openapi contract.md > openapi.json
        ninefold export openapi contract.md --format yaml
        ninefold export openapi contract.md --version 2026-01-01

    Parameters
    ----------
    what
        `openapi`.
    version
        A version of the contract, which has a document of its own. The newest, where none is named.
    """
    loaded = load(file, accept_proposals)
    show((found for found in loaded.diagnostics if found.code.severity is Severity.ERROR), loaded.source, sys.stderr)
    if loaded.plan is None or loaded.checked is None:
        return 1
    loaded = in_version(loaded, version)
    assert loaded.plan is not None and loaded.checked is not None
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    if format == "json":
        say(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        say(yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))
    if not loaded.plan.routes:
        remark("there is nothing to serve: ninefold gaps says why")
        return 1
    return 0


class _Dumper(yaml.SafeDumper):
    """YAML without anchors: what stands in two places is written twice."""

    def ignore_aliases(self, data: object) -> bool:
        return True
