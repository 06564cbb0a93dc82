"""What a contract can become by one change: each mutator takes a tree and changes it in place.

They know the vocabulary of the language and the contracts of `tests/cases` and `examples`, and nothing else: keys go
missing, come twice, are renamed, move, and hold what others hold; expressions lose, gain and swap their words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Final, TypeAlias

from tests.mutations.trees import Items, Members, Place, Text, Tree, copied, places, size

from ninefold.language.table import vocabulary
from ninefold.language.verbs import VERBS

LARGEST_SPLICE: Final = 60
"""Values below a subtree that is put somewhere: more would grow without end."""

TOKEN: Final = re.compile(r"""[A-Za-z_$]\w*|\d[\w.]*|'[^']*'|"[^"]*"|[=!<>]=|&&|\|\||\S""")

KEYWORDS: Final = sorted({key.name for key in vocabulary() if not key.is_placeholder})

NAMES: Final = (
    *("caller", "request", "now", "page", "page.items", "this", "each", "value", "before", "issued", "error", "event"),
    *("stream", "subscription", "operator", "claims", "result", "all", "types", "terms", "anyone", "none"),
    *("all others", "not shown", "", " ", "a b", "a.b", "é", "💥", "null", "true", "1", "-1", "$", "$ref", "id"),
    *("select", "rowid", '"', "'", "`", "\n", "x" * 300, "__class__", "ninefold", "/", "{id}", "*", "~", "#/types/x"),
)  # fmt: skip

SCALARS: Final = (
    *("none", "not shown", "null", "true", "false", "0", "-1", "1", "1.5", "1e400", "9223372036854775808", "0x10"),
    *("PT0S", "PT30M", "P1Y", "P100000000D", "64 KiB", "0 B", "999999 TiB", "10/min", "10 a minute", "1 per PT1S"),
    *("2026-01-31", "2026-13-41T25:00:00Z", "application/json", "text/*", "https://example.org", "(", "[", "a|b"),
    *("GET /x", "POST /x/{y}", "HEAD /", "DELETE /{a}{b}", "GET /a/{b.c}", "PUT /x?y=1", "999", "200", "099"),
    *("create", "restrict", "cascade", "set null", "password", "token"),
    *("string", "integer", "object", "array", "number"),
)  # fmt: skip

KEYWORD_VALUES: Final = {
    "type": ("string", "integer", "number", "boolean", "object", "array", "null", "[string, 'null']"),
    "enum": ("[]", "[1, 'a', null]", "[{}]", "none"),
    "const": ("null", "[]", "1", "'x'"),
    "pattern": ("'('", "'^a+$'", "'(a+)+$'", r"'\\p{L}'", "''"),
    "format": ("date-time", "date", "uuid", "email", "nothing", "regex", "binary"),
    "minimum": ("10", "-1e308", "'a'"),
    "maximum": ("1", "9223372036854775808"),
    "maxLength": ("0", "-1", "1e3"),
    "minItems": ("5",),
    "maxItems": ("0",),
    "multipleOf": ("0", "0.1", "-3"),
    "items": ("{}", "{type: string}", "none", "{$ref: '#/types/x'}"),
    "properties": ("{}", "{a: {type: string}}", "[a]"),
    "required": ("[]", "[nope]", "true", "[a, a]"),
    "additionalProperties": ("false", "{type: integer}", "none"),
    "default": ("1", "null"),
    "oneOf": ("[]", "[{type: string}, {type: 'null'}]", "[{type: object}, {type: array}]"),
    "$ref": ("'#/types/x'", "'#'", "x", "'https://example.org/x'"),
}

