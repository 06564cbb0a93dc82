"""The blank contract that `ninefold new` writes: nine parts, none of them shown, each with what to write there.

What is to be written stands in HTML comments, which are neither facts nor prose: read back as it is, the blank
contract has exactly nine gaps.
"""

from __future__ import annotations

import textwrap

from ninefold.contract.questions.question import QUESTIONS
from ninefold.language.limits import LIMITS
from ninefold.language.question import Question
from ninefold.syntax.nodes import NUMBERED_TITLES

WIDTH = 110

INTRODUCTION = """\
<!--
A service contract in nine parts. What stands in blocks fenced `yaml` is a fact, and in force; everything else is
for people. Each part answers a fixed list of questions. It shows the answer, or says that there is none
("Events: none."), or does not show it ("Events: not shown."), and then nothing that depends on it is served.
Nothing is assumed.

Replace the sentence of a part by a block, part by part, and ask what is still open:

    ninefold gaps {name}

The comments are hints, and may stay or go.
-->"""

STATEMENTS = (
    "The purpose and domain of the service",
    "Resources, their primary keys and their fields",
    "States and the moves between them",
    "Methods, path shapes, parameters, request payloads and response payloads",
    "Authentication schemes, credentials and permissions",
    "Event kinds, payloads and delivery",
    "Error codes, statuses and body shape",
    "Rates, sizes, page bounds and timeouts",
    "Version scheme and compatibility",
)

EXAMPLES = (
    "Keeps the notes that people write.",
    """\
```yaml
note:
  primary key: id
  fields:
    id:   {type: string, format: uuid, on create: uuid()}
    text: {type: string, maxLength: 500}
    done: {state: true}
  required: [text]
```""",
    """\
```yaml
note:
  initial: open
  states: [open, closed]
  transitions:
    close: {from: open, to: closed}
```""",
    """\
```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json

POST /notes:            {does: create note, body: [text], responses: {201: note}}
GET /notes:             {does: list note, sort: [text], responses: {200: {data: page.items}}}
GET /notes/{id}:        {does: read note, responses: {200: note}}
POST /notes/{id}/close: {does: close note, body: none, responses: {200: note}}
```""",
    """\
```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```""",
    """\
```yaml
kinds:
  note.closed: {upon: close note, payload: note}
delivery:
  webhooks: {to: subscription, signature: standard-webhooks, attempts: 3, backoff: [PT5S, PT5M]}
```""",
    """\
```yaml
error shape: {media type: application/problem+json, body: {title: error.title, status: error.status}}
codes:
  not_found:   {status: 404, title: There is no such thing, for: [not found, no such path]}
  bad_method:  {status: 405, title: The path has no such method, for: method not allowed}
  unreadable:  {status: 400, title: The body is not JSON, for: malformed}
  media_type:  {status: 415, title: Only JSON is read here, for: unsupported media type}
  not_written: {status: 406, title: Only JSON is written here, for: not acceptable}
  old_version: {status: 400, title: There is no such version, for: unknown version}
  invalid:     {status: 422, title: A value is not as it should be, for: invalid}
  too_large:   {status: 413, title: The body is too large, for: too large}
  wrong_state: {status: 409, title: The note is closed, for: illegal transition}
  too_many:    {status: 429, title: Too many requests, for: too many requests}
  busy:        {status: 503, title: Try again shortly, for: [unavailable, timed out]}
  broken:      {status: 500, title: Our fault, for: internal}
```""",
    """\
```yaml
rates:     {calls: {of: address, allow: 600, per: PT1M, algorithm: fixed window}}
body size: 64 KiB
pages:     {default: 20, maximum: 100, by: offset, size: limit, at: offset, first: 0}
timeout: PT10S
```""",
    """\
```yaml
in: header
name: Api-Version
default: "2026-01-01"
versions: {"2026-01-01": {}}
compatible: [add an optional field, add an endpoint]
```""",
)
"""One for each part. Together they are a whole contract without a gap, which a test compiles."""


def blank(title: str, name: str = "contract.md") -> str:
    """A contract with this title in which nothing is shown: the text of a Markdown document. `name` is the file
    that it will be, for the command in its introduction. A title of several lines becomes one line."""
    heading = " ".join(title.split()) or "Service Specification"
    parts = [_part(number) for number in range(1, 10)]
    return "\n\n".join([f"# {heading}", INTRODUCTION.format(name=name), *parts]) + "\n"


def _part(number: int) -> str:
    asked = (question for question in QUESTIONS if question.part == number and question is not LIMITS)
    questions = "\n".join(map(_item, asked))
    comment = f"<!--\nAsked here:\n\n{questions}\n\nFor example:\n\n{EXAMPLES[number - 1]}\n-->"
    return f"## {NUMBERED_TITLES[number - 1]}\n\n{STATEMENTS[number - 1]}: not shown.\n\n{comment}"


def _item(question: Question) -> str:
    """The question in words, and when it is asked."""
    text = f"{question.in_general} ({question.asked})" if question.asked else question.in_general
    return textwrap.fill(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
