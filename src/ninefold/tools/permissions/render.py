"""The matrix as text, as Markdown and as JSON. One fact a line, and nothing that depends on the width of another, so
that a change of the contract is as small a change here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ninefold.language.authentication import ANYONE
from ninefold.tools.permissions.matrix import Cell, Line, Matrix, Rows, Seen, Verdict

UNSEEN = "a row that the caller may not see is"
BLOCKED = "answers 501 to everyone"


def to_text(matrix: Matrix, lines: bool = True) -> str:
    """`lines`: with the line of each fact."""
    told = [matrix.title, ""]
    told += [f"{each.name}: whom the scheme knows{_at(each.line, lines)}" for each in matrix.schemes]
    told += ["anyone: a caller without a credential; where no scheme is admitted, no credential is read"]
    told += [f"{UNSEEN} {matrix.unseen.text}{_at(matrix.unseen.line, lines)}"] if matrix.unseen else []
    for each in matrix.lines:
        told += ["", f"{each.endpoint}: {each.does or 'not shown'}{_at(each.line, lines)}"]
        told += [f"  {text}" for text in _of_endpoint(each, lines)]
        for cell in each.cells:
            told.append(f"  {_verdict(cell, lines)}")
            told += [f"    {text}" for text in _of_cell(cell, each, lines)]
    return "\n".join(told) + "\n"


def _of_endpoint(line: Line, lines: bool) -> Iterator[str]:
    if line.blocked:
        yield BLOCKED
    for guard in line.guards:
        yield f"only where `{guard.text}`{_at(guard.line, lines)}"
    if line.becomes is not None:
        yield f"the {line.resource} becomes {line.becomes}"


def _verdict(cell: Cell, lines: bool) -> str:
    where = "" if cell.condition is None else f" where `{cell.condition}`"
    return f"{cell.who}: {cell.verdict.value}{where}{_at(cell.line, lines)}"


def _of_cell(cell: Cell, line: Line, lines: bool) -> Iterator[str]:
    for rows in cell.rows:
        yield f"{rows.resource}: {_seen(rows)}{_at(rows.line, lines)}"
    if cell.states is not None:
        yield f"while the {line.resource} is " + (_either(cell.states) or "in no state: never")


def _seen(rows: Rows) -> str:
    return f"{rows.seen.value} `{rows.condition}`" if rows.seen is Seen.WHERE else rows.seen.value


def _either(states: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(states[:-1]), *states[-1:])))


def _at(line: int | None, lines: bool) -> str:
    return f" (line {line})" if lines and line is not None else ""


# ── Markdown ──────────────────────────────────────────────────────────────────────────────────────────────────


def to_markdown(matrix: Matrix, lines: bool = True) -> str:
    """Three tables: who may call, which rows they see, and what may be done in which state."""
    whos = [*(each.name for each in matrix.schemes), ANYONE]
    told = [f"# Permissions: {matrix.title}", "", "## Who may call", ""]
    told += _table(["endpoint", "does", *whos, "where"], [_who_may(each, lines) for each in matrix.lines])
    told += ["", "## Which rows they see", ""]
    told += [f"{UNSEEN[0].upper()}{UNSEEN[1:]} {matrix.unseen.text}.", ""] if matrix.unseen else []
    told += _table(["resource", *whos], list(_rows(matrix, whos, lines)))
    for resource, states in matrix.states:
        acting = [each for each in matrix.lines if each.resource == resource and any(c.states for c in each.cells)]
        if acting:
            told += ["", f"## What may be done while the {resource} is …", ""]
            told += _table(["endpoint", *states, "it becomes"], [_states(each, states) for each in acting])
    return "\n".join(told) + "\n"


def _who_may(line: Line, lines: bool) -> list[str]:
    conditions = [BLOCKED] * line.blocked + [f"`{each.text}`{_at(each.line, lines)}" for each in line.guards]
    cells = (_call(cell, lines) for cell in line.cells)
    return [f"`{line.endpoint}`{_at(line.line, lines)}", line.does, *cells, "; ".join(conditions)]


def _call(cell: Cell, lines: bool) -> str:
    where = "" if cell.condition is None else f" where `{cell.condition}`"
    word = f"**{cell.verdict.value}**" if cell.verdict in _IN else cell.verdict.value
    return f"{word}{where}{_at(cell.line, lines)}"


_IN = (Verdict.ADMITTED, Verdict.AS_ANYONE)


def _rows(matrix: Matrix, whos: list[str], lines: bool) -> Iterator[list[str]]:
    """Each resource that somebody reaches; of a caller who reaches none of its rows, nothing."""
    found: dict[str, dict[str, Rows]] = {}
    for each in matrix.lines:
        for cell in each.cells:
            for rows in cell.rows:
                if cell.verdict is Verdict.ADMITTED:
                    found.setdefault(rows.resource, {}).setdefault(cell.who, rows)
    for resource in sorted(found):
        seen = found[resource]
        yield [f"`{resource}`", *(_seen(seen[who]) + _at(seen[who].line, lines) if who in seen else "" for who in whos)]


def _states(line: Line, states: tuple[str, ...]) -> list[str]:
    """In each state, who may."""
    return [
        f"`{line.endpoint}`",
        *(", ".join(cell.who for cell in line.cells if cell.states and state in cell.states) for state in states),
        line.becomes or "",
    ]


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    """A table of GitHub's Markdown, in which a `|` would end its cell."""
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────────────────


def to_json(matrix: Matrix, lines: bool = True) -> dict[str, Any]:
    unseen = matrix.unseen
    return {
        "title": matrix.title,
        "callers": [{"scheme": each.name, **_line(each.line, lines)} for each in matrix.schemes] + [{"anyone": True}],
        **({} if unseen is None else {"unseen rows": {"is": unseen.text, **_line(unseen.line, lines)}}),
        "endpoints": [_endpoint(each, lines) for each in matrix.lines],
    }


def _endpoint(line: Line, lines: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"endpoint": line.endpoint, "does": line.does, **_line(line.line, lines)}
    if line.blocked:
        found["blocked"] = True
    if line.guards:
        found["when"] = [{"condition": each.text, **_line(each.line, lines)} for each in line.guards]
    if line.becomes is not None:
        found["becomes"] = line.becomes
    found["callers"] = [_cell(cell, lines) for cell in line.cells]
    return found


def _cell(cell: Cell, lines: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"who": cell.who, "verdict": cell.verdict.value}
    if cell.condition is not None:
        found["when"] = cell.condition
    found |= _line(cell.line, lines)
    if cell.rows:
        found["rows"] = [
            {"resource": rows.resource, "seen": rows.seen.value}
            | ({} if rows.condition is None else {"condition": rows.condition})
            | _line(rows.line, lines)
            for rows in cell.rows
        ]
    if cell.states is not None:
        found["states"] = list(cell.states)
    return found


def _line(line: int | None, lines: bool) -> dict[str, int]:
    return {"line": line} if lines and line is not None else {}
