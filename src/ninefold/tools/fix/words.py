"""What the second words call what the first ones called otherwise, where nothing but the word has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

CONDITIONS: Final[Mapping[str, str]] = {
    "missing": "not found",
    "stale": "precondition failed",
    "rate limited": "too many requests",
    "guard": "check",
    "invariant": "check",
}
"""A condition may be narrowed: `missing order` is `not found order`."""

ON_DELETE: Final[Mapping[str, str]] = {"refuse": "restrict", "clear": "set null"}

KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    "resource": {"identifier": "primary key"},
    "field": {"refers to": "references", "back": "inverse"},
    "cors": {"kept": "max age"},
    "pages": {"largest": "maximum"},
    "kind": {"when": "where"},
    "webhooks": {"when": "where"},
    "scheme": {"openIdConnectUrl": "issuer"},
    "code": {"when": "for"},
    "errors": {"shape": "error shape"},
}
"""By the record that the key belongs to."""


class Verb(NamedTuple):
    """`outcomes`: what an answer stands for that the first words gave to all good ends alike; none: it stays."""

    word: str
    outcomes: str | None = None


_VERBS: Final[Mapping[str, Verb]] = {
    "ensure": Verb("put", "created or unchanged"),
    "replace": Verb("put", "replaced"),
    "remove": Verb("delete", "deleted or absent"),
    "grant token": Verb("sign in"),
    "subscribe": Verb("create subscription"),
    "unsubscribe": Verb("delete subscription"),
    "stream events": Verb("stream event"),
}
"""The verbs that go, and what says the same; the last three say themselves what they are done to."""


def outcomes(verb: str) -> str | None:
    return _VERBS[verb].outcomes if verb in _VERBS else None


def condition(text: str) -> str:
    """A condition in the second words, narrowed as it was."""
    for old, new in CONDITIONS.items():
        if text == old or text.startswith(old + " "):
            return new + text[len(old) :]
    return text


def action(text: str) -> str:
    """What is done, in the second words."""
    for old, new in _VERBS.items():
        if text == old or text.startswith(old + " "):
            return new.word + text[len(old) :]
    return text