WRAPPINGS: Final = (
    *("!({0})", "-({0})", "({0}) + ({0})", "({0}) == ({0})", "({0}) < ({0})", "({0}) in [({0})]", "[{0}]", "[{0}][0]"),
    *("{{'a': {0}}}", "{{'a': {0}}}.a", "({0}).size()", "size({0})", "has({0})", "string({0})", "int({0})"),
    *("({0}) ? ({0}) : ({0})", "true ? ({0}) : null", "({0}).map(x, x)", "({0}).exists(x, x == ({0}))"),
    *("({0}).filter(x, true)", "({0}).all(x, has(x.a))", "({0}).sum()", "({0}).sort()", "({0}).distinct()"),
    *("({0}).id", "({0})[0]", "({0})['a']", "({0}) && now > now", "({0}) || null", "type({0}) == list", "({0}).join()"),
    *("duration({0})", "timestamp({0})", "slug({0})", "({0}).substring(1)", "({0}).matches('a')", "({0}).split(',')"),
    *("[1, 2].map(x, {0})", "all({0})", "({0}).getHours()", "dyn({0})", "bool({0})", "double({0})", "({0}).reverse()"),
    *("({0}) in ({0})", "({0}).contains('a')", "!has({0})", "({0})({0})", "({0}).a.b.c", "before.({0})", "({0} "),
)  # fmt: skip


@dataclass(frozen=True)
class Stock:
    """What is put into contracts: all values of all contracts, by the key that holds them."""

    contracts: tuple[Members, ...]

    @cached_property
    def values(self) -> tuple[Place, ...]:
        return tuple(
            each for contract in self.contracts for each in places(contract) if size(each.value) < LARGEST_SPLICE
        )

    @cached_property
    def by_key(self) -> dict[str, tuple[Place, ...]]:
        found: dict[str, list[Place]] = {}
        for each in self.values:
            found.setdefault(each.names[-1], []).append(each)
        return {name: tuple(listed) for name, listed in found.items()}

    @cached_property
    def by_route(self) -> dict[tuple[str, int], tuple[Place, ...]]:
        """By the part and the depth: mostly what stands in the same role under another name."""
        found: dict[tuple[str, int], list[Place]] = {}
        for each in self.values:
            found.setdefault((each.names[0], len(each.names)), []).append(each)
        return {route: tuple(listed) for route, listed in found.items()}

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        texts = (each.value.text for each in self.values if isinstance(each.value, Text))
        return tuple(dict.fromkeys(text for text in texts if len(text) > 3 and not text.isalpha()))

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(token for text in self.expressions for token in TOKEN.findall(text)))


Mutator: TypeAlias = Callable[[Members, Random, Stock], None]


def _any(tree: Members, random: Random) -> Place:
    return random.choice(list(places(tree)))


def _entry(tree: Members, random: Random) -> tuple[Members, int]:
    """An entry of any mapping."""
    found = [(each.holder, each.index) for each in places(tree) if isinstance(each.holder, Members)]
    return random.choice(found)


def _text(tree: Members, random: Random) -> Text | None:
    found = [each.value for each in places(tree) if isinstance(each.value, Text)]
    return random.choice(found) if found else None


def _mapping(tree: Members, random: Random) -> Members:
    return random.choice([tree, *(each.value for each in places(tree) if isinstance(each.value, Members))])


def _names_of(tree: Members) -> list[str]:
    return list(dict.fromkeys(name for each in places(tree) for name in each.names))


def _small(random: Random, stock: Stock) -> Tree:
    return copied(random.choice(stock.values).value)


def delete(tree: Members, random: Random, _: Stock) -> None:
    place = _any(tree, random)
    match place.holder:
        case Members(entries):
            del entries[place.index]
        case Items(items):
            del items[place.index]


def duplicate(tree: Members, random: Random, _: Stock) -> None:
    place = _any(tree, random)
    match place.holder:
        case Members(entries):
            name = entries[place.index][0]
            new = name if random.random() < 0.2 else f"{name}{random.choice('2_x')}"
            entries.insert(random.randint(0, len(entries)), (new, copied(place.value)))
        case Items(items):
            items.insert(random.randint(0, len(items)), copied(place.value))


