"""Part 5: who may call, and what they see."""

from __future__ import annotations

from ninefold.contract.authentication import (
    Admission,
    Authentication,
    Condition,
    Every,
    Permission,
    RowRule,
    Scheme,
)
from ninefold.contract.fact import Name, Shown, value_of
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import leaves
from ninefold.language.codes import RESERVED_NAME, TOO_MANY_SCHEMES, WRONG_WORD
from ninefold.language.expressions import assignments, expression
from ninefold.language.quantities import duration
from ninefold.language.reading import Reading, Slot, quoted, spoken
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Scalar, Sequence
from ninefold.vocabulary import key_at

MOST_SCHEMES = 32
"""Each endpoint may admit each scheme, so what is made of a contract grows with their product."""


def authentication(r: Reading, part: Part) -> Authentication:
    said = spoken(part)
    if said is not None:
        return Authentication(said, said, said, said)
    level = r.level(part.facts, 5, "", "")
    return Authentication(
        schemes=level.fact("schemes", schemes),
        rows=level.fact("rows", rows),
        unseen_rows=level.fact("unseen rows", leaves.word),
        permissions=level.fact("permissions", permissions),
    )


def schemes(r: Reading, node: Node, slot: Slot) -> tuple[Scheme, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    if len(node.entries) > MOST_SCHEMES:
        place = node.entries[MOST_SCHEMES].key.span
        r.say(TOO_MANY_SCHEMES, f"there are {len(node.entries)} schemes", Label(place, "one too many"))
    return r.each(node.entries[:MOST_SCHEMES], lambda entry: scheme(r, entry))


def scheme_type(r: Reading, node: Node, slot: Slot) -> Name | None:
    """A word of OpenAPI's closed list; `bearer` and `basic` are said by `scheme`."""
    if isinstance(node, Scalar) and node.text.casefold() in ("bearer", "basic", "digest"):
        help = f"write `type: http, scheme: {node.text.casefold()}`"
        r.say(WRONG_WORD, f"`type` cannot be {quoted(node.text)}", Label(node.span), help=(help,))
        return None
    return leaves.word(r, node, slot)


def scheme(r: Reading, entry: Entry) -> Scheme:
    if entry.name in ("any", "anyone"):
        r.say(
            RESERVED_NAME,
            f"`{entry.name}` is a word of the language, and cannot be the name of a scheme",
            Label(entry.key.span),
            help=("choose another name",),
            of=entry.name,
        )
    level = r.level(entry.value, 5, "schemes.SCHEME", entry.name)
    added = level.fact("caller", assignments)
    for each in value_of(added) or ():
        if each.name == "credential":
            r.say(
                RESERVED_NAME,
                "`caller.credential` is the credential itself, and nothing else can be called so",
                Label(each.span),
                help=("choose another name",),
            )
    return Scheme(
        name=entry.name,
        span=entry.key.span,
        type=level.fact("type", scheme_type, main=True),
        scheme=level.fact("scheme", leaves.header),
        location=level.fact("in", leaves.word),
        parameter=level.fact("name", leaves.header),
        matches=level.fact("matches", leaves.name),
        credential=level.fact("credential", expression),
        issued_to=level.fact("issued to", leaves.name),
        lasts=level.fact("lasts", duration),
        open_id_connect_url=level.fact("openIdConnectUrl", expression),
        issuer=level.fact("issuer", expression),
        audience=level.fact("audience", leaves.name),
        algorithms=level.fact("algorithms", leaves.name_or_names),
        keys=level.fact("keys", expression),
        scopes=level.fact("scopes", leaves.name_or_names),
        granted=level.fact("granted", expression),
        realm=level.fact("realm", leaves.text),
        flows=level.fact("flows", flows),
        caller=added,
    )


def flows(r: Reading, node: Node, slot: Slot) -> Node | None:
    """OpenAPI's OAuth Flows Object, as it is written."""
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    return node


def permissions(r: Reading, node: Node, slot: Slot) -> tuple[Permission, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    shape = key_at(5, "permissions.ENDPOINT").shape
    return tuple(
        Permission(
            Name(entry.name, entry.key.span),
            r.fact(entry.value, Slot(entry.name, shape), admissions, entry.proposed),
        )
        for entry in node.entries
    )


def rows(r: Reading, node: Node, slot: Slot) -> tuple[RowRule, ...] | Every | None:
    if isinstance(node, Scalar) and node.says("any"):
        return Every(node.span)
    if not isinstance(node, Mapping):
        every = isinstance(node, Scalar) and node.text.casefold() in ("all", "every", "everyone", "anyone", "*")
        r.wrong_shape(node, slot, help=("where every caller sees all rows, write `any`",) if every else ())
        return None
    shape = key_at(5, "rows.RESOURCE").shape
    return tuple(
        RowRule(
            Name(entry.name, entry.key.span),
            r.fact(entry.value, Slot(entry.name, shape), admissions, entry.proposed),
        )
        for entry in node.entries
    )


def admissions(r: Reading, node: Node, slot: Slot) -> tuple[Admission, ...] | None:
    """`key`, `[key, staff]`, `{staff: condition}`, or `any`: every scheme and `anyone`."""
    match node:
        case Scalar() if node.says("any"):
            every: Shown[Condition] = Shown(Every(node.span), node.span)
            return tuple(Admission(Name(who, node.span), every) for who in (*declared_schemes(r), "anyone"))
        case Scalar():
            who = leaves.name(r, node, slot)
            return None if who is None else (Admission(who, Shown(Every(node.span), node.span)),)
        case Mapping():
            shape = key_at(5, "permissions.ENDPOINT.CALLER").shape
            return tuple(
                Admission(
                    Name(entry.name, entry.key.span),
                    r.fact(entry.value, Slot(entry.name, shape), condition, entry.proposed),
                )
                for entry in node.entries
            )
        case Sequence():
            found = [each for item in r.items(node, slot) or () for each in admissions(r, item, slot) or ()]
            leaves.once(r, tuple(each.who for each in found), slot.called)
            return tuple(found) or None


def declared_schemes(r: Reading) -> tuple[str, ...]:
    """The schemes by the names that the part declares, in written order."""
    entry = r.document.part("authentication").facts.get("schemes")
    written = entry.value if entry is not None else None
    return tuple(each.name for each in written.entries[:MOST_SCHEMES]) if isinstance(written, Mapping) else ()


def condition(r: Reading, node: Node, slot: Slot) -> Condition | None:
    """`any`, or an expression."""
    if isinstance(node, Scalar) and node.says("any"):
        return Every(node.span)
    return expression(r, node, slot)
