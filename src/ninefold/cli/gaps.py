"""`ninefold gaps FILE`"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal, assert_never

import msgspec

from ninefold.cli.contract_file import load
from ninefold.cli.operator_values import operator_values
from ninefold.cli.parameter import AcceptProposals, File, Parameter
from ninefold.cli.sarif import say_sarif
from ninefold.cli.terminal import Unusable, say, show
from ninefold.diagnostics.diagnostic import Diagnostic, Severity, has_errors
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.sarif import result_of
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.pipeline import Loaded
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
    settings: Annotated[Sequence[str], Parameter(name="--set", negative=(), show_default=False)] = (),
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
    show(_errors(loaded), loaded.source, sys.stderr)
    return _of_all(loaded, format) if key is None else _of_endpoint(loaded, key, format, settings)


def _of_all(loaded: Loaded, format: Format) -> int:
    contract, open, errors = loaded.contract, loaded.open_questions, len(_errors(loaded))
    match format:
        case "text":
            _say_lines(all_gaps.to_text(contract, open, errors))
        case "json":
            _say_json(all_gaps.to_json(contract, open, errors))
        case "markdown":
            _say_lines(letter(contract, open, errors=errors))
        case "sarif":
            say_sarif((*map(result_of, _errors(loaded)), *all_gaps.to_results(open)), loaded.source)
        case _:
            assert_never(format)
    return 1 if open or has_errors(loaded.diagnostics) else 0


def _errors(loaded: Loaded) -> list[Diagnostic]:
    return [found for found in loaded.diagnostics if found.code.severity is Severity.ERROR]


def _of_endpoint(loaded: Loaded, key: str, format: Format, settings: Sequence[str]) -> int:
    wanted = () if loaded.checked is None else tuple(each.name for each in loaded.checked.operator)
    given = operator_values(wanted, settings, None, os.environ) if loaded.checked is not None else {}
    found = of_endpoint.obstacles(key, loaded.contract, loaded.open_questions, loaded.checked, given)
    match format:
        case "text":
            _say_lines(of_endpoint.to_text(found, loaded.source))
        case "json":
            _say_json(of_endpoint.to_json(found, loaded.source))
        case "markdown":
            _say_lines(letter(loaded.contract, found.questions, key, len(_errors(loaded))))
        case "sarif":
            say_sarif((*map(result_of, _errors(loaded)), *all_gaps.to_results(found.questions)), loaded.source)
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


def _say_json(value: dict[str, Any]) -> None:
    say(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _say_lines(text: str) -> None:
    """Lines that hold text of the document, which a terminal is to show and not to obey."""
    say("\n".join(map(visible, text.split("\n"))))
