"""Documents for tests: a small contract, and what a text resolves to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

from ninefold.contract.resolve.contract import resolve
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Diagnostic, Outcome
from ninefold.diagnostics.source import Source, Span
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Scalar, Sequence, Style
from ninefold.syntax.parser import Form, parse

EXAMPLES = Path(__file__).parents[2] / "examples"

PLAIN = """\
purpose: Keeps notes.
resources:
  note:
    primary key: id
    fields:
      id: {type: string, format: uuid, on create: uuid()}
      text: {type: string, maxLength: 100}
      owner: {references: person, inverse: notes, on delete: cascade}
      status: {state: true}
    required: [text]
  person:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      key: {type: string, secret: token, on create: token()}
      pages: {type: array, items: {$ref: "#/types/page"}}
  types:
    page:
      type: object
      properties: {number: {type: integer}}
      required: [number]
states:
  note:
    initial: draft
    states: [draft, sent]
    transitions:
      send: {from: draft, to: sent, check: {that: note.text.size() > 0, else: empty}}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: [text], responses: {201: note}}
  GET /notes/{id}: {does: read note, responses: {200: note}}
  GET /notes: {does: list note, sort: [text], responses: {200: {data: page.items}}}
  POST /notes/{id}/send: {does: send note, body: none, responses: {200: note}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: person.key}}
  rows: all
  unseen rows: not found
  permissions: {GET /notes: anyone, all others: key}
events:
  kinds: {note.sent: {upon: send note, payload: note}}
  delivery: {stream: server-sent events}
  kept: P7D
errors:
  error shape: {media type: application/problem+json, body: {title: error.title}}
  codes:
    invalid: {status: 422, title: Not valid, for: invalid}
    empty: {status: 409, title: Nothing to send}
  messages: {required: This must be given}
  precedence: [invalid, not found, check]
limits:
  rates: {calls: {of: caller, allow: 10, per: PT1M, algorithm: token bucket, burst: 10, endpoints: [GET /notes]}}
  body size: 64 KiB
  pages: {default: 20, maximum: 100, by: cursor, size: limit, at: cursor}
  timeout: PT10S
versioning:
  in: header
  name: Api-Version
  default: "2"
  versions:
    "2": {}
    "1": {changes: [{rename: note.text, to: body}]}
  compatible: [add an endpoint]
"""
"""A contract in which all nine parts are shown; the tests change one place of it."""


def document(text: str, form: Form = Form.PLAIN) -> Document:
    outcome = parse(Source("contract", text), form)
    assert not outcome.diagnostics, [d.message for d in outcome.diagnostics]
    return outcome.value


def resolved(text: str, accept_proposals: bool = False) -> Outcome[Contract]:
    return resolve(document(text), accept_proposals)


def at(text: str, diagnostic: Diagnostic) -> str:
    """What stands in the document where a diagnostic points."""
    return text[diagnostic.span.start : diagnostic.span.end]


def scalars(node: Node) -> Iterator[Scalar]:
    """Every value of a tree that is a scalar."""
    match node:
        case Scalar():
            yield node
        case Mapping(_, entries):
            for entry in entries:
                yield from scalars(entry.value)
        case Sequence(_, items):
            for item in items:
                yield from scalars(item)


def entries(node: Node) -> Iterator[Entry]:
    """Every entry of a tree."""
    match node:
        case Scalar():
            pass
        case Mapping(_, own):
            for entry in own:
                yield entry
                yield from entries(entry.value)
        case Sequence(_, items):
            for item in items:
                yield from entries(item)


def parts_of(value: object) -> Iterator[object]:
    """Every object that a contract is made of, its document aside."""
    yield value
    if isinstance(value, Document):
        return
    if is_dataclass(value):
        for field in fields(value):
            yield from parts_of(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from parts_of(item)


def with_node(read: Document, old: Node, new: Node) -> Document:
    """The document with another node in place of one of its own (the very object)."""
    return replace(read, parts=tuple(replace(part, facts=_with(part.facts, old, new)) for part in read.parts))


def _with(node: Mapping, old: Node, new: Node) -> Mapping:
    found = _exchanged(node, old, new)
    assert isinstance(found, Mapping)
    return found


def _exchanged(node: Node, old: Node, new: Node) -> Node:
    if node is old:
        return new
    match node:
        case Mapping(_, own):
            return replace(node, entries=tuple(replace(e, value=_exchanged(e.value, old, new)) for e in own))
        case Sequence(_, items):
            return replace(node, items=tuple(_exchanged(item, old, new) for item in items))
        case Scalar():
            return node


def word(text: str, span: Span) -> Scalar:
    """An unquoted scalar at a place."""
    return Scalar(span, text, text, Style.PLAIN, range(span.start, span.start + len(text) + 1))
