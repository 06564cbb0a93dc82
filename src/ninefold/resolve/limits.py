"""Part 8: limits; and the page bounds of one list."""

from __future__ import annotations

from ninefold.contract.expression import Expression
from ninefold.contract.fact import Fact, Name
from ninefold.contract.limits import Limits, Pages, Rate, TimeOuts
from ninefold.resolve import leaves
from ninefold.resolve.expressions import expression
from ninefold.resolve.quantities import duration, size
from ninefold.resolve.reading import Level, Read, Reading, Slot, T, spoken
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Scalar


def limits(r: Reading, part: Part) -> Limits:
    said = spoken(part)
    if said is not None:
        return Limits(said, said, said, said, said, said)
    level = r.level(part.facts, 8, "", "")
    return Limits(
        rates=level.fact("rates", rates),
        headers=level.fact("headers", leaves.headers),
        body_size=only_fact(r, level, "sizes", "body", size),
        pages=level.fact("pages", pages(8, "pages")),
        time_outs=level.fact("time-outs", time_outs),
        keys_kept=only_fact(r, level, "idempotency keys", "kept", duration),
    )


_COUNTED = {
    **dict.fromkeys(("ip", "ip address", "client ip", "host", "remote address"), "address"),
    **dict.fromkeys(("user", "account", "key", "token", "client"), "caller"),
}
"""What others call what a rate counts."""


def rates(r: Reading, node: Node, slot: Slot) -> tuple[Rate, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    return r.each(node.entries, lambda entry: rate(r, entry))


def rate(r: Reading, entry: Entry) -> Rate:
    level = r.level(entry.value, 8, "rates.RATE", entry.name)
    return Rate(
        name=entry.name,
        span=entry.key.span,
        of=level.fact("of", counted),
        allow=level.fact("allow", leaves.integer, main=True),
        per=level.fact("per", duration),
        algorithm=level.fact("algorithm", leaves.word),
        burst=level.fact("burst", leaves.integer),
        endpoints=level.fact("endpoints", leaves.name_or_names),
    )


def counted(r: Reading, node: Node, slot: Slot) -> Name | Expression | None:
    """`caller`, `address`, or an expression."""
    if isinstance(node, Scalar) and (node.says("caller") or node.says("address")):
        return Name(node.text, node.span)
    if isinstance(node, Scalar) and (meant := _COUNTED.get(node.text.casefold())) is not None:
        leaves.wrong_word(r, node, slot.called, ("caller", "address"), meant)
        return None
    return expression(r, node, slot)


def pages(part: int, path: str) -> Read[Pages]:
    """The reader of page bounds that stand at a path of the table."""

    def read(r: Reading, node: Node, slot: Slot) -> Pages | None:
        level = r.level(node, part, path, "pages")
        if not isinstance(node, Mapping):
            return None
        below = level.known.get("parameters")
        parameters = None if below is None else r.level(below.value, part, f"{path}.parameters", "parameters")

        def parameter(name: str) -> Fact[Name] | None:
            if below is None or parameters is None:
                return None
            with r.proposing(below.proposed or below.value.proposed):
                return parameters.fact(name, leaves.name, main=True)

        return Pages(
            default=level.fact("default", leaves.integer),
            largest=level.fact("largest", leaves.integer),
            by=level.fact("by", leaves.word),
            size=parameter("size"),
            next=parameter("next"),
            start=parameter("start"),
            number=parameter("number"),
            index=parameter("index"),
            span=node.span,
        )

    return read


def time_outs(r: Reading, node: Node, slot: Slot) -> TimeOuts | None:
    level = r.level(node, 8, "time-outs", "time-outs")
    return TimeOuts(level.fact("request", duration)) if isinstance(node, Mapping) else None


def only_fact(r: Reading, level: Level, group: str, name: str, read: Read[T]) -> Fact[T] | None:
    """The one fact of a mapping with one key, such as `sizes: {body: 64 KiB}`; `none` and `not shown` for the
    mapping are said of it."""
    entry = level.known.get(group)
    if entry is None:
        return None
    if isinstance(entry.value, Scalar) and (entry.value.says("none") or entry.value.says("not shown")):
        return level.fact(group, read)
    below = r.level(entry.value, level.part, f"{level.path}.{group}".lstrip("."), group)
    with r.proposing(entry.proposed or entry.value.proposed):
        return below.fact(name, read)
