"""`ninefold accept FILE [QUESTION…]`"""

from __future__ import annotations

import sys

from ninefold.cli.contract_file import compiled, read_bytes
from ninefold.cli.parameter import File
from ninefold.cli.rewriting import Write, rewrite
from ninefold.cli.terminal import Unusable, remark, show
from ninefold.diagnostics.diagnostic import Severity, has_errors
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.pipeline import Loaded
from ninefold.tools.propose.accept import Candidate, acceptance, candidates, lines_of
from ninefold.tools.propose.edits import edited


def accept(file: File, /, *questions: str, write: Write = False) -> int:
    """Turn proposals into facts: all of them, or those that are named.

    The tag `!proposed`, or the word `proposed` of a block, goes; the source in the comment stays. Where a sentence
    says that the part is not shown, it says then that it is shown. Nothing else in the document is touched.

    Prints a unified diff, which `patch` takes, unless told to write.

    Exit status: 0, or 1 if the contract has errors, or would have them, 2 if nothing is proposed under such a name, or
    the file cannot be read or written.

        ninefold accept contract.md --write
        ninefold accept contract.md shape pages
        ninefold accept contract.md "GET /notes" 31 --write

    Parameters
    ----------
    questions
        What a proposal is called: its keys (`note.fields.id.on create`, `shape`), what its question is about
        (`GET /notes`), or a line that it stands on.
    """
    data = read_bytes(file)
    loaded = compiled(file, data)
    if _has_errors(loaded):
        return 1
    proposed = candidates(loaded.document, loaded.open_questions)
    chosen = [each.written for each in _chosen(loaded, proposed, questions)]
    text = edited(loaded.source.text, acceptance(loaded.document, chosen))
    if _has_errors(compiled(file, text.encode())):
        remark("these are errors once the proposals are facts; nothing is changed")
        return 1
    rewrite(file, data, loaded.source.text, text, write)
    for each in chosen:
        line, _ = lines_of(loaded.document, each)
        remark(visible(f"accepted: {each.path} (line {line})"))
    if not chosen:
        remark("nothing is proposed")
    return 0


def _chosen(loaded: Loaded, proposed: tuple[Candidate, ...], names: tuple[str, ...]) -> list[Candidate]:
    """The proposals that are meant. Raises Unusable where a name means none."""
    for name in names:
        if not any(each.is_called(name, lines_of(loaded.document, each.written)) for each in proposed):
            known = tuple(dict.fromkeys(own for each in proposed for own in each.names()))
            details = [f"line {lines_of(loaded.document, e.written)[0]}: {e.written.path}" for e in proposed]
            raise Unusable(f"nothing is proposed under {name}", *did_you_mean(name, known), details=details)
    if not names:
        return list(proposed)
    return [
        each
        for each in proposed
        if any(each.is_called(name, lines_of(loaded.document, each.written)) for name in names)
    ]


def _has_errors(loaded: Loaded) -> bool:
    """Whether a contract has errors; they are shown."""
    show((found for found in loaded.diagnostics if found.code.severity is Severity.ERROR), loaded.source, sys.stderr)
    return has_errors(loaded.diagnostics)
