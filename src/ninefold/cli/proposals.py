"""A document that a command changes: what it would become is shown as a diff, or written."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from ninefold.cli.commands import File, Parameter, option
from ninefold.cli.document import compiled, errors_of
from ninefold.cli.files import read_bytes
from ninefold.cli.terminal import Unusable, reason, remark, say
from ninefold.diagnostics.pages import CHEAT_SHEET, text_of
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.pipeline import Loaded, compile_document
from ninefold.syntax.edits import edited, unified_diff
from ninefold.syntax.parser import BYTE_ORDER_MARK
from ninefold.tools.blank import blank
from ninefold.tools.propose import propose as proposals
from ninefold.tools.propose.accept import Candidate, acceptance, candidates, lines_of

Write: TypeAlias = Annotated[
    bool,
    option(help="Change the file itself; of `-`, print the document. Without it a unified diff is printed."),
]


def rewrite(file: str, data: bytes, before: str, after: str, write: bool) -> None:
    """Show or write what a document becomes. `data` is what was read of it, `before` its text. Raises Unusable where
    the file cannot be written, or is not any more what was read."""
    mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
    if not write:
        sys.stdout.flush()
        sys.stdout.buffer.write(unified_diff(file, before, after).encode())
    elif file == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(mark + after.encode())
    elif after != before:
        if read_bytes(file) != data:
            raise Unusable(f"{file} has been changed meanwhile, and is left as it is", "run the command again")
        _replace(Path(file).resolve(), mark + after.encode())
        say(f"{file} is written")


_NOT_YET: Final = "nothing is written: this is what `--write` would make of it"


def _replace(path: Path, data: bytes) -> None:
    """Put a file in the place of another: whoever reads it meanwhile sees the one or the other, never half of it."""
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as opened:
            temporary = opened.name
            opened.write(data)
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise Unusable(f"{path.name} cannot be written: {reason(error)}") from None


def new(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)] = "contract.md",
    /,
    *,
    title: str = "Service Specification",
    proposed: Annotated[bool, option()] = False,
    cheat_sheet: Annotated[bool, option()] = False,
) -> int:
    """Write a blank contract.

    Nine parts, in which nothing is shown, each with a comment on what to write there. A file that is there is never
    overwritten.

        ninefold new
        ninefold new orders.md --title "Orders"
        ninefold new orders.md --proposed
        ninefold new - | less
        ninefold new --cheat-sheet

    Parameters
    ----------
    file
        Where to write it; `-` prints it.
    title
        What the contract is called in its first line.
    proposed
        With what conventions say already, marked as proposed: `ninefold propose` adds more as the contract grows.
    cheat_sheet
        Print the language on one screen instead: a contract that says a little of everything.
    """
    if cheat_sheet:
        sys.stdout.write(text_of(CHEAT_SHEET))
        return 0
    text = blank(title) if file == "-" else blank(title, file)
    if proposed:
        text = proposals.propose(compile_document("contract.md", text.encode(), accept_proposals=True)).text
    if file == "-":
        sys.stdout.write(text)
        return 0
    path = Path(file)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
    except FileExistsError:
        raise Unusable(f"{file} is there already, and is not overwritten", "name another file, or - to print") from None
    except (OSError, ValueError) as error:
        raise Unusable(f"{file} cannot be written: {reason(error)}") from None
    say(f"{file}: nine parts, none of them shown yet. See what is asked with: ninefold gaps {file}")
    return 0


def propose(file: File, /, *, write: Write = False) -> int:
    """Put into a contract what conventions say to its open questions.

    Each proposal is marked as one (`!proposed`, or a block fenced `yaml proposed`) and names its source in a comment.
    It is no fact: `ninefold accept` makes it one, and `ninefold serve --accept-proposals` tries it. What no convention
    knows stays open: what the service is, who may call, which rows callers see. Nothing else in the document is
    touched, not a byte, and proposing twice adds nothing.

    Prints a unified diff, which `patch` takes, unless told to write.

    Exit status: 0, or 1 if the contract has errors, 2 if the file cannot be read or written.

        ninefold propose contract.md
        ninefold propose contract.md --write
        ninefold serve contract.md --accept-proposals
    """
    data = read_bytes(file)
    loaded = compiled(file, data, accept_proposals=True)
    if errors_of(loaded):
        return 1
    outcome = proposals.propose(loaded)
    rewrite(file, data, loaded.source.text, outcome.text, write)
    for answer in outcome.answers:
        remark(visible(f"proposed: {answer.in_words}"))
    for question in outcome.open:
        remark(visible(f"left open: part {question.question.part}: {question.text}"))
    if not outcome.answers:
        remark("nothing is proposed: no open question has a convention")
    elif not write:
        remark(_NOT_YET)
    return 0


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
        What a proposal is called: its keys (`note.fields.id.on create`, `error shape`), what its question is about
        (`GET /notes`), or a line that it stands on.
    """
    data = read_bytes(file)
    loaded = compiled(file, data)
    if errors_of(loaded):
        return 1
    proposed = candidates(loaded.document, loaded.open_questions)
    chosen = [each.written for each in _chosen(loaded, proposed, questions)]
    text = edited(loaded.source.text, acceptance(loaded.document, chosen))
    if errors_of(compiled(file, text.encode())):
        remark("these are errors once the proposals are facts; nothing is changed")
        return 1
    rewrite(file, data, loaded.source.text, text, write)
    for each in chosen:
        line, _ = lines_of(loaded.document, each)
        remark(visible(f"{'accepted' if write else 'proposed'}: {each.path} (line {line})"))
    if not chosen:
        remark("nothing is proposed")
    elif not write:
        remark(_NOT_YET)
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
