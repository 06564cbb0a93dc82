"""Part 8: limits; and the page bounds of one list."""

from __future__ import annotations

from dataclasses import fields

from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.declaration import Each, One, When, adds, asked, if_asked, named, restricts, says
from ninefold.language.expressions import Expression, expression
from ninefold.language.fact import Fact, Name, StatedNone, text_of, value_of
from ninefold.language.key import Kind
from ninefold.language.question import Question
from ninefold.language.reading import Reading, Slot
from ninefold.syntax.nodes import Node, Scalar

# fmt: off

LIMITS = Question(
    "limits", 8, "which limits hold", "leaves out",
    "rates, body sizes and timeouts; blocks the endpoints that take idempotency keys, and lists",
    asked="if the part shows nothing")
RATES = Question(
    "rates", 8, "which rates hold, or none", "leaves out", "rates", left_out="rates: callers are held to none")
RATE = Question("rate", 8, "what {} allows", "leaves out", "that rate", "N", left_out="the rate {}", one_by_one=True)
BODY_SIZE = Question(
    "body size", 8, "the largest body, or none", "leaves out", "the bound", asked="if an endpoint has a body",
    left_out="its bound: a body may have 1 MiB")
TIMEOUT = Question(
    "timeout", 8, "after what time a request is given up, or none", "leaves out", "timeouts",
    left_out="timeouts: no request is given up")
KEYS = Question(
    "idempotency keys kept", 8, "how long idempotency keys are kept", "blocks", "the endpoints that take keys",
    asked="if an endpoint takes keys")
PAGES = Question("pages", 8, "the page bounds of {}, or none", "blocks", "E", "E", "of each list")

COUNTED = shapes.Word(("caller", "address"))
CALLED = {
    **dict.fromkeys(("ip", "ip address", "client ip", "host", "remote address"), "address"),
    **dict.fromkeys(("user", "account", "key", "token", "client"), "caller"),
}
"""What others call what a rate counts."""


def counted(r: Reading, node: Node, slot: Slot) -> Name | Expression | None:
    """`caller`, `address`, or an expression."""
    if isinstance(node, Scalar) and any(node.says(word) for word in COUNTED.words):
        return Name(node.text, node.span)
    if isinstance(node, Scalar) and (meant := CALLED.get(node.text.casefold())) is not None:
        leaves.wrong_word(r, node, slot.called, COUNTED.words, meant)
        return None
    return expression(r, node, slot)


NO_RATE = "the rate is not applied"


@dataclass(frozen=True, slots=True)
class Rate:
    """`of` is the word `caller` or `address`, or an expression. `per` in microseconds."""

    name: str
    span: Span
    of: Fact[Name | Expression] | None = asked(
        "of", shapes.OneOf((COUNTED, shapes.Expression(shapes.Sight.NONE))),
        "What is counted: each caller, each address, or each value of an expression over the request.", RATE, NO_RATE,
        asks="what {} counts: each `caller`, each `address`, or the values of an expression", read=counted)
    allow: Fact[int] | None = asked(
        "allow", shapes.Integer(1), "How many requests.", RATE, NO_RATE,
        asks="how many requests {} allows", main=True, told="allows", order="more", promise="raise a limit")
    per: Fact[int] | None = asked(
        "per", shapes.Duration(), "In how long.", RATE, NO_RATE, asks="in how long {} allows so many requests",
        order="less", promise="raise a limit")
    algorithm: Fact[Name] | None = asked(
        "algorithm", shapes.Word(("fixed window", "sliding window", "token bucket")), "How it is counted.",
        RATE, NO_RATE, asks="by which `algorithm` {} counts", told="by")
    burst: Fact[int] | None = asked(
        "burst", shapes.Integer(1), "How many requests may come at once.", RATE, NO_RATE,
        when=says("the algorithm is `token bucket`", "algorithm", "token bucket"), says_none=True,
        asks="how many requests {} allows at once, its `burst`, or none", order="more", promise="raise a limit")
    endpoints: Fact[tuple[Name, ...]] | None = restricts(
        "endpoints", shapes.Names("an endpoint", alone=True), "The endpoints that it counts.",
        "It counts all endpoints.", order="all", promise="raise a limit")


PAGED = "lists that this would bound are not served"
OF_A_LIST = When("a list needs it")
THERE_ARE = says("there are pages", "by", "cursor", "offset", "page", if_open=True)
COUNTED_FROM = When(
    "pages are reached by an offset or by their number, and `at` is not `none`",
    lambda pages: reached(pages) in ("offset", "page") and not isinstance(pages.at, StatedNone))
PARAMETER = shapes.Name("a query parameter")


