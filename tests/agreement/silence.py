"""What a contract may say, and what random contracts are silent of: of that the service and the interpreter are not
compared. It is one list, with a reason for each entry, which `test_silence.py` holds to what the contracts say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.agreement.writing import NONE

from ninefold.language.conditions import CHECK, CONDITIONS, narrowing_of, split
from ninefold.language.shapes import ListOf, OneOf, Shape, Word
from ninefold.language.table import is_keyword, place_of, row_written, vocabulary
from ninefold.language.verbs import OUTCOMES, TRANSITION, VERBS

DOES: Final = "4 ENDPOINT.does"
BY_EFFECT: Final = ("4 ENDPOINT.also.EFFECT.does", "3 RESOURCE.transitions.TRANSITION.also.EFFECT.does")
UPON: Final = "6 kinds.KIND.upon"
CALLED: Final = "4 ENDPOINT.does: call, then "
OUTCOME: Final = "4 ENDPOINT.responses: "
OF_ALL: Final = "4 ENDPOINT.also: of all rows"
CHOSEN: Final = "9 default: an expression"
GIVEN: Final = "4 ENDPOINT.sets: what a function gave"
FOR: Final = "7 codes.CODE.for"
ERRORS: Final = "4 ENDPOINT.errors"


def _can_be_said() -> Iterator[str]:
    """Each key, each word that may stand at one, each verb where it may stand, and each condition with whatever it is
    narrowed to."""
    for key in vocabulary():
        if not is_keyword(key) and place_of(key) == (key.part, key.path):
            yield f"{key.part} {key.path}"
            yield from (f"{key.part} {key.path}: {word}" for word in _words(key.shape) if key.name != "compatible")
    for verb in (*VERBS.values(), TRANSITION):
        yield f"{DOES}: {verb.name}"
        yield from [f"{DOES}: {verb.name} all"] if verb.of_all else ()
        yield from [CALLED + verb.name] if verb.after_call else ()
        yield from (f"{does}: {verb.name}" for does in BY_EFFECT if verb.as_effect or verb is TRANSITION)
        if verb.writes and verb.acts_on == "a resource" and not verb.arises:
            yield f"{UPON}: {verb.name}"
    yield from (OUTCOME + each for each in OUTCOMES)
    yield from (OF_ALL, CHOSEN, GIVEN)
    for condition in CONDITIONS:
        if condition.name != CHECK:
            yield f"{FOR}: {condition.name}"
            yield from (f"{FOR}: {condition.name} of a {kind}" for kind in condition.narrowed)


def _words(shape: Shape) -> Iterator[str]:
    match shape:
        case Word(words):
            yield from words
        case ListOf(item):
            yield from _words(item)
        case OneOf(shapes):
            for each in shapes:
                yield from _words(each)


SAYABLE: Final = frozenset(_can_be_said())


def said(contract: Mapping[str, Any]) -> set[str]:
    """What a contract says of it."""
    found: set[str] = set()
    for number, (_, part) in enumerate(contract.items(), 1):
        found.update(_of(part, number, ""))
    found.update(map(_narrowed, _conditions(contract)))
    versioning = contract["versioning"]
    if isinstance(versioning, Mapping) and versioning["default"] not in versioning["versions"]:
        found.add(CHOSEN)
    return found & SAYABLE


def _of(value: Any, part: int, path: str) -> Iterator[str]:
    row = f"{part} {path}".replace("ENDPOINT.cases.CASE.", "ENDPOINT.")
    yield row
    if row in (DOES, *BY_EFFECT, UPON):
        yield from _actions(row, value if isinstance(value, list) else [value])
    elif isinstance(value, str) or value is NONE:
        yield f"{row}: {'none' if value is NONE else value}"
    elif isinstance(value, Mapping):
        for name, each in value.items():
            key = row_written(part, path, str(name))
            yield from (OUTCOME + each for each in str(name).split(" or ") if each in OUTCOMES)
            if key is not None:
                yield from _of(each, part, key.path)
            if name == "sets" and "result." in str(each):
                yield GIVEN
            if name == "also" and " all " in str(value.get("does")):
                yield OF_ALL
    elif isinstance(value, list):
        of_items = row_written(part, path)
        for each in value:
            yield from _of(each, part, path if of_items is None else of_items.path)


def _conditions(contract: Mapping[str, Any]) -> Iterator[str]:
    """Those that a contract gives codes, for all endpoints or for one."""
    for code in contract["errors"]["codes"].values() if isinstance(contract["errors"]["codes"], Mapping) else ():
        of = code.get("for", [])
        yield from of if isinstance(of, list) else [of]
    for key, endpoint in contract["endpoints"].items():
        if " /" in key and isinstance(endpoint, Mapping):
            for said_ in (endpoint, *(endpoint.get("cases") or {}).values()):
                yield from said_.get("errors", ()) if isinstance(said_, Mapping) else ()


def _narrowed(condition: str) -> str:
    name, subject = split(condition) or (condition, None)
    return f"{FOR}: {name}" if subject is None else f"{FOR}: {name} of a {narrowing_of(name, subject)}"


def _actions(row: str, actions: list[str]) -> Iterator[str]:
    verbs = [_verb(action) for action in actions]
    yield from (f"{row}: {verb}" for verb in verbs)
    yield from (f"{row}: {verb} all" for verb, action in zip(verbs, actions, strict=True) if " all " in action)
    if verbs[0] == "call":
        yield from (CALLED + verb for verb in verbs[1:2])


def _verb(action: str) -> str:
    return next((verb for verb in VERBS if f"{action} ".startswith(f"{verb} ")), TRANSITION.name)


_OF_SERVER: Final = "it is no answer to a request, and tests/events asks for it"
_PRESENTED: Final = "who calls is known by what an issuer or a handshake says, which tests/server gives"

SILENT: Final[Mapping[str, str]] = {
    "2 RESOURCE.expires": "rows go by themselves at a time, which tests/server waits for",
    "2 RESOURCE.fields.FIELD.sensitive": "it is about logs, and no answer has to do with it",
    "2 RESOURCE.records": "rows that are there at the start, which the scenario gives",
    "3 RESOURCE.transitions.TRANSITION.after": "a transition takes itself at a time, which tests/server waits for",
    GIVEN: "of a value that is still to come the interpreter does not know that nobody can judge it",
    "4 ENDPOINT.pages.by: none": "it is said as `pages: none`",
    "4 ENDPOINT.responses.OUTCOME.STATUS: stream": "no verb with outcomes streams",
    **dict.fromkeys((f"5 schemes.SCHEME.{key}" for key in ("algorithms", "audience", "issuer", "keys")), _PRESENTED),
    "5 schemes.SCHEME.credential": _PRESENTED,
    **dict.fromkeys((f"5 schemes.SCHEME.type: {key}" for key in ("mutualTLS", "oauth2", "openIdConnect")), _PRESENTED),
    "6 delivery.envelope": _OF_SERVER,
    "6 delivery.stream: websocket": _OF_SERVER,
    "6 delivery.webhooks": _OF_SERVER,
    "8 pages.by: none": "it is said as `pages: none`",
}
"""What no random contract says: a key with all that is said under it, a word or a verb; and why."""


def is_silent(row: str) -> bool:
    """Whether an entry covers it."""
    return any(row == each or row.startswith((f"{each}.", f"{each}: ")) for each in SILENT)
