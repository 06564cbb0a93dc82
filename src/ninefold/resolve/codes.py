"""The diagnostics of resolving: what is wrong with a document that reads well, NF0301 to NF0325."""

from __future__ import annotations

from dataclasses import replace

from ninefold.diagnostics.diagnostic import Code, Severity


def _error(id: str, title: str, says: str, wrong: str, right: str) -> Code:
    """An error and its explanation, with a wrong and a corrected example."""
    example = "{}:\n\n```yaml\n{}\n```\n"
    return Code(
        id, Severity.ERROR, title,
        "\n".join((says + "\n", example.format("Wrong", wrong), example.format("Right", right))),
    )  # fmt: skip


UNKNOWN_KEY = _error(
    "NF0301", "A key is not in the language",
    "Each mapping has its own closed list of keys; `docs/language.md` has the table. A fact under any other key would "
    "be ignored, and nothing that is written is ignored.",
    "order:\n  identifer: id", "order:\n  identifier: id",
)  # fmt: skip

NOT_BUILT = _error(
    "NF0302", "A key is not built yet where it stands",
    "What an older version had is said by what the document says, changed step by step. That it had other cases than "
    "the version above it is not read; a contract that said so would not do what it says.",
    "- {change: POST /payments, endpoint: {cases: {by: request.body.kind, card: {body: [number]}}}}",
    "- {change: POST /payments, endpoint: {errors: {conflict: taken}}}",
)  # fmt: skip

WRONG_SHAPE = _error(
    "NF0303", "A value has the wrong shape",
    "The key is right, and what stands after it is not what such a value looks like: a list where a mapping is meant, "
    "text where a number is meant, or nothing at all. Where the service has none of it, the value is `none`.",
    "rates:\n  calls: {allow: many}", "rates:\n  calls: {allow: 600}",
)  # fmt: skip

WRONG_WORD = _error(
    "NF0304", "A word is not one of a closed list",
    "Some values are words of the language. The help names the words that there are.",
    "pages: {by: cursors}", "pages: {by: cursor}",
)  # fmt: skip

NOT_A_DURATION = _error(
    "NF0305", "This is not a duration",
    "A duration is written as ISO 8601 says: `PT30M` is thirty minutes, `P7D` seven days, `P2W` two weeks, `PT1.5S` "
    "one and a half seconds. Months and years are not used, as they have no fixed length.",
    "time-outs: {request: 10s}", "time-outs: {request: PT10S}",
)  # fmt: skip

NOT_A_SIZE = _error(
    "NF0306", "This is not a size",
    "A size is a whole number, a space, and a unit: `B`, `KiB` (1024 bytes), `MiB` or `GiB`. `KB` means 1000 bytes to "
    "some and 1024 to others.",
    "sizes: {body: 64KB}", "sizes: {body: 64 KiB}",
)  # fmt: skip

NOT_A_DATE = _error(
    "NF0307", "This is not a date",
    "A date is written as RFC 3339 says: year, month and day, `2026-06-01`, and the calendar has it.",
    "sunset: 1.6.2027", 'sunset: "2027-06-01"',
)  # fmt: skip

NOT_AN_ENDPOINT = _error(
    "NF0308", "This is not an endpoint",
    "An endpoint is a method and a path: `GET /orders/{id}`. The methods are GET, POST, PUT, PATCH and DELETE; HEAD "
    "and OPTIONS come from HTTP itself. A segment is literal, or one name in braces: a field of the resource, or a "
    "path through references to one (`{article.slug}`).",
    "GET /orders/:id: {does: read order}", "GET /orders/{id}: {does: read order}",
)  # fmt: skip

SAME_ROUTE = _error(
    "NF0309", "Two endpoints have the same method and path",
    "Names in braces stand for any value, so two paths that differ in their names alone are the same path. A literal "
    "segment beside a name is no conflict: it wins.",
    "GET /articles/{id}: {does: read article}\nGET /articles/{slug}: {does: read article}",
    "GET /articles/{id}: {does: read article}\nGET /articles/by-slug/{slug}: {does: read article}",
)  # fmt: skip

NOT_A_NAME = _error(
    "NF0310", "This cannot be a name",
    "Resources, fields, views, transitions and shared types are read in expressions, so their names are identifiers "
    "of CEL: letters, digits and underscores, and no digit first.",
    "order-line:\n  identifier: id", "order_line:\n  identifier: id",
)  # fmt: skip

