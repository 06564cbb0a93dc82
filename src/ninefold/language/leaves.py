"""The readers of single values and of lists of them. Each says what is wrong, and yields `None` then."""

from __future__ import annotations

from typing import Final

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import NOT_IN_FORM, NOT_JSON, SAME_NAME, WRONG_SHAPE, WRONG_WORD
from ninefold.diagnostics.diagnostic import Label
from ninefold.language.fact import Name
from ninefold.language.reading import Read, Reading, Slot, quoted
from ninefold.language.shapes import FORM, Boolean, Integer, ListOf, Names, OneOf, Shape, Word, describe
from ninefold.syntax.nodes import Node, Scalar, Sequence

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
HEADER: Final = regex.compile(_TOKEN)
_MEDIA_TYPE: Final = regex.compile(rf"{_TOKEN}/{_TOKEN}(?:\s*;\s*{_TOKEN}=(?:{_TOKEN}|\"[^\"\\]*\"))*")
SEGMENT: Final = regex.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+")
"""One or more pchar of RFC 3986, 3.3."""

_SHORT_MEDIA_TYPES: Final = {
    "json": "application/json",
    "problem": "application/problem+json",
    "problem+json": "application/problem+json",
}

_TRUTHS: Final = {
    **dict.fromkeys(("yes", "on", "y", "true", "1"), "true"),
    **dict.fromkeys(("no", "off", "n", "false", "0"), "false"),
}
"""What YAML 1.1, and people, take for a truth value."""


def text(r: Reading, node: Node, slot: Slot) -> str | None:
    """Plain text; a number or a truth value is the text that is written."""
    if isinstance(node, Scalar) and (node.value is not None or node.text not in ("", "~", "null")):
        return node.text
    r.wrong_shape(node, slot)
    return None


def name(r: Reading, node: Node, slot: Slot) -> Name | None:
    """The name of something, or one that the contract chooses."""
    found = text(r, node, slot)
    if found == "":
        r.wrong_shape(node, slot)
    return Name(found, node.span) if found else None


def names(r: Reading, node: Node, slot: Slot) -> tuple[Name, ...] | None:
    """A list of names, each once, or, where the shape says so, a name that stands alone."""
    if isinstance(slot.shape, Names) and slot.shape.alone:
        return name_or_names(r, node, slot)
    return _each_once(r, node, slot, name)


def name_or_names(r: Reading, node: Node, slot: Slot) -> tuple[Name, ...] | None:
    """A name that stands alone, or a list of names."""
    if isinstance(node, Sequence):
        if not node.items:
            message = f"{quoted(slot.called)} is an empty list"
            r.say(WRONG_SHAPE, message, Label(node.span, "names nothing"), help=(f"write {describe(slot.shape)}",))
            return None
        return _each_once(r, node, slot, name)
    alone = name(r, node, slot)
    return None if alone is None else (alone,)


def once(r: Reading, found: tuple[Name, ...], called: str) -> None:
    """Says which names of a list stand in it twice."""
    first: dict[str, Name] = {}
    for each in found:
        if (earlier := first.setdefault(each.text, each)) is not each:
            r.say(
                SAME_NAME,
                f"{quoted(called)} has `{each.text}` twice",
                Label(each.span, "again"),
                Label(earlier.span, "first here"),
            )


def words_of(shape: Shape) -> tuple[str, ...]:
    """The closed list in a shape."""
    match shape:
        case Word(words):
            return words
        case ListOf(item):
            return words_of(item)
        case OneOf(shapes):
            return next((words for each in shapes if (words := words_of(each))), ())
        case _:
            return ()


def word(r: Reading, node: Node, slot: Slot) -> Name | None:
    """A word of the closed list of the slot."""
    words = words_of(slot.shape)
    if not isinstance(node, Scalar) or node.text == "":
        r.wrong_shape(node, slot)
        return None
    if node.text in words:
        return Name(node.text, node.span)
    wrong_word(r, node, slot.called, words)
    return None


def words(r: Reading, node: Node, slot: Slot) -> tuple[Name, ...] | None:
    """A list of words of the closed list of the slot."""
    return _each_once(r, node, slot, word)


def _each_once(r: Reading, node: Node, slot: Slot, read: Read[Name]) -> tuple[Name, ...] | None:
    items = r.items(node, slot)
    if items is None:
        return None
    found = tuple(each for item in items if (each := read(r, item, slot)) is not None)
    once(r, found, slot.called)
    return found


def word_or_words(r: Reading, node: Node, slot: Slot) -> tuple[Name, ...] | None:
    """A word that stands alone, or a list of some."""
    if not isinstance(node, Sequence):
        alone = word(r, node, slot)
        return None if alone is None else (alone,)
    if not node.items:
        r.wrong_shape(node, slot)
    return words(r, node, slot) or None


