"""`ninefold explain FILE [ENDPOINT]`, `ninefold explain FILE --response ID` and `ninefold explain CODE`"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from rich.console import Console
from rich.markdown import Markdown

from ninefold.catalogue import CODES
from ninefold.cli.contract_file import AcceptProposals, InVersion, in_version, load
from ninefold.cli.parameter import Parameter
from ninefold.cli.terminal import Unusable, is_coloured, say, width
from ninefold.contract.fact import value_of
from ninefold.diagnostics.diagnostic import Code, Severity, has_errors
from ninefold.diagnostics.explanations import explanation
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.explain.endpoint import explain_endpoint, find_endpoint
from ninefold.explain.explanation import Explanation
from ninefold.explain.render import to_json, to_markdown, to_text
from ninefold.explain.service import explain_service
from ninefold.explain.traced import explain_response
from ninefold.pipeline import Loaded
from ninefold.trace.attribution import attribution
from ninefold.trace.identifier import NotATrace

MEANINGS = {
    Severity.ERROR: "An error: a contract that has it is not served.",
    Severity.WARNING: "A warning: a contract that has it is served, and probably says something else than was meant.",
    Severity.NOTE: "A note: a contract that has it is served.",
}

LISTED = 12
"""How many endpoints are named in the help for a wrong one."""


def explain(
    subject: Annotated[str, Parameter(allow_leading_hyphen=True)],
    endpoint: str | None = None,
    /,
    *,
    response: str | None = None,
    version: InVersion = None,
    format: Literal["text", "json", "markdown"] = "text",
    statements: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Explain an endpoint, a whole service, one response, or a diagnostic by its code.

    Of an endpoint, everything that decides it, each fact with its line: who may call and which rows they see, the
    body, guards, values, the response, and each error with what causes it, in the order in which they count. Of a
    service, the nine parts in one page. Of a response, what caused its status, its headers, each member of its body
    and the events that arose with it, line by line. Works on half-written contracts and on such with errors, as far as
    they go.

    Exit status: 0 if it is explained, 1 if the contract has errors as well, 2 if there is no such file, endpoint or
    code.

        ninefold explain contract.md
        ninefold explain contract.md "POST /orders"
        ninefold explain contract.md --response 1.q7Rk0w3Z.nAAAAQ.f3Kd
        ninefold explain contract.md "GET /orders" --version 2026-01-01
        ninefold explain NF0403

    Parameters
    ----------
    subject
        The contract, Markdown or YAML (`-` is standard input), or a diagnostic's code as it stands in brackets
        behind `error`, `warning` or `note`; `nf403` means the same.
    endpoint
        A method and a path, as the contract writes it (`GET /orders/{id}`) or as a request would have it.
    response
        What a response carries in its header `Ninefold-Trace`, under `ninefold serve --trace` and in `ninefold dev`.
        It has to be a response of this contract as it stands.
    version
        A version of the contract: what decides it, and its endpoints, are as that version has them.
    format
        `json` is a stable form; `markdown` is for a page.
    statements
        With the SQL of the endpoint.
    """
    if endpoint is None and response is None and _is_code(subject):
        return _code(subject)
    loaded = load(subject, accept_proposals)
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
            say(msgspec.json.format(msgspec.json.encode(to_json(explanation)), indent=2).decode())
        case "markdown":
            say(to_markdown(explanation))
        case _:
            say(to_text(explanation))
    return 1 if has_errors(loaded.diagnostics) else 0


def _response(loaded: Loaded, text: str) -> Explanation:
    if loaded.plan is None:
        raise Unusable("the contract has errors, so no response is of it", "`ninefold check` shows them")
    try:
        return explain_response(loaded, attribution(loaded.plan, text))
    except NotATrace as error:
        raise Unusable(f"the response cannot be explained: {error}", *error.help) from None


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


def _is_code(subject: str) -> bool:
    """Whether a code is meant: what looks like a file, or is one, is a contract."""
    looks = subject != "-" and not re.search(r"[/\\]|\.(md|markdown|ya?ml)$", subject, re.IGNORECASE)
    return looks and (_normal(subject) in CODES or not Path(subject).exists())


def _code(subject: str) -> int:
    known: Code | None = CODES.get(_normal(subject))
    if known is None:
        if did_you_mean(_normal(subject), CODES):
            raise Unusable(f"there is no code {subject}", *did_you_mean(_normal(subject), CODES))
        raise Unusable(f"there is neither a file nor a code {subject}")
    about = explanation(known.id)
    text = f"# {known.id}: {about.title}\n\n{MEANINGS[known.severity]}\n\n{about.markdown}\n"
    if is_coloured(sys.stdout):
        Console(width=width()).print(Markdown(text))
    else:
        say(text)
    return 0


def _normal(code: str) -> str:
    found = re.fullmatch(r"\s*\[?(?:NF)?(\d{1,4})\]?\s*", code, re.ASCII | re.IGNORECASE)
    return f"NF{int(found[1]):04}" if found else code
