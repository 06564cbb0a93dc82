"""`ninefold export openapi FILE`"""

from __future__ import annotations

from typing import Literal

import yaml

from ninefold.cli.commands import AcceptProposals, File, InVersion
from ninefold.cli.document import errors_of, has_routes, in_version, load
from ninefold.cli.terminal import Unusable, say, say_json
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.syntax.nodes import PARTS, TITLES, heading
from ninefold.tools.editor_schema import block_of, plain_form
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
    errors_of(loaded)
    if loaded.plan is None or loaded.checked is None:
        return 1
    loaded = in_version(loaded, version)
    assert loaded.plan is not None and loaded.checked is not None
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    if format == "json":
        say_json(document)
    else:
        say(yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))
    return 0 if has_routes(loaded.plan) else 1


class _Dumper(yaml.SafeDumper):
    """YAML without anchors: what stands in two places is written twice."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def schema(part: str | None = None, /) -> int:
    """Print a JSON Schema for editors.

    The schema of a contract in the plain form, or of the `yaml` blocks of one part. It gives completion, hover texts
    and marks for what is misspelt; `ninefold check` says what else is wrong. Draft 7, for the YAML extension of
    VS Code and for others that run the YAML language server.

        ninefold schema > contract.schema.json
        ninefold schema endpoints

    Parameters
    ----------
    part
        A part by its name, its number or its heading: `endpoints`, `4`.
    """
    found = plain_form() if part is None else block_of(_number(part))
    say_json(found)
    return 0


def _number(part: str) -> int:
    """Which part is meant, counted from 1. Raises Unusable."""
    found = heading(part).part
    if found:
        return found
    help = did_you_mean(part, PARTS) or did_you_mean(part, TITLES) or (f"the parts are {', '.join(PARTS)}",)
    raise Unusable(f"there is no part {part}", *help)