def rename(tree: Members, random: Random, _: Stock) -> None:
    """A key becomes another one: of the language, of this contract, or a hostile one."""
    holder, index = _entry(tree, random)
    new = random.choice((random.choice(KEYWORDS), random.choice(_names_of(tree)), random.choice(NAMES)))
    holder.entries[index] = (new, holder.entries[index][1])


def rename_everywhere(tree: Members, random: Random, _: Stock) -> None:
    """A name becomes another one wherever it is written, within expressions too."""
    old = random.choice([name for name in _names_of(tree) if name] or ["x"])
    new = random.choice((random.choice(NAMES), random.choice(_names_of(tree)), random.choice(KEYWORDS)))
    word = re.compile(rf"(?<![\w]){re.escape(old)}(?![\w])")
    for place in list(places(tree)):
        if isinstance(place.holder, Members):
            name, value = place.holder.entries[place.index]
            place.holder.entries[place.index] = (word.sub(lambda _: new, name), value)
        if isinstance(place.value, Text):
            place.value.text = word.sub(lambda _: new, place.value.text)[:20_000]


def swap(tree: Members, random: Random, _: Stock) -> None:
    one, other = _any(tree, random), _any(tree, random)
    first, second = copied(one.value), copied(other.value)
    if size(tree) + size(first) + size(second) < 3_000:
        one.put(second)
        other.put(first)


def swap_keys(tree: Members, random: Random, _: Stock) -> None:
    holder, index = _entry(tree, random)
    other = random.randrange(len(holder.entries))
    (one, first), (two, second) = holder.entries[index], holder.entries[other]
    holder.entries[index], holder.entries[other] = (two, first), (one, second)


def reorder(tree: Members, random: Random, _: Stock) -> None:
    match _any(tree, random).holder:
        case Members(entries):
            random.shuffle(entries)
        case Items(items):
            random.shuffle(items)


def retype(tree: Members, random: Random, stock: Stock) -> None:
    """A value of another form."""
    place = _any(tree, random)
    old = place.value
    new: Tree
    match random.randrange(9):
        case 0:
            new = Items([])
        case 1:
            new = Members([])
        case 2:
            new = Items([copied(old)])
        case 3:
            new = Members([(random.choice((*KEYWORDS, *NAMES)), copied(old))])
        case 4:
            new = Items([copied(old), copied(old)])
        case 5 if isinstance(old, Members | Items) and (inner := list(places(old))):
            new = copied(random.choice(inner).value)
        case 6 if isinstance(old, Members):
            new = Items([Text(name) for name, _ in old.entries])
        case 6 if isinstance(old, Items):
            new = Members([(each.text, Members([])) for each in old.items if isinstance(each, Text)])
        case 7:
            new = Text(random.choice((*SCALARS, *NAMES)), plain=False)
        case _:
            new = Text(random.choice(SCALARS), plain=True)
    new.proposed = old.proposed
    place.put(new)


def insert_key(tree: Members, random: Random, stock: Stock) -> None:
    """A key of the language, with what some contract holds under it, in any mapping."""
    holder = _mapping(tree, random)
    name = random.choice(KEYWORDS)
    held = stock.by_key.get(name)
    value = copied(random.choice(held).value) if held and random.random() < 0.8 else _small(random, stock)
    holder.entries.insert(random.randint(0, len(holder.entries)), (name, value))


def insert_beside(tree: Members, random: Random, stock: Stock) -> None:
    """An entry that some contract has in the same part at the same depth, whole."""
    place = _any(tree, random)
    found = stock.by_route.get((place.names[0], len(place.names)))
    if found and isinstance(place.holder, Members):
        chosen = random.choice(found)
        place.holder.entries.append((chosen.names[-1] or "x", copied(chosen.value)))


