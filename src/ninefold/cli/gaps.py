"""`ninefold gaps FILE`"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Literal, assert_never

from ninefold.cli.check import say_sarif
from ninefold.cli.commands import AcceptProposals, File, Parameter, Settings
from ninefold.cli.document import errors_of, load
from ninefold.cli.operator_values import operator_values
from ninefold.cli.terminal import Unusable, say_json, say_visibly
from ninefold.diagnostics.diagnostic import Diagnostic
from ninefold.diagnostics.sarif import result_of
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.pipeline import Loaded
from ninefold.plan.service import OperatorValue
from ninefold.tools import gaps as all_gaps
from ninefold.tools import obstacles as of_endpoint
from ninefold.tools.letter import letter

Format = Literal["text", "json", "markdown", "sarif"]


def gaps(
    file: File,
    /,
    *,
    endpoint: Annotated[str | None, Parameter(name="--for", show_default=False)] = None,
    format: Format = "text",
    settings: Settings = (),
    accept_proposals: AcceptProposals = False,
) -> int:
    """Show what a contract leaves open.

    The nine parts at a glance, then each open question with its place and with what its silence costs, those first
    that block an endpoint. Works on half-written contracts too; errors in them go to standard error.

    Exit status: 0 if every question is answered (with `--for`: if nothing stands between the endpoint and being
    served), 1 if one is open or the contract has errors, 2 if the file cannot be read or has no such endpoint.

        ninefold gaps contract.md
        ninefold gaps contract.md --for "GET /tasks"
        ninefold gaps contract.md --format markdown > letter.md
        ninefold gaps contract.md --format json | jq '.gaps[].question'

    Parameters
    ----------
    endpoint
        Only what stands between this endpoint and being served, the shortest answer first: open questions, what is
        not in force, and what the operator has not given.
    format
        `markdown` is a letter to the contract's owner, `sarif` for tools that show findings at their lines.
    settings
        With `--for`: a value that the operator gives, as for `ninefold serve`.
    """
    loaded = load(file, accept_proposals)
    key = None if endpoint is None else _endpoint(loaded, endpoint)
    if settings and key is None:
        raise Unusable("--set stands without --for", 'name the endpoint: --for "GET /tasks"')
    errors = errors_of(loaded)
    if key is None:
        return _of_all(loaded, errors, format)
    return _of_endpoint(loaded, errors, key, format, settings)


def _of_all(loaded: Loaded, errors: Sequence[Diagnostic], format: Format) -> int:
    contract, open, count = loaded.contract, loaded.open_questions, len(errors)
    match format:
        case "text":
            say_visibly(all_gaps.to_text(contract, open, count))
        case "json":
            say_json(all_gaps.to_json(contract, open, count))
        case "markdown":
            say_visibly(letter(contract, open, errors=count))
        case "sarif":
            say_sarif((*map(result_of, errors), *all_gaps.to_results(open)), loaded.source)
        case _:
            assert_never(format)
    return 1 if open or errors else 0


def _of_endpoint(
    loaded: Loaded, errors: Sequence[Diagnostic], key: str, format: Format, settings: Sequence[str]
) -> int:
    missing: list[OperatorValue] = []
    if loaded.plan is not None:
        wanted = loaded.plan.operator
        given = operator_values([each.name for each in wanted], settings, None, os.environ)
        missing = [each for each in wanted if each.name not in given]
    found = of_endpoint.obstacles(key, loaded.contract, loaded.open_questions, loaded.checked, missing)
    match format:
        case "text":
            say_visibly(of_endpoint.to_text(found, loaded.source))
        case "json":
            say_json(of_endpoint.to_json(found, loaded.source))
        case "markdown":
            say_visibly(letter(loaded.contract, found.questions, key, len(errors)))
        case "sarif":
            say_sarif((*map(result_of, errors), *all_gaps.to_results(found.questions)), loaded.source)
        case _:
            assert_never(format)
    return 1 if found else 0


def _endpoint(loaded: Loaded, written: str) -> str:
    """The key of the endpoint that is meant. Raises Unusable where the contract has none such."""
    found = of_endpoint.endpoint_named(loaded.contract, written)
    if found is not None:
        return found
    keys = of_endpoint.endpoints_of(loaded.contract)
    if not keys:
        raise Unusable(f"the contract has no endpoint {written}", "part 4 shows no endpoint yet")
    listed = ", ".join(keys[:12]) + (", …" if len(keys) > 12 else "")
    help = did_you_mean(written, keys) or (f"its endpoints are {listed}",)
    raise Unusable(f"the contract has no endpoint {written}", *help)