RESERVED_NAME = _error(
    "NF0311", "A name is taken by the language",
    "The keywords of CEL (`in`, `true`, `false`, `null`) cannot be read as names, and its reserved words (`package`, "
    "`return` …) only behind a dot, as fields; a resource cannot have the name of what every expression "
    "can read (`caller`, `now` …), nor `types` or `subscription`; a scheme cannot be `any` or `anyone`.",
    "request:\n  identifier: id", "inquiry:\n  identifier: id",
)  # fmt: skip

UNDECLARED = _error(
    "NF0312", "Nothing declares this name",
    "The name refers to something that the contract should state elsewhere (a resource, a field, a state, an error "
    "code, a scheme, an endpoint …) and does not.",
    "order:\n  identifier: id\n  fields: {id: {type: string}}\n  required: [notes]",
    "order:\n  identifier: id\n  fields: {id: {type: string}, notes: {type: string}}\n  required: [notes]",
)  # fmt: skip

NOT_A_SCHEMA = _error(
    "NF0313", "A keyword of JSON Schema has a wrong value",
    "A field is a JSON Schema of draft 2020-12, and its keywords are as that draft says. `$ref` refers to a shared "
    "type alone, `#/types/NAME`.",
    "name: {type: string, minLength: -1}", "name: {type: string, minLength: 1}",
)  # fmt: skip

KEYWORD_NOT_USED = _error(
    "NF0314", "A keyword of JSON Schema is not part of the language",
    "JSON Schema has keywords for things that a contract says in one other place, or that only tools ask for. The help "
    "says what is written instead.",
    "status: {type: string, default: new}", "status: {type: string, on create: \"'new'\"}",
)  # fmt: skip

NO_ANSWER = _error(
    "NF0330", "`none` is no answer to what is asked here",
    "Of what the service may do without, `none` says that there is none. Of what it cannot do without it would leave "
    "the answer to nobody: such a question is answered, or left open by `not shown`.",
    "key: {type: apiKey, in: none, name: X-Key}", "key: {type: apiKey, in: header, name: X-Key}",
)  # fmt: skip

SLOW_PATTERN = Code(
    "NF0641", Severity.NOTE, "A pattern takes the longer, the more a client writes",
    "A regular expression is matched in time in proportion to the text. One with look-around (`(?=...)`) or a "
    "back-reference (`\\1`) is matched by trying, which may take a multiple of it: milliseconds a text. It gives "
    "up after 10,000 steps at one place of the text, and then does not match; nor does a text of more than 1,000 "
    "characters. `maxLength` of at most 1,000 beside it says so: a text that is longer is refused without it.\n\n"
    "Wrong:\n\n```yaml\npassword: {type: string, pattern: '^(?=.*[0-9]).{8,}$'}\n```\n\n"
    "Right:\n\n```yaml\npassword: {type: string, pattern: '^(?=.*[0-9]).{8,}$', maxLength: 100}\n```\n",
)  # fmt: skip

BARE_WORD = _error(
    "NF0315", "`none` stands where it says nothing",
    "Unquoted, `none` says that the service has none of something. As an item of a list it says nothing: the item is "
    "left out, or, where the text is meant, quoted.",
    "kind: {type: string, enum: [none, some]}", 'kind: {type: string, enum: ["none", some]}',
)  # fmt: skip

NOT_IN_FORM = _error(
    "NF0316", "A media type, a header's name, a path or an origin is not in its form",
    "A media type is `type/subtype` (RFC 9110, 8.3.1), a header's name is a token (5.1), and a path begins with `/` "
    "and has no empty segment. An origin is a scheme, a host and a port that is not the scheme's own (RFC 6454, 6.2).",
    "requests: {media type: json}", "requests: {media type: application/json}",
)  # fmt: skip

NOT_AN_ACTION = _error(
    "NF0317", "This is not something that an endpoint can do",
    "What an endpoint does is one of a closed list (`create order`, `sign in user`, `compute` …) or a transition of a "
    "resource (`place order`).",
    "POST /orders: {does: make order}", "POST /orders: {does: create order}",
)  # fmt: skip

NOT_A_STATUS = _error(
    "NF0318", "This is not the status of a good response",
    "The responses of an endpoint are its good ends, with a status from 200 to 399, or an outcome (`created`, "
    "`unchanged` …) that has them. Errors and their statuses are in part 7.",
    "GET /orders/{id}: {does: read order, responses: {200: order, 404: none}}",
    "GET /orders/{id}: {does: read order, responses: {200: order}}",
)  # fmt: skip

CONTRADICTION = _error(
    "NF0319", "Two keys do not go together",
    "One fact is said in one way. A guard is `when` and `otherwise`, or an entry of `guards`; not both.",
    'PATCH /orders/{id}: {does: update order, when: "order.open", guards: [{when: "order.total > 0"}]}',
    'PATCH /orders/{id}: {does: update order, guards: [{when: "order.open"}, {when: "order.total > 0"}]}',
)  # fmt: skip

