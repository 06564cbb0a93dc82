"""Part 4: the responses of an endpoint, by status, or by outcome and then by status; and what scripts of other origins
may do with them."""

from __future__ import annotations

import re
from typing import Final

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import NOT_A_STATUS, NOT_IN_FORM
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.declaration import When, adds, asked, named
from ninefold.language.expressions import Template, template
from ninefold.language.fact import Fact, Name, Shown
from ninefold.language.key import Kind
from ninefold.language.question import Question
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.language.verbs import OUTCOMES
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, is_word

# fmt: off

RESPONSES = Question("responses", 4, "the responses of {}", "blocks", "E", "E")

MORE_HEADERS = "add a response header"
"""What part 9 calls one header more."""

CORS = Question(
    "cors", 4, "what scripts of other origins may do", "leaves out", "CORS", asked="if `cors` is stated",
    left_out="CORS: scripts of other origins see no response", one_by_one=True)

SHOWN = shapes.OneOf((shapes.Template(shapes.Sight.CALLERS), shapes.Word(("stream",))))
OF_AN_OUTCOME = shapes.MappingOf("statuses to what is shown")
STATUS: Final = "STATUS"
OF_RESPONSES: Final = (STATUS, "OUTCOME")
"""What stands in `responses`: numbers, and words."""

RESPONSE_ROWS = (
    named(STATUS, Kind.ASKED, "What a response with that status shows.", "A gap: E is not served.", SHOWN, RESPONSES),
    named("OUTCOME", Kind.ASKED_WHEN, "The response of an outcome of `put` or `delete`: "
          f"{', '.join(f'`{each}`' for each in OUTCOMES)}. Those with one answer share a key: `created or unchanged`.",
          "A gap: E is not served. Else the outcome is refused, or is not there.", OF_AN_OUTCOME, RESPONSES,
          when=When("E puts and states no other, or when it is the `deleted` beside `absent`")),
    named("OUTCOME.STATUS", Kind.ASKED, "What that response shows.", "A gap: E is not served.", SHOWN, RESPONSES),
)

# fmt: on


@dataclass(frozen=True, slots=True)
class Response:
    """`outcome` is set where an operation has several good ends (`created`, `unchanged`).
    The content is a template, `none`, or the keyword `stream`."""

    status: int
    span: Span
    content: Fact[Template | Name]
    outcome: Name | None = None

    @property
    def shows_content(self) -> bool:
        """Whether it holds a template."""
        return isinstance(self.content, Shown) and not isinstance(self.content.value, Name)


_STATUS = regex.compile(r"[1-9][0-9]{2}")

OR = " or "
"""Between outcomes that have one answer."""


def read_responses(r: Reading, node: Node, slot: Slot) -> tuple[Response, ...] | None:
    if not isinstance(node, Mapping):
        text = node.text if isinstance(node, Scalar) else ""
        r.wrong_shape(node, slot, help=(f"say with which status: `{{200: {text}}}`",) if text else ())
        return None
    found: list[Response] = []
    for entry in node.entries:
        outcomes = entry.name.split(OR)
        if not any(each in OUTCOMES for each in outcomes):
            found += response(r, entry, None)
        elif isinstance(entry.value, Mapping):
            named = _outcomes(r, entry, outcomes)
            with r.proposing(entry.proposed or entry.value.proposed):
                answers = [each for below in entry.value.entries for each in response(r, below, None)]
            found += (replace(each, outcome=outcome) for outcome in named for each in answers)
        elif r.states(entry.value, entry.proposed):
            r.wrong_shape(entry.value, Slot(entry.name, OF_AN_OUTCOME))
    return tuple(found)


def _outcomes(r: Reading, entry: Entry, written: list[str]) -> list[Name]:
    """The outcomes that share an answer: `created or unchanged`."""
    for each in written:
        if each not in OUTCOMES:
            help = r.did_you_mean(each, OUTCOMES) or (f"outcomes are {', '.join(f'`{one}`' for one in OUTCOMES)}",)
            r.say(NOT_A_STATUS, f"{quoted(each)} is no outcome", Label(entry.key.span), help=help)
    return [Name(each, entry.key.span) for each in dict.fromkeys(written) if each in OUTCOMES]


def response(r: Reading, entry: Entry, outcome: Name | None) -> tuple[Response, ...]:
    """The response of one status; none where the key is no status."""
    written = entry.name
    slot = Slot(written, SHOWN)
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
    if is_word(node, "stream"):
        return Name("stream", node.span)
    return template(r, node, slot)


# What scripts of other origins may do (CORS)

_ORIGIN = regex.compile(r"[a-z][a-z0-9+.-]*://(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::[0-9]{1,5})?")
"""An origin as browsers write it: scheme, host and port, in lower case and without a path (RFC 6454 6.2)."""


def origins(r: Reading, node: Node, slot: Slot) -> Name | tuple[Name, ...] | None:
    """The word `all`, or a list."""
    if not isinstance(node, Sequence):
        return leaves.word(r, node, slot)
    found = leaves.names(r, node, slot)
    for each in found or ():
        _check_origin(r, each)
    return found


def _check_origin(r: Reading, written: Name) -> None:
    if _ORIGIN.fullmatch(written.text):
        return
    meant = re.match(r"[a-z][a-z0-9+.-]*://[^/?#\s]+", written.text.lower())
    r.say(
        NOT_IN_FORM,
        f"{quoted(written.text)} is not an origin",
        Label(written.span),
        help=("write `origins: all`",)
        if written.text == "*"
        else (f"write `{meant[0]}`" if meant else "an origin is a scheme and a host: `https://shop.example`",),
    )


# fmt: off

WITHOUT_CORS = "no response has a CORS header"


@dataclass(frozen=True, slots=True)
class Cors:
    """`origins` is the word `all`, or a list. `max_age`: microseconds."""

    span: Span
    origins: Fact[Name | tuple[Name, ...]] | None = asked(
        "origins",
        shapes.OneOf((shapes.Word(("all",)), shapes.ListOf(shapes.Text("an origin such as `https://shop.example`")))),
        "The origins whose scripts may, or `all`.", CORS, WITHOUT_CORS, asks="scripts of which origins may see "
        "responses: their `origins`, or `all`", read=origins, main=True, told="origins")
    headers: Fact[tuple[Name, ...]] | None = adds(
        "headers", shapes.Names("a request header"), "Request headers that scripts may send.",
        "Those that CORS always allows.", read=leaves.headers, told="request headers that scripts may send",
        promise="relax a restriction")
    exposed: Fact[tuple[Name, ...]] | None = adds(
        "exposed", shapes.Names("a response header"), "Response headers that scripts may read.",
        "Those that CORS always exposes.", read=leaves.headers, told="response headers that scripts may read",
        side="gives", promise=MORE_HEADERS)
    credentials: Fact[bool] | None = adds(
        "credentials", shapes.Boolean(), "Whether cookies and credentials may come along.", "They may not.",
        sentence="cookies and credentials may come along", promise="relax a restriction")
    max_age: Fact[int] | None = adds(
        "max age", shapes.Duration(), "How long a browser may keep the answer to a preflight.",
        "As long as the browser's own rule says.", sentence="a browser may keep the answer to a preflight for {}",
        order="choice", promise="relax a restriction")
    preflight: Fact[int] | None = asked(
        "preflight", shapes.Integer(200, 299), "The status of an answer to OPTIONS.", CORS, WITHOUT_CORS,
        asks="the status of an answer to OPTIONS, `preflight`", told="status of an answer to OPTIONS", side="gives")