def wrong_word(r: Reading, node: Scalar, called: str, words: tuple[str, ...], meant: str | None = None) -> None:
    """Says that a word is not of a closed list. `meant`: what it surely stands for."""
    near = meant or r.nearest(node.text, words)
    listed = ", ".join(f"`{each}`" for each in words)
    help = f"did you mean `{near}`?" if near else f"write one of {listed}" if len(words) > 1 else f"write {listed}"
    r.say(WRONG_WORD, f"{quoted(called)} cannot be {quoted(node.text)}", Label(node.span), help=(help,))


def integer(r: Reading, node: Node, slot: Slot) -> int | None:
    """A whole number within the bounds of the slot."""
    bounds = slot.shape
    assert isinstance(bounds, Integer)
    greatest = bounds.maximum if bounds.maximum is not None else 2**63 - 1
    if isinstance(node, Scalar) and type(node.value) is int and bounds.minimum <= node.value <= greatest:
        return node.value
    r.wrong_shape(node, slot)
    return None


def boolean(r: Reading, node: Node, slot: Slot) -> bool | None:
    """`true` or `false`; of a key that is left out where it does not hold, `true`."""
    only_true = isinstance(slot.shape, Boolean) and slot.shape.only_true
    if isinstance(node, Scalar) and isinstance(node.value, bool) and (node.value or not only_true):
        return node.value
    meant = _TRUTHS.get(node.text.casefold()) if isinstance(node, Scalar) and not only_true else None
    left_out = ("leave the key out where it does not hold",) if only_true else ()
    r.wrong_shape(node, slot, help=(f"write `{meant}`",) if meant else left_out)
    return None


def media_type(r: Reading, node: Node, slot: Slot, besides: tuple[str, ...] = ()) -> Name | None:
    """A media type (RFC 9110, 8.3.1) of JSON: `application/json`, or one with the suffix `+json` (RFC 6839, 3.1)."""
    found = name(r, node, slot)
    if found is None:
        return None
    if not _MEDIA_TYPE.fullmatch(found.text):
        short = found.text.casefold().strip("./")
        is_form = FORM in besides and short in ("form", "urlencoded", "x-www-form-urlencoded")
        meant = FORM if is_form else _SHORT_MEDIA_TYPES.get(short, "application/json")
        r.say(NOT_IN_FORM, f"{quoted(found.text)} is not a media type", Label(found.span), help=(f"write `{meant}`",))
        return None
    essence = found.text.partition(";")[0].strip().casefold()
    if not essence.endswith(("/json", "+json")) and essence not in besides:
        about = f"is neither JSON nor {FORM}" if FORM in besides else "bodies are JSON"
        r.say(NOT_JSON, f"`{essence}` is no media type of JSON", Label(found.span, about))
        return None
    return found


def request_media_type(r: Reading, node: Node, slot: Slot) -> Name | None:
    """The same, or that of forms."""
    return media_type(r, node, slot, (FORM,))


def request_media_types(r: Reading, node: Node, slot: Slot) -> tuple[Name, ...] | None:
    """One of these, or several."""
    items = r.items(node, slot) if isinstance(node, Sequence) else (node,)
    found = tuple(each for item in items or () if (each := request_media_type(r, item, slot)) is not None)
    once(r, found, slot.called)
    return found or None


def header(r: Reading, node: Node, slot: Slot) -> Name | None:
    """A field name of RFC 9110, 5.1."""
    found = name(r, node, slot)
    return found if found is not None and is_header(r, found) else None


def headers(r: Reading, node: Node, slot: Slot) -> tuple[Name, ...] | None:
    found = names(r, node, slot)
    return None if found is None else tuple(each for each in found if is_header(r, each))


def is_header(r: Reading, found: Name) -> bool:
    if HEADER.fullmatch(found.text):
        return True
    r.say(
        NOT_IN_FORM,
        f"{quoted(found.text)} is not the name of a header",
        Label(found.span),
        help=("a header's name is letters, digits and hyphens: `Api-Version`",),
    )
    return False


def path(r: Reading, node: Node, slot: Slot) -> str | None:
    """A path of RFC 3986 with a leading and no trailing slash."""
    written = text(r, node, slot)
    if written is None:
        return None
    segments = written.split("/")
    if len(segments) > 1 and segments[0] == "" and all(SEGMENT.fullmatch(each) for each in segments[1:]):
        return written
    meant = "/" + "/".join(each for each in segments if SEGMENT.fullmatch(each))
    r.say(
        NOT_IN_FORM,
        f"{quoted(written)} is not a path that others can follow",
        Label(node.span),
        help=(f"write `{meant}`" if meant != "/" else "leave it out where paths begin at the root",),
    )
    return None
