"""What two contracts have that is alike under two names, and what stands below an address of one."""

from __future__ import annotations

from ninefold.diff.sight import Address, Sight


def endpoints(was: Sight, now: Sight, one: Address, other: Address) -> bool:
    """Whether two endpoints do the same, in each case."""
    before, after = _done(was, one), _done(now, other)
    return bool(before) and before == after


def _done(of: Sight, at: Address) -> dict[tuple[str, ...], object]:
    own = below(of, at).items()
    return {each: said for each, said in own if each == ("does",) or (each[:1] == ("cases",) and each[2:] == ("does",))}


def codes(was: Sight, now: Sight, one: Address, other: Address) -> bool:
    """Whether two codes answer the same conditions, or say the same."""
    return same(was, now, one, other) or _says(was, now, (*one, "for"), (*other, "for"))


def kinds(was: Sight, now: Sight, one: Address, other: Address) -> bool:
    """Whether two kinds of event arise upon the same."""
    return _says(was, now, (*one, "upon"), (*other, "upon"))


def _says(was: Sight, now: Sight, one: Address, other: Address) -> bool:
    return one in was and other in now and was[one].said == now[other].said


def same(was: Sight, now: Sight, one: Address, other: Address) -> bool:
    """Whether all that is said of two things is the same; of `one` in the older contract."""
    return below(was, one) == below(now, other)


def below(of: Sight, at: Address) -> dict[tuple[str, ...], object]:
    return {each[len(at) :]: piece.said for each, piece in of.items() if each[: len(at)] == at}


def names_below(of: Sight, *at: str) -> tuple[str, ...]:
    """The names below an address."""
    found = (str(each[len(at)]) for each in of if each[: len(at)] == at and len(each) > len(at))
    return tuple(each for each in dict.fromkeys(found) if at != ("4",) or " /" in each)


def is_unused_code(at: Address, was: Sight) -> bool:
    """A code that only the newer contract has, for no condition: what ends in it differs where it does."""
    return at[:2] == ("7", "codes") and ("7", "codes", at[2]) not in {each[:3] for each in was} and at[3] != "for"


def parameters(of: Sight, at: Address) -> dict[str, object]:
    piece = of.get(at)
    said = () if piece is None or isinstance(piece.said, str) else piece.said
    return {name: (schema, rest) for name, schema, rest in said}
