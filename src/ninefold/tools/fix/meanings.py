"""Lines whose words stay and mean something else in the second language: which rows they read, and what counts first.

Row rules narrowed whatever was worked out for a caller; now they narrow what is shown or steered by a request, and
nothing that is computed (a field has one value, whoever asks). `where` of a list read all rows, and reads those now
that its caller may see. `precedence` no longer takes along what stands behind a condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from ninefold.language.successors import scalars_of
from ninefold.syntax.nodes import Document, Entry, Mapping, Scalar
from ninefold.tools.fix.rewriting import Left, entries_of

_COMPUTED: Final = "it reads all rows now, also those of {} that its caller may not see"
_WHERE: Final = "it reads only such rows of {} as its caller may see"
_PRECEDENCE: Final = (
    "what it does not list stays in its place: the order is the closed list's, changed no more than these lines demand"
)


_UNFIT: Final = "each check names its own code; a value that cannot be made is refused with a bare 409"
_RULE: Final = "`rule` of a field whose row is not there is `references`, and was `refers to`"
_POINTER: Final = "`pointer` of one of several values that a parameter gives is its place (`/ids/0`), and was `/ids`"
_UNTAGGED: Final = (
    "`If-Match` and `If-None-Match` are judged now where no entity tags are stated, too: here{}; nobody looked at them"
)
_IN_PATH: Final = "it counts where `not found` does, and `error.fields` does not tell of such a text"
_WHOLE: Final = r"|\berror\.fields\b(?!\s*\.)"
_TELLS: Final = {
    _RULE: re.compile(r"\w\.rule\b" + _WHOLE),
    _POINTER: re.compile(r"\w\.pointer\b" + _WHOLE),
}
"""What is told of a field otherwise, and what tells it."""


def otherwise_meant(document: Document) -> Iterator[Left]:
    resources = document.part("resources").facts
    reads = _narrowed(resources, document.part("authentication").facts)
    for resource in resources.entries:
        fields = resource.value.get("fields") if isinstance(resource.value, Mapping) else None
        for field in entries_of(fields):
            yield from _of(field.value, "computed", reads, _COMPUTED)
    for endpoint in document.part("endpoints").facts.entries:
        yield from _of(endpoint.value, "where", reads, _WHERE)
        filters = endpoint.value.get("filters") if isinstance(endpoint.value, Mapping) else None
        yield from chain.from_iterable(_in(each, reads, _WHERE) for each in entries_of(filters))
        path = endpoint.value.get("path") if isinstance(endpoint.value, Mapping) else None
        codes = (each.value.get("otherwise") for each in entries_of(path) if isinstance(each.value, Mapping))
        yield from (Left(each.span, _IN_PATH) for each in codes if each is not None)
    yield from _untagged(document.part("endpoints").facts.entries)
    if (precedence := document.part("errors").facts.get("precedence")) is not None:
        yield Left(precedence.span, _PRECEDENCE)
    for code in entries_of(document.part("errors").facts.get("codes")):
        when = code.value.get("when") if isinstance(code.value, Mapping) else None
        if when is not None and any(each.text.partition(" ")[0] == "invariant" for each in scalars_of(when.value)):
            yield Left(when.span, _UNFIT)
    errors, stated = document.part("errors").facts, document.part("endpoints").facts.entries
    own = (each.value.get("error shape") for each in stated if isinstance(each.value, Mapping))
    for shape in filter(None, (errors.get("shape"), errors.get("error shape"), *own)):
        for node in scalars_of(shape.value):
            for message, tells in _TELLS.items():
                if tells.search(node.text) and (message != _POINTER or _gives_several(document)):
                    yield Left(node.span, message)


def _untagged(stated: Sequence[Entry]) -> Iterator[Left]:
    """One line for all endpoints without entity tags: the first of them."""
    of = [each for each in stated if isinstance(each.value, Mapping) and each.value.get("does") is not None]
    without = [each for each in of if isinstance(each.value, Mapping) and each.value.get("validators") is None]
    if without:
        others = f", and at {len(without) - 1} more" if len(without) > 1 else ""
        yield Left(without[0].key.span, _UNTAGGED.format(others))


def _gives_several(document: Document) -> bool:
    """Whether a query parameter of some endpoint gives several values, which is said by how they are written."""
    stated = (each.value for each in document.part("endpoints").facts.entries if isinstance(each.value, Mapping))
    narrowing = ((each.get("projection"), each.get("expand"), *entries_of(each.get("filters"))) for each in stated)
    return any(
        isinstance(each.value, Mapping) and each.value.get("written") is not None
        for each in chain.from_iterable(narrowing)
        if each is not None
    )


def _of(holder: object, key: str, reads: dict[str, re.Pattern[str]], message: str) -> Iterator[Left]:
    entry = holder.get(key) if isinstance(holder, Mapping) else None
    if entry is not None:
        yield from _in(entry, reads, message)


def _in(entry: Entry, reads: dict[str, re.Pattern[str]], message: str) -> Iterator[Left]:
    found = [resource for resource, read in reads.items() if _reads(entry, read)]
    if found:
        yield Left(entry.span, message.format(" and ".join(f"`{each}`" for each in found)))


def _reads(entry: Entry, read: re.Pattern[str]) -> bool:
    return any(read.search(each.text) for each in scalars_of(entry.value))


def _narrowed(resources: Mapping, authentication: Mapping) -> dict[str, re.Pattern[str]]:
    """The resources of which not everybody sees all rows, each with what an expression says that reads them: `all(R)`,
    what refers back from them, or a member behind a reference to them."""
    names = {
        entry.name: [rf"\ball\(\s*{re.escape(entry.name)}\s*\)"] for entry in entries_of(authentication.get("rows"))
    }
    for rule in entries_of(authentication.get("rows")):
        if isinstance(rule.value, Scalar) and rule.value.text in ("any", "all"):
            del names[rule.name]
    for resource in resources.entries:
        fields = resource.value.get("fields") if isinstance(resource.value, Mapping) else None
        for field in entries_of(fields):
            if not isinstance(field.value, Mapping):
                continue
            back, to = (field.value.get(key) for key in ("back", "refers to"))
            if resource.name in names and back is not None and isinstance(back.value, Scalar):
                names[resource.name].append(rf"\.{re.escape(back.value.text)}\b")
            if to is not None and isinstance(to.value, Scalar) and to.value.text in names:
                names[to.value.text].append(rf"\.{re.escape(field.name)}\.\w")
    found = {resource: re.compile("|".join(patterns)) for resource, patterns in names.items()}
    terms = tuple(entries_of(resources.get("terms")))
    return {resource: _by_terms(read, terms) for resource, read in found.items()}


def _by_terms(read: re.Pattern[str], terms: Sequence[Entry]) -> re.Pattern[str]:
    """What reads the rows, by the names of terms too: one that uses such a term is such a term."""
    known = set[str]()
    while found := [each.name for each in terms if each.name not in known and _reads(each, read)]:
        known |= set(found)
        read = re.compile("|".join((read.pattern, *(rf"(?<![\w.]){re.escape(name)}\b" for name in found))))
    return read