NOT_A_CHANGE = _error(
    "NF0320", "This is not a step back to an older version",
    "Each step is one of `{rename: order.note, to: comment}`, `{remove: order.updated_at}`, `{add: order.memo, …}` and "
    "`{change: order.total, …}`; it says what the older version has instead.",
    "changes:\n  - {rename: order.note}", "changes:\n  - {rename: order.note, to: comment}",
)  # fmt: skip

SAME_NAME = _error(
    "NF0321", "A name is given twice",
    "Within one list, or one resource, each name stands once: a back-reference is read like a field, and cannot have "
    "the name of one.",
    "required: [email, name, email]", "required: [email, name]",
)  # fmt: skip

TOO_MANY_SCHEMES = _error(
    "NF0322", "A contract has too many schemes",
    "There are at most 32 schemes. `any` stands for all of them at every endpoint.",
    "schemes: {key1: {…}, key2: {…}, …, key33: {…}}",
    "schemes: {key: {type: http, scheme: bearer, matches: client.key}}",
)  # fmt: skip

WITHOUT_GUARD = replace(
    _error(
        "NF0323", "A guard or an invariant has no condition",
        "`otherwise` is the code of a request for which `when` does not hold. Without a condition every request is "
        "admitted, and none ends in that code.",
        "PATCH /orders/{id}: {does: update order, otherwise: not_a_draft}",
        'PATCH /orders/{id}: {does: update order, when: "order.open", otherwise: not_a_draft}',
    ),
    severity=Severity.WARNING,
)  # fmt: skip

NOT_AN_EFFECT = _error(
    "NF0326", "This is no effect",
    "Each item of `then` does one thing to one row of another resource: `create`, `update` or `delete` with the "
    "resource, or `take` with a transition and its resource. Which row, `row` says, unless it is a new one.",
    "POST /orders: {does: create order, then: [{update: customer, create: entry}]}",
    "POST /orders: {does: create order, then: [{update: customer, row: order.customer, sets: {orders: \"1\"}}]}",
)  # fmt: skip

NOT_JSON = _error(
    "NF0327", "A body would not be JSON",
    "The bodies of requests, responses and errors are JSON. Their media type is `application/json`, or one that ends "
    "in `+json` (RFC 6839, section 3.1). Requests may besides be forms: `application/x-www-form-urlencoded`.",
    "requests: {media type: multipart/form-data}", "requests: {media type: application/json}",
)  # fmt: skip

TERM_TOO_EARLY = _error(
    "NF0324", "A term reads one that is not written before it",
    "Terms are read from top to bottom, and each may read those above it: so no term is made of itself.",
    "terms:\n  large: total > 100\n  total: order.price * order.quantity",
    "terms:\n  total: order.price * order.quantity\n  large: total > 100",
)  # fmt: skip

INCLUDED_CYCLE = _error(
    "NF0325", "There is no end to what a resource includes",
    "A resource takes over the fields of those that it includes, and of those that they include: there is no end to it "
    "where they lead back to it; and few need more than two or three, one including the next.",
    "task: {includes: note}\nnote: {includes: task}", "task: {includes: note}\nnote: {fields: {text: {type: string}}}",
)  # fmt: skip

NOT_WRITTEN = _error(
    "NF0328", "The log of events is only read",
    "`event` is the log: what the kinds of part 6 say arises, and nothing else, is written to it, once and for all. "
    "Endpoints can `read event` and `list event`. A contract that has a resource `event` of its own means that one.",
    "DELETE /events/{id}: {does: delete event}", "GET /events/{id}: {does: read event}",
)  # fmt: skip

CODES = (
    UNKNOWN_KEY,
    NOT_BUILT,
    WRONG_SHAPE,
    WRONG_WORD,
    NOT_A_DURATION,
    NOT_A_SIZE,
    NOT_A_DATE,
    NOT_AN_ENDPOINT,
    SAME_ROUTE,
    NOT_A_NAME,
    RESERVED_NAME,
    UNDECLARED,
    NOT_A_SCHEMA,
    KEYWORD_NOT_USED,
    SLOW_PATTERN,
    BARE_WORD,
    NO_ANSWER,
    NOT_IN_FORM,
    NOT_AN_ACTION,
    NOT_A_STATUS,
    CONTRADICTION,
    NOT_A_CHANGE,
    SAME_NAME,
    TOO_MANY_SCHEMES,
    WITHOUT_GUARD,
    TERM_TOO_EARLY,
    INCLUDED_CYCLE,
    NOT_AN_EFFECT,
    NOT_JSON,
    NOT_WRITTEN,
)
