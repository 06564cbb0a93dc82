"""What the second words call what the first ones called otherwise, where nothing but the word has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
    "requests": {},
    "cors": {"kept": "max age"},
    "pages": {"largest": "maximum"},
    "kind": {"when": "where"},
    "webhooks": {"when": "where"},
    "scheme": {"openIdConnectUrl": "issuer"},
    "code": {"when": "for"},
    "errors": {"shape": "error shape"},
}
"""By the record that the key belongs to."""

VERBS: Final[Mapping[str, str]] = {
    "subscribe": "create subscription",
    "unsubscribe": "delete subscription",
    "stream events": "stream event",
    "read event": "read event",
}
"""Actions whose verb is another, whatever they are done to; see also `verb_of`."""

_BY_VERB: Final[Mapping[str, str]] = {
    "ensure": "put",
    "replace": "put",
    "remove": "delete",
    "grant token": "sign in",
    "update all": "update all",
    "delete all": "delete all",
}

OUTCOMES: Final[Mapping[str, str]] = {
    "ensure": "created or unchanged",
    "replace": "replaced",
    "remove": "deleted or absent",
}
"""The outcomes that an answer stands for which the first words gave to all good ends alike, by the verb."""


def condition(text: str) -> str:
    """A condition in the second words, narrowed as it was."""
    for old, new in CONDITIONS.items():
        if text == old or text.startswith(old + " "):
            return new + text[len(old) :]
    return text


def action(text: str) -> str:
    """What is done, in the second words."""
    if text in VERBS:
        return VERBS[text]
    for old, new in _BY_VERB.items():
        if text.startswith(old + " "):
            return new + text[len(old) :]
    return text
