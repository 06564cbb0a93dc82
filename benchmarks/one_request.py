"""How long one request keeps all others waiting, at every bound that there is.

    python benchmarks/one_request.py [WORDS]        only the requests in whose names all words are

Each request is made to a service in this process, whose event loop counts the CPU that is spent between two of its
turns, by whichever thread. Printed of each are the bytes sent and answered, the status, the longest time that the loop
was held (`held`) and all that the request cost (`CPU`), in milliseconds. The aim is 50 ms held, whatever is sent.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import ninefold

MIB = 1024 * 1024
HEAD = 60 * 1024

CONTRACT = """# Documents

## 1. What the service does

Keeps documents.

## 2. Resources and their fields

```yaml
document:
  identifier: id
  fields:
    id:      {type: string, pattern: '^[a-z]+$'}
    texts:   {type: array, items: {type: string, pattern: '^[a-z]*$'}}
    few:     {type: array, items: {type: string}, maxItems: 10}
    numbers: {type: array, items: {type: integer}}
    unique:  {type: array, items: {type: object}, uniqueItems: true}
    free:    {type: object}
    rows:
      type: array
      items:
        type: object
        properties:
          kind: {enum: [a, b]}
          more: {type: array, items: {anyOf: [{type: string}, {type: object, properties: {n: {type: integer}}}]}}
        required: [kind]
    note:    {type: string, normalise: lowerAscii(trim(value))}
    slug:    {type: string}
    at:      {type: string, format: date-time}
    checked: {type: boolean}
  required: [id]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: [application/json, application/x-www-form-urlencoded], unknown members: %s, unknown parameters: refused}
responses: {media type: application/json}
PUT /documents/{document.id}:
  does: ensure document
  body: [texts, few, numbers, unique, free, rows, note, at]
  responses: {created: {201: {id: document.id}}, unchanged: {200: {id: document.id}}}
PATCH /documents/{document.id}:
  does: update document
  body: [texts, numbers, free, rows]
  responses: {200: {id: document.id}}
PATCH /edits/{document.id}:
  does: update document
  patch: json-patch
  body: [texts, numbers, free, rows]
  responses: {200: {id: document.id}}
GET /documents:
  does: list document
  query: {words: {type: array, items: {type: string, maxLength: 3}}, n: {type: array, items: {type: integer}}}
  filters: [id, {name: ids, where: document.id in ids, values: comma separated}]
  sorts: {default: [id]}
  pages: {default: 10, largest: 100, by: offset, parameters: {size: limit, start: offset}}
  responses: {200: {documents: "page.items.map(d, d.id)"}}
```

## 5. Authentication

```yaml
schemes: none
rows: any
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
shape: {media type: application/json, body: {code: error.code, fields: error.fields, messages: error.messages}}
messages: {otherwise: "this is not as it should be"}
codes:
  not_found:  {status: 404, when: [missing, no such path]}
  no_method:  {status: 405, when: method not allowed}
  unreadable: {status: 400, when: [malformed, unsupported media type, not acceptable]}
  too_large:  {status: 413, when: too large}
  invalid:    {status: 422, when: invalid}
  different:  {status: 409, when: [different, conflict]}
  busy:       {status: 503, when: unavailable}
  broken:     {status: 500, when: internal}
```

## 8. Limits

```yaml
rates: none
time-outs: none
sizes: none
```

## 9. Versioning

Versions: none.
"""