def splice(tree: Members, random: Random, stock: Stock) -> None:
    """A value becomes what another contract holds: under the same key, at the same depth of the part, or anywhere."""
    place = _any(tree, random)
    alike = stock.by_key.get(place.names[-1], ())
    near = stock.by_route.get((place.names[0], len(place.names)), ())
    found = random.choice([each for each in (alike, alike, near, stock.values) if each])
    place.put(copied(random.choice(found).value))


def splice_own(tree: Members, random: Random, _: Stock) -> None:
    """A value becomes another one of the same contract: under the same key, if there is one."""
    place = _any(tree, random)
    everywhere = [each for each in places(tree) if size(each.value) < LARGEST_SPLICE]
    alike = [each for each in everywhere if each.names[-1] == place.names[-1] and each.names[-1]]
    value = copied(random.choice(alike if len(alike) > 1 else everywhere).value)
    place.put(value)


def name_of_an_ancestor(tree: Members, random: Random, _: Stock) -> None:
    """A value becomes the name of what it stands in: what refers to itself."""
    place = _any(tree, random)
    name = random.choice([each for each in place.names if each] or ["x"])
    place.put(Text(random.choice((name, f"#/types/{name}", f"all({name})", f"{name}.{name}")), plain=True))


def propose(tree: Members, random: Random, _: Stock) -> None:
    value = _any(tree, random).value
    value.proposed = not value.proposed


def number(tree: Members, random: Random, _: Stock) -> None:
    found = [each.value for each in places(tree) if isinstance(each.value, Text) and re.search(r"\d", each.value.text)]
    if found:
        value = random.choice(found)
        new = random.choice(("0", "1", "00", "9223372036854775807", "9" * 40, "1.5", "", "-2"))
        value.text = re.sub(r"\d+", lambda _: new, value.text, count=1)


def keyword(tree: Members, random: Random, _: Stock) -> None:
    """A keyword of JSON Schema, in any mapping of parts 2 and 4."""
    found = [
        each.value for each in places(tree)
        if isinstance(each.value, Members) and each.names[0] in ("resources", "endpoints") and len(each.names) > 1
    ]  # fmt: skip
    schemas = [each for each in found if any(name in KEYWORD_VALUES for name, _ in each.entries)] or found
    if schemas:
        name = random.choice(list(KEYWORD_VALUES))
        holder = random.choice(schemas)
        holder.entries[:] = [each for each in holder.entries if each[0] != name]
        holder.entries.append((name, _read(random.choice(KEYWORD_VALUES[name]))))


def _read(written: str) -> Tree:
    """The small YAML of the tables above."""
    written = written.strip()
    if written[:1] == "[":
        inner = written[1:-1].strip()
        return Items([_read(each) for each in _split(inner)])
    if written[:1] == "{":
        pairs = (each.partition(":") for each in _split(written[1:-1].strip()))
        return Members([(name.strip(), _read(value)) for name, _, value in pairs])
    quoted = written[:1] == "'"
    return Text(written.strip("'"), plain=not quoted)


def _split(inner: str) -> list[str]:
    return re.findall(r"(?:[^,{}\[\]]|\{[^{}]*\}|\[[^\[\]]*\])+", inner)


def verb(tree: Members, random: Random, _: Stock) -> None:
    """What an endpoint does becomes another verb, of the same or of another resource, or several."""
    found = [
        (each.holder, each.index)
        for each in places(tree)
        if isinstance(each.holder, Members) and each.names[-1] == "does"
    ]
    resources = [each.names[1] for each in places(tree) if each.names[0] == "resources" and len(each.names) == 2]
    if found:
        holder, index = random.choice(found)
        of = f"{random.choice(sorted(VERBS))} {random.choice((random.choice(resources or ['x']), ''))}".strip()
        old = holder.entries[index][1]
        several = Items([copied(old), Text(of)]) if isinstance(old, Text) and random.random() < 0.2 else Text(of)
        holder.entries[index] = ("does", several)


