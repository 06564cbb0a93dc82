"""`ninefold fix FILE`"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Annotated, TypeAlias

from ninefold.cli.commands import File, option
from ninefold.cli.files import read_bytes
from ninefold.cli.proposals import rewrite
from ninefold.cli.terminal import Unusable, remark, show
from ninefold.diagnostics.codes import UNKNOWN_KEY
from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.source import Source
from ninefold.pipeline import compile_document
from ninefold.syntax.parser import form_of, parse, read
from ninefold.tools.fix.fix import fixed
from ninefold.tools.fix.rewriting import Left

Diff: TypeAlias = Annotated[
    bool,
    option(help="Print a unified diff, which `patch` takes, and change nothing."),
]


def fix(file: File, /, *, diff: Diff = False) -> int:
    """Rewrite a contract in the words of today.

    A contract that was written for an older version of ninefold says the same afterwards, in the words that this one
    reads. Comments, order and layout stay; what has today's words already is left as it is, so that doing it twice
    changes nothing. What cannot be said by rewriting stays as it is written, and is named with its line, to be done by
    hand; lines that mean something else than they did, though their words are the same, are named as well.

    The file itself is changed; of `-`, the document is printed. What cannot be read as a contract is refused.

    Exit status: 0 if nothing is left to be done by hand, 1 if something is, 2 if the file cannot be read or written.

        ninefold fix orders.md
        ninefold fix orders.md --diff | less
    """
    data = read_bytes(file)
    source = read(file, data)
    document = parse(source.value, form_of(file, source.value.text))
    told = (*source.diagnostics, *document.diagnostics)
    if has_errors(told):
        show(told, source.value, sys.stderr)
        raise Unusable(f"{file} cannot be read as a contract, and is left as it is")
    result = fixed(document.value)
    assert not has_errors(parse(Source(file, result.text), form_of(file, source.value.text)).diagnostics), (
        "not to be read"
    )
    rewrite(file, data, source.value.text, result.text, write=not diff)
    shown = source.value if diff else Source(file, result.text)
    _tell(shown, "means something else now", result.changed, (lambda at: at) if diff else result.moved)
    _tell(shown, "by hand", result.left, (lambda at: at) if diff else result.moved)
    after = Source(file, result.text)
    over = _over(after, {after.place(result.moved(each.span.start)).line for each in result.left})
    _tell(after, "by hand", over, lambda at: at)
    if result.text == source.value.text and not result.left and not over:
        remark(visible(f"{file} has the words of today"))
    return 1 if result.left or over else 0


def _over(after: Source, told: set[int]) -> tuple[Left, ...]:
    """The keys of the first words that stand in what was rewritten all the same: they are written in a way that they
    never had. `told`: lines of which something is said already."""
    unknown = (
        each for each in compile_document(after.name, after.text.encode()).diagnostics if each.code is UNKNOWN_KEY
    )
    found = ((each.span, next((help for help in each.help if " is now " in help), None)) for each in unknown)
    return tuple(Left(at, help) for at, help in found if help and after.place(at.start).line not in told)


def _tell(shown: Source, what: str, lines: Iterable[Left], moved: Callable[[int], int]) -> None:
    for each in lines:
        line = shown.place(moved(each.span.start)).line
        remark(visible(f"{shown.name}:{line}: {what}: {each.message}"))
