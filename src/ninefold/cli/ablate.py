"""`ninefold ablate FILE --requests FILE`"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Literal, assert_never

from ninefold.cli.commands import File, Parameter, Settings
from ninefold.cli.document import compiled
from ninefold.cli.files import read_bytes, request_files
from ninefold.cli.operator_values import operator_values
from ninefold.cli.terminal import Unusable, say, say_json, say_visibly, show
from ninefold.diff.ablate.ablate import Work
from ninefold.diff.ablate.ablate import found as found_by
from ninefold.diff.ablate.facts import written
from ninefold.diff.ablate.report import Report, report, to_json, to_markdown, to_text
from ninefold.diff.requests import Excuse, Unreadable, excuses


def ablate(
    file: File,
    /,
    *,
    requests: Annotated[Sequence[str], Parameter(negative=())],
    settings: Settings = (),
    format: Literal["text", "markdown", "json"] = "text",
    only: str = "*",
    processes: Annotated[int | None, Parameter(show_default=False)] = None,
) -> int:
    """Take away each fact of a contract, and see what its service does without it.

    Each entry and each item of the contract is taken out, then replaced by `not shown`, then by `none`. Whatever is
    left is compiled and asked the same requests, in process, with the same rows, time, identifiers and tokens. What may
    come of it follows from the kind of the fact: docs/honesty.md says how. What nobody states must not be done.

    Exit status: 0 if the law holds, 1 if it is broken, if a fact changes nothing in any request and the requests do
    not say why, or if the contract has errors, 2 if a file cannot be used.

        ninefold ablate contract.md --requests requests.http
        ninefold ablate contract.md --requests requests.http --format markdown > HONESTY.md
        ninefold ablate contract.md --requests requests.http --only "5 permissions*"

    Parameters
    ----------
    requests
        A file of requests, or a directory of `.http` files; may come several times. They are told in order.
    format
        `markdown` is the table with lists below it.
    only
        A pattern of facts, as they are printed: `7 codes > busy*`.
    processes
        How many facts are looked at at the same time; as many as there are processors, unless it is said.
    """
    data = read_bytes(file)
    loaded = compiled(file, data)
    if loaded.plan is None:
        show(loaded.diagnostics, loaded.source, sys.stderr)
        return 1
    if not any(fnmatchcase(fact.address, only) for fact in written(loaded.document)):
        raise Unusable(f"no fact of the contract is called `{only}`", "facts are called as the command prints them")
    operator = operator_values([value.name for value in loaded.plan.operator], settings, None, os.environ)
    files = request_files(requests)
    work = Work(file, data, files, operator, only)
    try:
        asked = len(work.whole().asked)
        found = found_by(work, processes or os.cpu_count() or 1)
    except Unreadable as error:
        first, *rest = str(error).split("\n")
        raise Unusable(first, details=rest) from None
    said: tuple[Excuse, ...] = tuple(excuse for _, text in files for excuse in excuses(text))
    told = report(loaded.source, asked, found, said if only == "*" else ())
    _say(told, format)
    return 0 if told.holds else 1


def _say(told: Report, format: Literal["text", "markdown", "json"]) -> None:
    match format:
        case "text":
            say_visibly(to_text(told))
        case "markdown":
            say(to_markdown(told))
        case "json":
            say_json(to_json(told))
        case _:
            assert_never(format)
