"""What `ninefold explain` says of a contract: an endpoint, the whole service, or one response."""

from __future__ import annotations

from typing import Literal

from ninefold.cli.document import in_version, load
from ninefold.cli.terminal import Unusable, say, say_json
from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded
from ninefold.tools.explain.endpoint import explain_endpoint, find_endpoint
from ninefold.tools.explain.explanation import Explanation
from ninefold.tools.explain.render import to_json, to_markdown, to_text
from ninefold.tools.explain.screen import to_screen
from ninefold.tools.explain.service import explain_service
from ninefold.tools.explain.traced import explain_response
from ninefold.trace.attribution import attribution
from ninefold.trace.identifier import NotATrace

LISTED = 12
"""How many endpoints are named in the help for a wrong one."""


def explain_contract(
    file: str,
    endpoint: str | None,
    *,
    response: str | None,
    version: str | None,
    format: Literal["text", "json", "markdown"],
    statements: bool,
    all: bool,
    accept_proposals: bool,
) -> int:
    """Print the explanation. The exit status: 1 if the contract has errors as well."""
    loaded = load(file, accept_proposals)
    if response is not None:
        explanation = _response(loaded, response)
    elif endpoint is None and version is None:
        explanation = explain_service(loaded)
    elif endpoint is None:
        explanation = explain_service(in_version(loaded, version))
    else:
        loaded = in_version(loaded, version)
        found = find_endpoint(loaded, endpoint)
        if found is None:
            raise Unusable(f"the contract has no endpoint {endpoint}", *_meant(loaded, endpoint))
        explanation = explain_endpoint(loaded, found, statements)
    match format:
        case "json":
            say_json(to_json(explanation))
        case "markdown":
            say(to_markdown(explanation))
        case _:
            if all or statements or (endpoint is None and response is None):
                say(to_text(explanation))
            else:
                say(to_screen(explanation) if response is None else to_text(explanation, with_meanings=False))
    return 1 if has_errors(loaded.diagnostics) else 0


def _response(loaded: Loaded, text: str) -> Explanation:
    if loaded.plan is None:
        raise Unusable("the contract has errors, so no response is of it", "`ninefold check` shows them")
    wrong = list[NotATrace]()
    for plan in loaded.plans():  # each is for one database, and so is what its service traces
        try:
            return explain_response(loaded, attribution(plan, text))
        except NotATrace as error:
            wrong.append(error)
    raise Unusable(f"the response cannot be explained: {wrong[0]}", *wrong[0].help)


def _meant(loaded: Loaded, wanted: str) -> tuple[str, ...]:
    """Help for an endpoint that there is not: those of the same path, else the nearest, else all, if they are few."""
    keys = list(dict.fromkeys(each.key for each in value_of(loaded.contract.endpoints.endpoints) or ()))
    path = wanted.split()[-1] if wanted.split() else ""
    of_the_path = [key for key in keys if key.partition(" ")[2].strip() == path]
    if of_the_path:
        return (f"of this path there {'are' if len(of_the_path) > 1 else 'is'} {_listed(of_the_path)}",)
    found = did_you_mean(wanted, keys)
    if found or not keys:
        return found or ("the contract has no endpoint yet: `ninefold gaps` shows what it leaves open",)
    return (f"there are {_listed(keys)}",) if len(keys) <= LISTED else (f"there are {len(keys)} endpoints",)


def _listed(keys: list[str]) -> str:
    return ", ".join(f"`{visible(key)}`" for key in keys)
