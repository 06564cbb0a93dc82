"""The keys of part 8: limits. Page bounds are said for all lists here, and for one list in part 4."""

from __future__ import annotations

from ninefold.vocabulary.key import Key, adds, asked, asked_when, falling_back, restricts
from ninefold.vocabulary.shapes import (
    Duration,
    Expression,
    Integer,
    MappingOf,
    Members,
    Name,
    Names,
    OneOf,
    Size,
    Word,
)

RATES = "rates"
RATE = "rate"
BODY_SIZE = "body size"
TIME_OUTS = "time-outs"
KEPT = "idempotency keys"
PAGES = "pages"


def pages(part: int, path: str) -> tuple[Key, ...]:
    """The rows for page bounds that stand at `path`."""
    gap = "A gap: lists that this would bound are not served."
    return (
        asked(part, path, Members(), PAGES, "How much of a list one response holds; `none` for all of it.", gap,
              says_none=True),
        asked_when(part, f"{path}.default", Integer(1), PAGES, "there are pages",
                  "The size of a page where the request asks for none.",
                  "A gap: lists that this would bound are not served."),
        asked_when(part, f"{path}.largest", Integer(1), PAGES, "there are pages",
                  "The greatest size that may be asked for; `none` for any.",
              "A gap: lists that this would bound are not served.", says_none=True),
        asked(part, f"{path}.by", Word(("cursor", "offset", "page", "none")), PAGES,
              "How the next page is reached: by a cursor, by an offset, by its number, or not at all (the list is "
              "given whole).", gap, says_none=True),
        asked_when(part, f"{path}.parameters", Members(), PAGES, "there are pages", "The query parameters of paging.",
                  "A gap: lists that this would bound are not served."),
        adds(part, f"{path}.parameters.size", Name("a query parameter"), "The one that gives the size of a page.",
             "Every page has the default size."),
        asked_when(part, f"{path}.parameters.next", Name("a query parameter"), PAGES, "pages are reached by cursor",
                  "The one that gives the cursor.",
              "A gap: lists that this would bound are not served."),
        asked_when(part, f"{path}.parameters.start", Name("a query parameter"), PAGES, "pages are reached by offset",
                  "The one that gives the offset.",
              "A gap: lists that this would bound are not served."),
        asked_when(part, f"{path}.parameters.number", Name("a query parameter"), PAGES,
                  "pages are reached by their number, and no `index` is there",
              "The one that gives the number of a page, from 1.",
              "A gap: lists that this would bound are not served."),
        asked_when(part, f"{path}.parameters.index", Name("a query parameter"), PAGES,
                  "pages are reached by their number, and no `number` is there",
              "The one that gives the number of a page, from 0.",
              "A gap: lists that this would bound are not served."),
    )  # fmt: skip


def own_pages(path: str) -> tuple[Key, ...]:
    """The same for one list, key by key instead of those of all lists."""
    return tuple(falling_back(key, 8, key.path.replace(path, "pages", 1)) for key in pages(4, path))


KEYS: tuple[Key, ...] = (
    asked(8, "rates", MappingOf("rates to what they allow"), RATES, "How often callers may call.",
          "A gap: no rate is applied.", says_none=True),
    restricts(8, "rates.RATE", Members(), "A rate: a request beyond it is `rate limited`.", "It is not applied."),
    asked(8, "rates.RATE.of", OneOf((Word(("caller", "address")), Expression())), RATE,
          "What is counted: each caller, each address, or each value of an expression over the request.",
          "A gap: the rate is not applied."),
    asked(8, "rates.RATE.allow", Integer(1), RATE, "How many requests.", "A gap: the rate is not applied."),
    asked(8, "rates.RATE.per", Duration(), RATE, "In how long.", "A gap: the rate is not applied."),
    asked(8, "rates.RATE.algorithm", Word(("fixed window", "sliding window", "token bucket", "gcra")), RATE,
          "How it is counted.", "A gap: the rate is not applied."),
    asked_when(8, "rates.RATE.burst", Integer(1), RATE, "the algorithm is `token bucket` or `gcra`",
          "How many requests may come at once (asked for `token bucket` and `gcra`).",
          "A gap: the rate is not applied.", says_none=True),
    restricts(8, "rates.RATE.endpoints", Names("an endpoint"), "The endpoints that it counts.",
              "It counts all endpoints."),
    adds(8, "headers", Names("a response header"),
         "Headers that tell a caller of the rates: `RateLimit-Policy`, `RateLimit`, `Retry-After`, or names of your "
         "own that end in `-Policy`, `-Limit`, `-Remaining` or `-Reset`.",
         "No header tells of them."),
    asked(8, "sizes", Members(), BODY_SIZE, "How large things may be.", "A gap: no size is limited.", says_none=True),
    asked(8, "sizes.body", Size(), BODY_SIZE, "The largest request body; a larger one is `too large`.",
          "A gap: no size is limited.", says_none=True),
    *pages(8, "pages"),
    asked(8, "time-outs", Members(), TIME_OUTS, "How long things may take.", "A gap: no time is limited.",
    says_none=True),
    asked(8, "time-outs.request", Duration(), TIME_OUTS, "How long a request may take; then it is `timed out`.",
          "A gap: no time is limited.", says_none=True),
    asked(8, "idempotency keys", Members(), KEPT, "What holds of idempotency keys.",
          "A gap: endpoints that take keys are not served."),
    asked(8, "idempotency keys.kept", Duration(), KEPT, "How long a key and its response are kept.",
          "A gap: endpoints that take keys are not served.", says_none=True),
)  # fmt: skip
