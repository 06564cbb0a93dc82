"""Numbers of the source that may only get better: how they are measured, and the files that keep them."""

from __future__ import annotations

import ast
import gc
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path

import grimp

from ninefold.language.conditions import CONDITIONS
from ninefold.language.meanings import meanings
from ninefold.language.table import counted, shapes, told_verbs
from ninefold.language.verbs import KINDS, TRANSITION

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "ninefold"
WRITTEN = Path(__file__).with_name("ratchets")
"""One file a ratchet, of lines `NUMBER NAME`; `NINEFOLD_BLESS=1` lowers what has become lower, and raises nothing."""

FILE_LINES = 400
FUNCTION_LINES = 60

VERBS = frozenset(KINDS) | frozenset(
    (
        *("create", "read", "list", "update", "replace", "delete", "ensure", "remove", "sign in", "grant token"),
        *("sign out", "compute", "put", "stream event", "stream", "call", "transition"),
    )
)
"""The verbs of the table, and those that this law knows, whatever the source makes of them."""

NAMES_OF_VERBS = frozenset({"GRANT", "TRANSITION"})
TABLE = "ninefold/language/verbs.py"
"""Where the sets of verbs are: columns of one table."""


def exceeded(ratchet: str, measured: Mapping[str, int], limit: int = 0) -> list[str]:
    """What is worse than written, and than the limit that holds for what is not written. What has become better is
    told, and written where it is blessed."""
    path = WRITTEN / f"{ratchet}.txt"
    lines = (line.split(" ", 1) for line in path.read_text(encoding="utf-8").splitlines())
    written = {name: int(number) for number, name in lines}
    better = {name: measured.get(name, 0) for name, number in written.items() if measured.get(name, 0) < number}
    if better and os.environ.get("NINEFOLD_BLESS"):
        kept = {name: better.get(name, number) for name, number in written.items()}
        text = "".join(f"{number} {name}\n" for name, number in kept.items() if number > limit)
        path.write_text(text, encoding="utf-8", newline="\n")
    for name, number in better.items():
        print(f"ratchets/{ratchet}.txt can be lowered: {name}, {written[name]} → {number}")
    return [
        f"{name}: {number}, at most {written.get(name, limit)}"
        for name, number in measured.items()
        if number > written.get(name, limit)
    ]