@dataclass(frozen=True, slots=True)
class Pages:
    """The page bounds of lists, or of one list. `maximum: none`: no bound. `at: none`: there is but the first page."""

    span: Span
    by: Fact[Name] | None = asked(
        "by", shapes.Word(("cursor", "offset", "page", "none")),
        "How the next page is reached. It is by a cursor, an offset or its number; `none`: the list is given whole.",
        PAGES, PAGED, when=OF_A_LIST, says_none=True, told="pages by", side="gives")
    default: Fact[int] | None = asked(
        "default", shapes.Integer(1), "The size of a page where the request asks for none.", PAGES, PAGED,
        when=THERE_ARE, told="rows of a page whose size is not given", meanings=("pages and filters",), side="gives",
        order="choice")
    minimum: Fact[int] | None = adds(
        "minimum", shapes.Integer(0), "The smallest size that may be asked for; 0: no rows, and `page.total`.",
        "It is 1.", told="fewest rows of a page", meanings=("pages and filters",),
        side="takes", order="less", promise="raise a limit", amount=1)
    maximum: Fact[int] | None = asked(
        "maximum", shapes.Integer(1), "The greatest size that may be asked for; `none` for any.", PAGES, PAGED,
        when=THERE_ARE, says_none=True, told="most rows of a page", meanings=("pages and filters",),
        side="takes", order="more", promise="raise a limit")
    clamps: Fact[bool] | None = adds(
        "clamps", shapes.Boolean(), "Whether a size beyond these is taken as the nearest.",
        "It is `invalid`.", told="a size beyond these is", words=lambda clamps: "taken as the nearest" if clamps
        else "invalid", meanings=("pages and filters",), side="takes", promise="raise a limit", planned=True)
    first: Fact[int] | None = asked(
        "first", shapes.Integer(0, 1), "The number of the first page, or of the first row where pages are reached by "
        "an offset.", PAGES, PAGED, when=COUNTED_FROM, told="counted from", meanings=("pages and filters",),
        side="gives")
    size: Fact[Name] | None = adds(
        "size", PARAMETER, "The query parameter that gives the size of a page.", "Every page has the default size.",
        says_none=True, told="the query parameter of the size of a page", meanings=("pages and filters",),
        side="takes", promise="add an optional parameter")
    at: Fact[Name] | None = asked(
        "at", PARAMETER, "The query parameter that says which page. It gives its cursor, its offset or its number; "
        "`none`: there is but the first.", PAGES, PAGED, when=THERE_ARE, says_none=True,
        told="the query parameter that says which page", meanings=("pages and filters",), side="takes")


def reached(pages: Pages) -> str:
    """How pages are reached, as far as it is said: `cursor`, `offset`, `page` or `none`."""
    by = text_of(pages.by)
    return "none" if isinstance(pages.by, StatedNone) else by or ""


def narrowed(own: Pages, shared: Pages) -> Pages:
    """The bounds of one list: its own, and those of part 8 for what it does not say."""
    stated = {each.name: value for each in fields(own) if (value := getattr(own, each.name)) is not None}
    return replace(shared, **stated)


@dataclass(frozen=True, slots=True)
class Limits:
    """`body_size` in bytes; `timeout` and `keys_kept` in microseconds."""

    rates: Fact[tuple[Rate, ...]] | None = asked(
        "rates",
        Each(Rate,
             named("RATE", Kind.RESTRICTS, "A rate: a request beyond it is `too many requests`.", "It is not applied."),
             "rates to what they allow"),
        "How often callers may call.", RATES, "no rate is applied", says_none=True)
    headers: Fact[tuple[Name, ...]] | None = adds(
        "rate headers", shapes.Names("a response header"),
        "Headers that tell a caller of the rates. They are `RateLimit-Policy`, `RateLimit`, `Retry-After`, or names of "
        "your own that end in `-Policy`, `-Limit`, `-Remaining` or `-Reset`.",
        "No header tells of them.", read=leaves.headers, side="gives", promise="add a response header")
    body_size: Fact[int] | None = asked(
        "body size", shapes.Size(), "The largest request body; a larger one is `too large`.", BODY_SIZE,
        "a body may have 1 MiB", when=if_asked(BODY_SIZE), says_none=True, sentence="a body has at most {}",
        order="more", promise="raise a limit", planned=True)
    pages: Fact[Pages] | None = asked(
        "pages", One(Pages), "How much of a list one response holds; `none` for all of it.", PAGES, PAGED,
        when=When("there is a list"), says_none=True)
    timeout: Fact[int] | None = asked(
        "timeout", shapes.Duration(), "How long a request may take; then it is `timed out`.", TIMEOUT,
        "no time is limited", says_none=True, sentence="a request takes at most {}",
        order="more", promise="raise a limit", planned=True)
    keys_kept: Fact[int] | None = asked(
        "idempotency keys kept", shapes.Duration(), "How long an idempotency key and its response are kept.", KEYS,
        "endpoints that take keys are not served", when=if_asked(KEYS), says_none=True,
        sentence="idempotency keys are kept for {}", order="more", promise="raise a limit", planned=True)


def applying(limits: Limits, key: str) -> tuple[Rate, ...]:
    """The rates that count requests to an endpoint: those that name it, or name none."""
    return tuple(
        each
        for each in value_of(limits.rates) or ()
        if each.endpoints is None or key in {name.text for name in value_of(each.endpoints) or ()}
    )