def endpoint_key(tree: Members, random: Random, _: Stock) -> None:
    """An endpoint is asked by another method or path, wherever it is named."""
    keys = [
        each.names[1]
        for each in places(tree)
        if each.names[0] == "endpoints" and len(each.names) == 2 and " " in each.names[1]
    ]
    if keys:
        old = random.choice(keys)
        method, __, path = old.partition(" ")
        match random.randrange(4):
            case 0:
                method = random.choice(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY", "get"))
            case 1:
                path = re.sub(
                    r"\{.*?\}", random.choice(("{id}", "{x}", "x", "{id}{id}", "{}", "*", "{a.b.c}")), path, count=1
                )
            case 2:
                path += random.choice(("/", "/{id}", "/x", "//", "?a=b", "/{x}.json", "%2F", "/:id"))
            case _:
                path = random.choice([key.partition(" ")[2] for key in keys])
        for place in list(places(tree)):
            if isinstance(place.holder, Members) and place.names[-1] == old:
                place.holder.entries[place.index] = (f"{method} {path}", place.value)


def expression_token(tree: Members, random: Random, stock: Stock) -> None:
    """A word of an expression is left out, comes twice, or becomes another."""
    value = _text(tree, random)
    if value is None:
        return
    tokens = TOKEN.findall(value.text) or [""]
    at = random.randrange(len(tokens))
    match random.randrange(5):
        case 0:
            tokens[at] = ""
        case 1:
            tokens.insert(at, tokens[at])
        case 2:
            tokens[at] = random.choice(_names_of(tree) or ["x"])
        case 3:
            tokens.insert(at, random.choice(stock.tokens))
        case _:
            tokens[at] = random.choice(stock.tokens)
    value.text = " ".join(tokens) if random.random() < 0.3 else "".join(_spaced(tokens))


def _spaced(tokens: list[str]) -> list[str]:
    """Tokens with a space between two words alone."""
    return [
        token if not (index and tokens[index - 1][-1:].isalnum() and token[:1].isalnum()) else f" {token}"
        for index, token in enumerate(tokens)
    ]


def expression_wrapped(tree: Members, random: Random, _: Stock) -> None:
    value = _text(tree, random)
    if value is not None and len(value.text) < 2_000:
        value.text = random.choice(WRAPPINGS).format(value.text)
        value.plain = False


def expression_other(tree: Members, random: Random, stock: Stock) -> None:
    """An expression becomes one of another contract, whose names become those of this one."""
    value = _text(tree, random)
    if value is not None:
        names = [name for name in _names_of(tree) if name.isidentifier()] or ["x"]
        text = random.choice(stock.expressions)
        value.text = re.sub(
            r"\b[a-z_]+\b", lambda found: random.choice(names) if random.random() < 0.3 else found[0], text
        )
        value.plain = False


def expression_within(tree: Members, random: Random, _: Stock) -> None:
    """A path of an expression goes on, to a field of this contract."""
    value = _text(tree, random)
    names = [name for name in _names_of(tree) if name.isidentifier()]
    if value is not None and names:
        value.text += f".{random.choice(names)}"


def move(tree: Members, random: Random, _: Stock) -> None:
    """An entry goes into another mapping."""
    holder, index = _entry(tree, random)
    entry = holder.entries.pop(index)
    _mapping(tree, random).entries.append(entry)


MUTATORS: Final[tuple[Mutator, ...]] = (
    *(delete, delete, duplicate, rename, rename_everywhere, swap, swap_keys, reorder, retype, retype, insert_key),
    *(insert_key, insert_beside, insert_beside, splice, splice, splice_own, name_of_an_ancestor, propose, number),
    *(keyword, keyword, verb, endpoint_key, expression_token, expression_token, expression_wrapped, expression_other),
    *(expression_within, move),
)  # fmt: skip


def mutated(tree: Members, random: Random, stock: Stock) -> Members:
    """The same contract with one change, or with a few."""
    changed = copied(tree)
    assert isinstance(changed, Members)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if changed.entries:
            random.choice(MUTATORS)(changed, random, stock)
    return changed
