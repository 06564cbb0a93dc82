"""Media types with parameters: what a client accepts, and what it says that it sends (RFC 9110 8.3 and 12.5.1)."""

from __future__ import annotations

from collections.abc import Iterator


def parameters_of(text: str) -> tuple[str, dict[str, str]]:
    """A media type, or a range of them, in lower case; and its parameters."""
    called, *said = (each.strip(" \t") for each in text.split(";"))
    pairs = (each.partition("=") for each in said)
    return called.lower(), {name.lower(): value.strip('"') for name, _, value in pairs}


def ranges(accept: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Each range that is accepted, its parameters, and how much it is wished for."""
    for each in accept.split(","):
        called, parameters = parameters_of(each)
        wish = float(parameters.pop("q", "1"))
        yield called, parameters, wish


def is_accepted(accept: str, offered: str) -> bool:
    """Of the ranges that what is offered is of, the most specific says."""
    own, parameters = parameters_of(offered)
    fitting = [
        (("*/*", own.partition("/")[0] + "/*", own).index(called), len(wanted), wish)
        for called, wanted, wish in ranges(accept)
        if called in ("*/*", own.partition("/")[0] + "/*") or (called == own and wanted.items() <= parameters.items())
    ]
    return bool(fitting) and max(fitting)[2] > 0


def accepted(accept: str, name: str) -> list[str]:
    """The values of a parameter among what is accepted, the preferred one first."""
    found = [(wish, wanted[name]) for _, wanted, wish in ranges(accept) if name in wanted and wish > 0]
    return [value for _, value in sorted(found, key=lambda each: -each[0])]
