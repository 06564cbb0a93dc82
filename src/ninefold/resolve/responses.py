"""The responses of an endpoint: by status, or by outcome and then by status."""

from __future__ import annotations

import re

from ninefold.contract.endpoints import Response
from ninefold.diagnostics.diagnostic import Label
from ninefold.language.codes import NOT_A_STATUS
from ninefold.language.expressions import Template, template
from ninefold.language.fact import Fact, Name
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.language.verbs import OUTCOMES
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar
from ninefold.vocabulary import key_at

_STATUS = re.compile(r"[1-9][0-9]{2}")


def responses(r: Reading, node: Node, slot: Slot) -> tuple[Response, ...] | None:
    if not isinstance(node, Mapping):
        text = node.text if isinstance(node, Scalar) else ""
        r.wrong_shape(node, slot, help=(f"say with which status: `{{200: {text}}}`",) if text else ())
        return None
    found: list[Response] = []
    for entry in node.entries:
        if entry.name not in OUTCOMES:
            found += response(r, entry, None)
        elif isinstance(entry.value, Mapping):
            outcome = Name(entry.name, entry.key.span)
            with r.proposing(entry.proposed or entry.value.proposed):
                found += (each for below in entry.value.entries for each in response(r, below, outcome))
        elif r.states(entry.value, entry.proposed):
            r.wrong_shape(entry.value, Slot(entry.name, key_at(4, "ENDPOINT.responses.OUTCOME").shape))
    return tuple(found)


def response(r: Reading, entry: Entry, outcome: Name | None) -> tuple[Response, ...]:
    """The response of one status; none where the key is no status."""
    written = entry.name
    slot = Slot(written, key_at(4, "ENDPOINT.responses.STATUS").shape)
    content: Fact[Template | Name] = r.fact(entry.value, slot, shown, entry.proposed)
    if _STATUS.fullmatch(written) and 200 <= int(written) <= 399:
        return (Response(int(written), entry.key.span, content, outcome),)
    if _STATUS.fullmatch(written):
        help: tuple[str, ...] = ("errors and their statuses are stated in part 7",) if int(written) >= 400 else ()
    else:
        help = r.did_you_mean(written, OUTCOMES) or ("write a status such as `200`",)
    r.say(NOT_A_STATUS, f"{quoted(written)} is not the status of a good response", Label(entry.key.span), help=help)
    return ()


def shown(r: Reading, node: Node, slot: Slot) -> Template | Name | None:
    """A template or a view, or the word `stream`."""
    if isinstance(node, Scalar) and node.says("stream"):
        return Name("stream", node.span)
    return template(r, node, slot)