@cache
def _sources() -> dict[str, str]:
    """Every file under `src`, by its path there."""
    files = (path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    found = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(files)}
    return {name: text for name, text in found.items() if ".dist-info/" not in name and ".egg-info/" not in name}


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax of every module under `src`, by its path there: two million objects. Python need not look through them
    for garbage, which takes three times as long as to make them, and two seconds whenever it looks again."""
    gc.disable()
    try:
        return {name: ast.parse(text, filename=name) for name, text in _sources().items() if name.endswith(".py")}
    finally:
        gc.enable()
        gc.freeze()


def lines_of_files() -> dict[str, int]:
    return {name: text.count("\n") for name, text in _sources().items()}


def lines_of_modules() -> dict[str, int]:
    return {name: lines for name, lines in lines_of_files().items() if name.endswith(".py")}


def lines_of_functions() -> dict[str, int]:
    """By `file: function`, those of a class behind its name; signature and docstring count."""
    return {f"{file}: {name}": lines for file, tree in trees().items() for name, lines in _functions(tree, "")}


def _functions(node: ast.AST, within: str) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield within + name, (child.end_lineno or child.lineno) - child.lineno + 1
                yield from _functions(child, f"{within}{name}.")
            case ast.ClassDef(name=name):
                yield from _functions(child, f"{within}{name}.")
            case _:
                yield from _functions(child, within)


def sets_of_verbs() -> dict[str, int]:
    """How many sets of verbs each file keeps by hand: displays, `Literal[…]` and patterns that name two or more."""
    counted = {file: sum(map(_names_verbs, ast.walk(tree))) for file, tree in trees().items() if file != TABLE}
    return {file: count for file, count in counted.items() if count}


def _names_verbs(node: ast.AST) -> bool:
    match node:
        case ast.Set(elts=elements) | ast.Tuple(elts=elements) | ast.List(elts=elements):
            named: list[ast.expr | None] = [*elements]
        case ast.Dict(keys=keys):
            named = keys
        case ast.MatchOr(patterns=patterns):
            named = [each.value for each in patterns if isinstance(each, ast.MatchValue)]
        case _:
            return False
    return len({name for each in named if (name := _verb(each)) is not None}) > 1


def _verb(node: ast.expr | None) -> str | None:
    match node:
        case ast.Constant(value=str(value)) if value in VERBS:
            return value
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in NAMES_OF_VERBS:
            return name
        case _:
            return None


def names_of_verbs() -> dict[str, int]:
    """How often a verb is asked for by its name, by `file: what is compared`."""
    named = (f"[\"']{name} ?[\"']" for name in (*KINDS, TRANSITION.name))
    words = re.compile("|".join((*named, *NAMES_OF_VERBS)))
    told = [file for file, text in _sources().items() if file != TABLE and file in trees() and words.search(text)]
    return dict(Counter(f"{file}: {asked}" for file in told for asked in asks(trees()[file])))


def asks(tree: ast.Module) -> Iterator[str]:
    """What is compared with the name of a verb, or with what holds one: by an operator, by a pattern, as a text that
    starts so, or by a mapping that has such names for keys, and nothing else."""
    constants = NAMES_OF_VERBS.union(*map(_constants_of_verbs, tree.body))
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from _asked((left, *others), constants)
            case ast.BinOp(left=ast.Set() as left, right=right) | ast.BinOp(left=left, right=ast.Set() as right):
                yield from _asked((left, right), constants)
            case ast.Call(func=ast.Attribute(value=value, attr="startswith"), args=[prefix]):
                yield from _asked((value, prefix), constants)
            case ast.Match(subject=subject, cases=cases):
                within = (pattern for case in cases for pattern in ast.walk(case.pattern))
                named = [each.value for each in within if isinstance(each, ast.MatchValue)]
                yield from (ast.unparse(subject) for each in named if _is_named(each, constants))
            case ast.Dict(keys=keys) if keys and all(_is_named(key, constants) for key in keys):
                yield ast.unparse(node)
            case _:
                pass


def _asked(sides: Sequence[ast.expr], constants: Set[str]) -> Iterator[str]:
    """The sides that name no verb, where one does."""
    unnamed = [side for side in sides if not any(_is_named(part, constants) for part in _parts(side))]
    if len(unnamed) < len(sides):
        yield ", ".join(map(ast.unparse, unnamed))


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """What a display holds, or what is chosen of; else the expression itself."""
    match node:
        case ast.Tuple(elts=held) | ast.Set(elts=held) | ast.List(elts=held):
            yield from (part for each in held for part in _parts(each))
        case ast.IfExp(body=one, orelse=other):
            yield from (*_parts(one), *_parts(other))
        case _:
            yield node


def _is_named(node: ast.expr | None, constants: Set[str]) -> bool:
    match node:
        case ast.Constant(value=str(value)):
            return value.rstrip() in (*KINDS, TRANSITION.name)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in constants
        case _:
            return False


def _constants_of_verbs(node: ast.stmt) -> Iterator[str]:
    match node:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ):
            if all(_is_named(part, NAMES_OF_VERBS) for part in _parts(value)):
                yield name
        case _:
            pass


def in_all() -> dict[str, int]:
    """The size of the house: lines and files under `src`, and pairs of packages of which one imports the other."""
    return {"lines": sum(lines_of_files().values()), "files": len(_sources()), "edges": len(edges())}


def edges() -> frozenset[tuple[str, str]]:
    """From which package, or module beside the packages, to which there is an import."""
    graph = grimp.build_graph("ninefold", cache_dir=None)
    pairs = (
        (_room(importer), _room(imported))
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
    )
    return frozenset((one, other) for one, other in pairs if one != other and "ninefold" not in (one, other))


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def of_language() -> dict[str, int]:
    """What there is to know of the language: keys, those of shapes counted once, conditions, verbs, global meanings."""
    keys = sum(len(counted(part)) for part in range(2, 10)) + sum(map(len, shapes().values()))
    everywhere = sum(each.is_global for each in meanings().values())
    return {
        "keys": keys,
        "conditions": len(CONDITIONS),
        "verbs": len(list(told_verbs())),
        "global meanings": everywhere,
    }
