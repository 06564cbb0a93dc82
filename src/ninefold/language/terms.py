"""The terms of part 2: expressions with names of their own, and with parameters, if they have any."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import NOT_A_PARAMETER, SAME_NAME, TERM_OF_ITSELF, UNUSED_TERM
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Name, Problem, every, variables_of
from ninefold.expressions.forms import MACROS, OF_TEMPLATES
from ninefold.expressions.functions import overloads
from ninefold.expressions.parse import parse
from ninefold.expressions.terms import Meaning, spelled_out, terms_read
from ninefold.language import fact
from ninefold.language.expressions import ANY, expressions_in, unread
from ninefold.language.identifiers import RESOURCE_NAMES, declare
from ninefold.language.reading import Reading, Slot, Term
from ninefold.syntax.nodes import Entry, Part, Scalar, is_word
from ninefold.syntax.nodes import Mapping as MappingNode

_NAME: Final = regex.compile(r"([^()]*)\(([^()]*)\)")
"""A name with parameters: `sees(t)`."""

FUNCTIONS: Final = frozenset((*MACROS, *OF_TEMPLATES, "type"))


@dataclass(frozen=True, slots=True)
class Stated:
    """A term as it is written: its expression is not read where it is a gap, or is no expression."""

    name: str
    parameters: tuple[str, ...]
    key: Scalar
    value: Span
    ast: Ast | None
    written: Scalar | None

    @property
    def named(self) -> fact.Name:
        return fact.Name(self.name, self.key.span)


def terms(r: Reading, part: Part) -> None:
    """Reads the terms of part 2, from where on every expression knows them.

    A term means its expression wherever another reads its name, with what can be read *there*, and its parameters with
    what they are given. It may read any other, and none leads back to itself.
    """
    entry = part.facts.get("terms")
    if entry is None or (
        isinstance(entry.value, Scalar) and (entry.value.says("none") or entry.value.says("not shown"))
    ):
        return
    level = r.level(entry.value, 2, "terms", "terms")
    stated: dict[str, Stated] = {}
    taken = {each.name: each.key for each in part.facts.entries if each.name != "terms"}
    views = {view.name: view.key for each in part.facts.entries for view in _views(each)}
    for each in level.named:
        if is_word(each.value, "none"):
            continue
        proposed = each.proposed or each.value.proposed or entry.proposed or entry.value.proposed
        gap = (proposed and not r.accept) or is_word(each.value, "not shown")
        found = _stated(r, each, gap)
        others = {**taken, **(views if found.parameters else {}), **{name: one.key for name, one in stated.items()}}
        if found.name in others:
            kind = "resource" if found.name in taken else "view" if found.name not in stated else "term"
            labels = Label(each.key.span, "again"), Label(others[found.name].span, "first here")
            r.say(SAME_NAME, f"`{found.name}` is the name of a {kind} already", *labels)
            continue
        stated[found.name] = found
    for term in stated.values():
        _check_parameters(r, term, {*taken, *stated})
    _spell_out(r, stated)


def names_in(part: Part) -> tuple[str, ...]:
    """The names of the terms that part 2 states, whatever they mean."""
    terms = part.facts.get("terms")
    own = terms.value.entries if terms is not None and isinstance(terms.value, MappingNode) else ()
    return tuple(each.name.partition("(")[0].strip() for each in own)


def _views(entry: Entry) -> tuple[Entry, ...]:
    """The views of a resource, as they are written."""
    return entry.value.under("views") if isinstance(entry.value, MappingNode) else ()


def _stated(r: Reading, entry: Entry, gap: bool) -> Stated:
    key, parameters = entry.key, tuple[str, ...]()
    if (found := _NAME.fullmatch(key.text.strip())) is not None:
        key = replace(key, text=found[1].strip())
        parameters = tuple(each.strip() for each in found[2].split(","))
    taken = RESOURCE_NAMES | FUNCTIONS if parameters else RESOURCE_NAMES
    if parameters and any(each.style == "function" for each in overloads(key.text)):
        taken |= {key.text}
    declare(r, key, "a term", taken)
    ast: Ast | None = None
    written = entry.value if isinstance(entry.value, Scalar) else None
    if not gap:
        if written is None or not written.text.strip():
            unread(r, entry.value, Slot(entry.name, ANY))
        else:
            parsed = parse(written.text)
            if isinstance(parsed, Problem):
                unread(r, written, Slot(entry.name, ANY), parsed)
            else:
                ast = parsed
    return Stated(key.text, parameters, key, entry.value.span, ast, written)


def _check_parameters(r: Reading, term: Stated, taken: Collection[str]) -> None:
    """Says of each parameter why it cannot be one. A macro's variable is no parameter's name: a reader need not ask
    which of both is meant."""
    nodes = () if term.ast is None else tuple(every(term.ast))
    variables = {variable.name for node in nodes for variable in variables_of(node)}
    names = {node.name for node in nodes if isinstance(node, Name)}
    unread_ones: list[str] = []
    for number, each in enumerate(term.parameters):
        message = None
        if not each:
            message = f"a parameter of `{term.name}` has no name"
        elif each in term.parameters[:number]:
            message = f"`{each}` is a parameter of `{term.name}` twice"
        elif each in taken:
            message = f"`{each}` is already the name of something else"
        elif each in variables:
            message = f"`{each}` is already the variable of a macro in `{term.name}`"
        elif term.ast is not None and each not in names:
            unread_ones.append(f"`{each}`")
        else:
            declare(r, replace(term.key, text=each), "a parameter", RESOURCE_NAMES)
        if message is not None:
            r.say(NOT_A_PARAMETER, message, Label(term.key.span))
    if unread_ones:
        what = "parameter" if len(unread_ones) == 1 else "parameters"
        message = f"`{term.name}` does not read its {what} {', '.join(unread_ones)}"
        r.say(NOT_A_PARAMETER, message, Label(term.key.span))


def _spell_out(r: Reading, stated: Mapping[str, Stated]) -> None:
    """Every term with others spelled out, those first that others read; a term that leads back to itself is told
    once, and no expression reads it."""
    reads = {name: terms_read(each.ast, stated) if each.ast is not None else {} for name, each in stated.items()}
    done: set[str] = set()
    for start in stated:
        path = [start]
        ahead = [iter(reads[start])]
        while path:
            name = next((each for each in ahead[-1] if each not in done), None)
            if name is None:
                last = path.pop()
                ahead.pop()
                if last not in done:
                    _declare(r, stated[last], reads[last])
                    done.add(last)
            elif name in path:
                _say_circle(r, [stated[each] for each in path[path.index(name) :]], reads)
                for each in path[path.index(name) :]:
                    r.terms[each] = Term(stated[each].named, None, stated[each].value, frozenset(reads[each]))
                    done.add(each)
            else:
                path.append(name)
                ahead.append(iter(reads[name]))
    # In the order in which they are written, whatever reads what.
    found = dict(r.terms)
    r.terms.clear()
    r.terms.update((name, found[name]) for name in stated)


def _say_circle(r: Reading, circle: list[Stated], reads: Mapping[str, Mapping[str, Name]]) -> None:
    first, following = circle[0], circle[1 % len(circle)]
    assert first.written is not None
    at = reads[first.name][following.name]
    label = Label(first.written.part(at.start, at.end), "leads back to it")
    by = "" if len(circle) == 1 else f", by way of `{following.name}`"
    r.say(TERM_OF_ITSELF, f"the term `{first.name}` reads itself{by}", label)


def _declare(r: Reading, term: Stated, read: Mapping[str, Name]) -> None:
    meaning: Meaning | None = None
    if term.ast is not None and term.written is not None:
        hole = next((r.terms[name] for name in read if r.terms[name].meaning is None), None)
        if hole is None:
            meant = {name: found for name in read if (found := r.terms[name].meaning) is not None}
            whole = spelled_out(term.ast, meant)
            if isinstance(whole, Problem):
                unread(r, term.written, Slot(term.name, ANY), whole)
            else:
                meaning = Meaning(term.parameters, whole)
    r.terms[term.name] = Term(term.named, meaning, term.value, frozenset(read))


def unread_terms(r: Reading, facts: object) -> None:
    """Says of each term that neither an expression in these facts nor another term reads it."""
    read = {name for term in r.terms.values() for name in term.reads}
    read |= {term.text for each in expressions_in(facts) for term in each.terms}
    for name, term in r.terms.items():
        if name not in read:
            message = f"no expression reads the term `{name}`"
            r.say(UNUSED_TERM, message, Label(term.name.span, "means nothing where nobody reads it"))
