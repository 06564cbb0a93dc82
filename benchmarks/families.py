"""Contracts of any size, each a family that grows in one way alone: what `benchmarks/compile.py` times, and
`tests/laws/test_compiling_grows_with_the_contract.py` counts.

Each family is a function from a size to the text of a contract in the plain form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Final, TypeAlias

Family: TypeAlias = Callable[[int], str]

ITEM: Final = "  item: {primary key: id, fields: {id: {type: integer, on create: serial()}, n: {type: integer}}}"
READ: Final = "  GET /items/{id}: {does: read item, responses: {200: item}}"


def contract(
    resources: Iterable[str] = (),
    states: Iterable[str] = (),
    endpoints: Iterable[str] = (),
    authentication: str = "{schemes: none, permissions: {all others: anyone}, rows: all}",
    codes: Iterable[str] = (),
    limits: str = "{rates: none, body size: none, timeout: none}",
    events: str = " none",
    versioning: str = " none",
) -> str:
    """A contract of lines for each of its parts."""
    lines = [
        "purpose: Grows.",
        "resources:",
        *resources,
        "states: none" if not states else "states:",
        *states,
        "endpoints:",
        "  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}",
        "  produces: application/json",
        *endpoints,
        f"authentication: {authentication}",
        f"events:{events}",
        "errors:",
        "  error shape: {media type: application/json, body: {error: error.code}}",
        "  codes:",
        "    invalid: {status: 422, title: Invalid, for: invalid}",
        *codes,
        f"limits: {limits}",
        f"versioning:{versioning}",
    ]
    return "\n".join(lines) + "\n"


def _resource(name: str, fields: Iterable[str], more: Iterable[str] = ()) -> list[str]:
    given = ["      id: {type: integer, on create: serial()}", *(f"      {field}" for field in fields)]
    return [f"  {name}:", "    primary key: id", "    fields:", *given, *(f"    {line}" for line in more)]


def resources(n: int) -> str:
    """Resources of a few fields, each created and read."""
    return contract(
        [line for i in range(n) for line in _resource(f"r{i}", ["name: {type: string}", "size: {type: integer}"])],
        (),
        [
            line
            for i in range(n)
            for line in (
                f"  POST /r{i}: {{does: create r{i}, body: [name, size], responses: {{201: r{i}}}}}",
                f"  GET /r{i}/{{id}}: {{does: read r{i}, responses: {{200: r{i}}}}}",
            )
        ],
    )


def sketch(n: int) -> str:
    """Resources of a few fields and what is done with them, and nothing else: conventions say most of what is open."""
    made = [line for i in range(n) for line in _resource(f"r{i}", ["name: {type: string}", "size: {type: integer}"])]
    ends = [
        line
        for i in range(n)
        for line in (
            f"  POST /r{i}: {{does: create r{i}, body: [name, size]}}",
            f"  GET /r{i}: {{does: list r{i}}}",
            f"  GET /r{i}/{{id}}: {{does: read r{i}}}",
        )
    ]
    permissions = "authentication: {schemes: none, permissions: {all others: anyone}}"
    return "\n".join(["purpose: Grows.", "resources:", *made, "endpoints:", *ends, permissions]) + "\n"


def business(n: int) -> str:
    """What a business keeps: resources with references to the ones before, states, lists, permissions, codes and
    events. Of each there are seven endpoints."""
    made, machines, ends, rows, permissions, kinds, errors = [], [], [], [], [], [], []
    for i in range(n):
        name = f"r{i}"
        fields = [
            "title: {type: string, minLength: 1, maxLength: 200}",
            "note: {type: [string, 'null'], maxLength: 2000}",
            "amount: {type: integer, minimum: 0}",
            "rate: {type: integer, minimum: 0, maximum: 100}",
            "kind: {type: string, enum: [small, large, other]}",
            "email: {type: string, format: email, maxLength: 254}",
            f"code: {{type: string, pattern: '^[A-Z0-9-]{{3,20}}$', unique: {'true' if i % 3 == 0 else 'false'}}}",
            "status: {state: true}",
            f"due: {{type: integer, computed: '{name}.amount * {name}.rate / 100'}}",
            "owner: {references: person, on create: caller.person, inverse: " + f"{name}s, on delete: restrict}}",
            "created_at: {type: string, format: date-time, on create: now}",
            "updated_at: {type: string, format: date-time, on change: now}",
        ]
        if i:
            fields.append(f"parent: {{references: r{(i - 1) // 2}, inverse: children{i}, on delete: restrict}}")
        made += _resource(name, fields, ["required: [title, amount, rate, kind, email, code]"])
        machines += [
            f"  {name}:",
            "    initial: draft",
            "    states: [draft, open, closed]",
            "    transitions:",
            f"      open:  {{from: draft, to: open, check: {{that: '{name}.amount > 0', else: empty_{name}}}}}",
            "      close: {from: open, to: closed}",
        ]
        written = "[title, note, amount, rate, kind, email, code]"
        path = f"/{name}/{{id}}"
        ends += [
            f"  POST /{name}: {{does: create {name}, body: {written[:-1]}{', parent' if i else ''}],"
            f" responses: {{201: {name}}}, headers: {{Location: \"'/{name}/' + string({name}.id)\"}}}}",
            f"  GET /{name}:",
            f"    does: list {name}",
            f"    query: {{kind: {name}.kind == value, since: {name}.created_at >= value,",
            "      sort: {sorts: [created_at, -created_at, amount]}}",
            "    sort: [-created_at]",
            "    responses: {200: {data: page.items, next: page.next}}",
            f"  GET {path}: {{does: read {name}, etag: true, responses: {{200: {name}}}}}",
            f"  PATCH {path}: {{does: update {name}, body: {written}, patch: merge,"
            f" check: {{that: \"{name}.status == 'draft'\", else: not_a_draft}},"
            f" etag: true, responses: {{200: {name}}}}}",
            f"  DELETE {path}: {{does: delete {name}, responses: {{204: none}}}}",
            f"  POST {path}/open: {{does: open {name}, body: none, responses: {{200: {name}}}}}",
            f"  POST {path}/close: {{does: close {name}, body: none, responses: {{200: {name}}}}}",
        ]
        rows.append(f'    {name}: {{key: "{name}.owner == caller.person"}}')
        permissions.append(f"    POST {path}/close: {{key: \"caller.person.name != 'guest'\"}}")
        kinds.append(f"    {name}.opened: {{upon: open {name}, payload: {{id: {name}.id, title: {name}.title}}}}")
        errors.append(f"    empty_{name}: {{status: 409, title: Nothing to open in {name}}}")
    person = ["name: {type: string}", "api_key: {type: string, secret: token, on create: token()}"]
    return contract(
        [*made, *_resource("person", person, ["required: [name]"])],
        [*machines, "  person: none"],
        [
            *ends,
            "  POST /people: {does: create person, body: [name],"
            " responses: {201: {id: person.id, api_key: issued.api_key}}}",
            "  GET /events: {does: stream event, responses: {200: stream}}",
        ],
        "\n  schemes: {key: {type: http, scheme: bearer, matches: person.api_key}}\n  rows:\n"
        + "\n".join(rows)
        + '\n    person: {key: "person == caller.person"}\n  unseen rows: not found\n  permissions:\n'
        + "\n".join(permissions)
        + "\n    POST /people: anyone\n    all others: key",
        [
            *errors,
            "    not_a_draft: {status: 409, title: Only a draft can be changed}",
            "    malformed: {status: 400, title: No JSON, for: malformed}",
            "    no_key: {status: 401, title: Who are you?, for: unauthenticated}",
            "    not_allowed: {status: 403, title: Not yours to do, for: forbidden}",
            "    not_found: {status: 404, title: There is no such thing, for: [not found, no such path]}",
            "    bad_method: {status: 405, title: No such method, for: method not allowed}",
            "    taken: {status: 409, title: Another one has it, for: conflict}",
            "    wrong_state: {status: 409, title: Not in this state, for: illegal transition}",
            "    stale: {status: 412, title: It changed, for: precondition failed}",
            "    media_type: {status: 415, title: Only JSON is read, for: unsupported media type}",
            "    not_acceptable: {status: 406, title: Only JSON is written, for: not acceptable}",
            "    too_large: {status: 413, title: The body is too large, for: too large}",
            "    slow_down: {status: 429, title: Too many requests, for: too many requests}",
            "    too_slow: {status: 503, title: It took too long, for: timed out}",
            "    busy: {status: 503, title: Try again shortly, for: unavailable}",
            "    broken: {status: 500, title: Our fault, for: internal}",
        ],
        "\n  rates: {calls: {of: caller, allow: 600, per: PT1M, algorithm: token bucket, burst: 600}}"
        "\n  rate headers: [RateLimit-Policy, RateLimit, Retry-After]"
        "\n  body size: 64 KiB"
        "\n  pages: {default: 20, maximum: 100, by: cursor, size: limit, at: cursor}"
        "\n  timeout: PT10S",
        "\n  kinds:\n" + "\n".join(kinds) + "\n  delivery: {stream: server-sent events, envelope: none}\n  kept: P1D",
    )


def references(n: int) -> str:
    """Resources of which each refers to the one before, and lists what refers to it."""
    made = _resource("r0", ["name: {type: string}"])
    for i in range(1, n):
        made += _resource(f"r{i}", [f"up: {{references: r{i - 1}, inverse: downs, on delete: cascade}}"])
    ends = [f"  DELETE /r{i}/{{id}}: {{does: delete r{i}, responses: {{204: none}}}}" for i in range(n)]
    return contract(made, (), ends)


def types_in_types(n: int) -> str:
    """Shared types that each refer twice to the one before."""
    made = ["  types:", "    t0: {type: object, properties: {a: {type: string}}}"]
    made += [
        f'    t{i}: {{type: object, properties: {{a: {{$ref: "#/types/t{i - 1}"}}, b: {{$ref: "#/types/t{i - 1}"}}}}}}'
        for i in range(1, n)
    ]
    made += _resource("item", [f'value: {{$ref: "#/types/t{n - 1}"}}'])
    return contract(
        made,
        (),
        ["  POST /items: {does: create item, body: [value], responses: {201: item}}", READ],
    )


def types(n: int) -> str:
    """Shared types, each of a field and of a body."""
    made = ["  types:"]
    for i in range(n):
        of = f'$ref: "#/types/t{i - 1}"' if i % 7 else "type: string"
        made.append(f"    t{i}: {{type: object, properties: {{a: {{{of}}}, b: {{type: integer, minimum: {i}}}}}}}")
    ends = []
    for i in range(n // 2):
        made += _resource(f"r{i}", [f'value: {{$ref: "#/types/t{2 * i}"}}'])
        ends.append(f"  POST /r{i}: {{does: create r{i}, body: [value], responses: {{201: r{i}}}}}")
    return contract(made, (), ends)


def large(types: int = 861, endpoints: int = 452, depth: int = 6, seed: int = 1) -> str:
    """What the OpenAPI document of a large service looks like: objects of 5 to 20 members, each of which refers to up
    to three types of the levels below its own, and resources with four endpoints each."""
    random = Random(seed)
    levels = [range(types * level // depth, types * (level + 1) // depth) for level in range(depth)]
    made = ["  types:"]
    for level, names in enumerate(levels):
        for i in names:
            members = [f"m{k}: {{type: string, maxLength: {10 + k}}}" for k in range(random.randint(5, 20))]
            for k in range(random.randint(1, 3) if level else 0):
                of = f'{{$ref: "#/types/t{random.choice(levels[random.randrange(level)])}"}}'
                listed = random.random() < 0.4
                members.append(f"x{k}: " + (f"{{type: array, maxItems: 20, items: {of}}}" if listed else of))
            made.append(f"    t{i}: {{type: object, properties: {{{', '.join(members)}}}}}")
    ends = []
    for i in range(endpoints // 4):
        made += _resource(
            f"r{i}", [f'{name}: {{$ref: "#/types/t{random.randrange(types)}"}}' for name in ("value", "other")]
        )
        ends += [
            f"  POST /r{i}: {{does: create r{i}, body: [value, other], responses: {{201: r{i}}}}}",
            f"  GET /r{i}/{{id}}: {{does: read r{i}, responses: {{200: r{i}}}}}",
            f"  PUT /r{i}/{{id}}: {{does: update r{i}, body: [value, other], responses: {{200: r{i}}}}}",
            f"  DELETE /r{i}/{{id}}: {{does: delete r{i}, responses: {{204: none}}}}",
        ]
    return contract(made, (), ends)


def views(n: int) -> str:
    """Views of which each shows the one before once, through another resource."""
    made: list[str] = []
    for i in range(n):
        inner = f"v(r{i}.up)" if i else "r0.id"
        up = [f"up: {{references: r{i - 1}, on delete: restrict}}"] if i else []
        made += _resource(f"r{i}", up, [f"views: {{v: {{inner: '{inner}'}}}}"])
    return contract(made, (), [f"  GET /x/{{id}}: {{does: read r{n - 1}, responses: {{200: v(r{n - 1})}}}}"])


def views_twice(n: int) -> str:
    """Views of which each shows the one before twice: what is shown doubles with each."""
    made: list[str] = []
    for i in range(n):
        inner = f"v(r{i}.up)" if i else "r0.id"
        up = [f"up: {{references: r{i - 1}, on delete: restrict}}"] if i else []
        made += _resource(f"r{i}", up, [f"views: {{v: {{one: '{inner}', two: '{inner}'}}}}"])
    return contract(made, (), [f"  GET /x/{{id}}: {{does: read r{n - 1}, responses: {{200: v(r{n - 1})}}}}"])


def unused_views(n: int) -> str:
    """Views of one row of which each shows the one before twice, and which nothing shows."""
    made = [f"      v{i}: {{one: 'v{i - 1}(item)', two: 'v{i - 1}(item)'}}" for i in range(1, n)]
    item = _resource("item", ["n: {type: integer}"], ["views:", "  v0: [id]", *(line[4:] for line in made)])
    return contract(item, (), [READ])


def terms(n: int) -> str:
    """Terms that each read the one before once."""
    made = ["  terms:", "    t0: item.n", *(f"    t{i}: t{i - 1} + 1" for i in range(1, n)), ITEM]
    return contract(made, (), [_listing(f"t{n - 1} > 5")])


def terms_twice(n: int) -> str:
    """Terms that each read the one before twice."""
    made = ["  terms:", "    t0: item.n", *(f"    t{i}: t{i - 1} + t{i - 1}" for i in range(1, n)), ITEM]
    return contract(made, (), [_listing(f"t{n - 1} > 5")])


def computed(n: int) -> str:
    """Computed fields that each read the one before once."""
    fields = [
        "c0: {type: integer, computed: item.id + 1}",
        *(f"c{i}: {{type: integer, computed: item.c{i - 1} + 1}}" for i in range(1, n)),
    ]
    return contract(_resource("item", fields), (), [READ])


def computed_twice(n: int) -> str:
    """Computed fields that each read the one before twice."""
    fields = [
        "c0: {type: integer, computed: item.id + 1}",
        *(f"c{i}: {{type: integer, computed: item.c{i - 1} + item.c{i - 1}}}" for i in range(1, n)),
    ]
    return contract(_resource("item", fields), (), [READ])


def effects(n: int) -> str:
    """Transitions of which each takes the one before, of another resource, twice."""
    made, machines = [], ["  r0: {initial: a, states: [a, b], transitions: {go0: {from: a, to: b}}}"]
    made += _resource("r0", ["s: {state: true}"])
    for i in range(1, n):
        made += _resource(f"r{i}", ["s: {state: true}", f"up: {{references: r{i - 1}, on delete: restrict}}"])
        also = f"{{does: go{i - 1} r{i - 1}, where: r{i - 1} == this.up}}"
        machines.append(
            f"  r{i}: {{initial: a, states: [a, b],"
            f" transitions: {{go{i}: {{from: a, to: b, also: [{also}, {also}]}}}}}}"
        )
    return contract(
        made, machines, [f"  POST /go/{{id}}: {{does: go{n - 1} r{n - 1}, body: none, responses: {{200: r{n - 1}}}}}"]
    )


def cascades(n: int) -> str:
    """Resources of which each refers twice to the one before and falls with it, with invariants that read what falls:
    the ways double with each."""
    made = _resource("r0", ["name: {type: string}"])
    for i in range(1, n):
        up = [f"{name}: {{references: r{i - 1}, inverse: {name}s, on delete: cascade}}" for name in ("a", "b")]
        made += _resource(f"r{i}", up, ["check:", f"- {{that: 'r{i}.leaves.size() < 5'}}"])
    to = [f"x{i}: {{references: r{i}, inverse: leaves, on delete: cascade}}" for i in range(1, n)]
    return contract(
        [*made, *_resource("leaf", to)], (), ["  DELETE /r0/{id}: {does: delete r0, responses: {204: none}}"]
    )


def states(n: int) -> str:
    """States of one resource, each left by a transition to the next, with an endpoint."""
    listed = ", ".join(f"s{i}" for i in range(n + 1))
    moves = [f"      go{i}: {{from: s{i}, to: s{i + 1}}}" for i in range(n)]
    machine = ["  item:", "    initial: s0", f"    states: [{listed}]", "    transitions:", *moves]
    ends = [f"  POST /items/{{id}}/go{i}: {{does: go{i} item, body: none, responses: {{200: item}}}}" for i in range(n)]
    return contract(_resource("item", ["s: {state: true}"]), machine, ends)


def long_sum(n: int) -> str:
    """One expression of so many terms."""
    return contract([ITEM], (), [_listing(" + ".join(["item.n"] * n) + " > 5")])


def long_choice(n: int) -> str:
    """One condition of so many alternatives."""
    return contract([ITEM], (), [_listing(" || ".join(f"item.n == {i}" for i in range(n)))])


def parentheses(n: int) -> str:
    """An expression in so many parentheses."""
    return contract([ITEM], (), [_listing("(" * n + "item.n" + ")" * n + " > 5")])


def nested_schemas(n: int) -> str:
    """Objects in objects."""
    inner = "{type: string}"
    for _ in range(n):
        inner = f"{{type: object, properties: {{a: {inner}}}}}"
    return contract(_resource("item", [f"value: {inner}"]), (), [READ])


def properties(n: int) -> str:
    """An object of many members."""
    members = ", ".join(f"m{i}: {{type: string}}" for i in range(n))
    return contract(
        _resource("item", [f"value: {{type: object, properties: {{{members}}}}}"]),
        (),
        ["  POST /items: {does: create item, body: [value], responses: {201: item}}", READ],
    )


def fields(n: int) -> str:
    """A resource of many fields."""
    names = ", ".join(f"f{i}" for i in range(n))
    return contract(
        _resource("item", [f"f{i}: {{type: string}}" for i in range(n)]),
        (),
        [f"  POST /items: {{does: create item, body: [{names}], responses: {{201: item}}}}", READ],
    )


def filters(n: int) -> str:
    """A list with many filters, and as many fields by which it can be sorted."""
    names = [f"f{i}" for i in range(n)]
    end = [
        "  GET /items:",
        "    does: list item",
        f"    query: {{{', '.join(f'{name}: item.{name} == value' for name in names)}, sort: {{sorts: {names}}}}}",
        "    sort: [id]",
        "    pages: none",
        "    responses: {200: {items: page.items}}",
    ]
    return contract(_resource("item", [f"{name}: {{type: integer}}" for name in names]), (), end)


def codes(n: int) -> str:
    """Many guards of many endpoints, each with a code of its own."""
    made = [f"    c{i}: {{status: 409, title: No {i}}}" for i in range(n)]
    ends = [
        f"  DELETE /items{i}/{{id}}: {{does: delete item, check: {{that: item.n != {i}, else: c{i}}},"
        " responses: {204: none}}"
        for i in range(n)
    ]
    return contract([ITEM], (), ends, codes=made)


def records(n: int) -> str:
    """Rows that the contract states."""
    rows = [f"      - {{id: {i}, n: {i}}}" for i in range(n)]
    made = [
        "  item:",
        "    primary key: id",
        "    fields: {id: {type: integer}, n: {type: integer}}",
        "    records:",
        *rows,
    ]
    return contract(made, (), [READ])


def versions(n: int) -> str:
    """Older versions, each of which renames a field."""
    fields = [f"f{n}: {{type: string}}", "g: {type: integer}"]
    listed = ["  in: header", "  name: Api-Version", f'  default: "{n}"', "  versions:", f'    "{n}": {{}}']
    listed += [f'    "{i}": {{changes: [{{rename: item.f{i + 1}, to: f{i}}}]}}' for i in reversed(range(n))]
    return contract(_resource("item", fields), (), [READ], versioning="\n" + "\n".join([*listed, "  compatible: none"]))


def misspelt(n: int) -> str:
    """Keys that are no keys."""
    return contract(
        [line for i in range(n) for line in _resource(f"r{i}", [f"name: {{tpye: string, maxLenght: {i}}}"])]
    )


def unknown_names(n: int) -> str:
    """Names of fields that there are not, beside many that there are."""
    shown = ", ".join(f"feild{i}" for i in range(n))
    made = _resource("item", [f"field{i}: {{type: string}}" for i in range(n)])
    return contract(made, (), [f"  POST /items: {{does: create item, body: [{shown}], responses: {{201: item}}}}"])


def gaps(n: int) -> str:
    """Resources of which nothing is said but their names, and endpoints that reach them."""
    ends = [f"  GET /r{i}/{{id}}: {{does: read r{i}, responses: not shown}}" for i in range(n)]
    return contract([f"  r{i}: not shown" for i in range(n)], (), ends)


def events(n: int) -> str:
    """Kinds of events, each of a resource of its own, told by webhooks."""
    made = [line for i in range(n) for line in _resource(f"r{i}", ["name: {type: string}"])]
    ends = [f"  POST /r{i}: {{does: create r{i}, body: [name], responses: {{201: r{i}}}}}" for i in range(n)]
    ends.append("  GET /events: {does: stream event, responses: {200: stream}}")
    kinds = [f"    r{i}_made: {{upon: create r{i}, payload: {{id: r{i}.id}}}}" for i in range(n)]
    told = "\n  kinds:\n" + "\n".join(kinds) + "\n  delivery: {stream: server-sent events, envelope: none}\n  kept: P1D"
    return contract(made, (), ends, events=told)


def _listing(where: str) -> str:
    shown = "sort: [id], pages: none, responses: {200: {items: page.items}}"
    return f"  GET /items: {{does: list item, where: '{where}', {shown}}}"


FAMILIES: Final[Mapping[str, tuple[Family, int]]] = {
    "resources": (resources, 250),
    "a sketch": (sketch, 250),
    "business": (business, 64),
    "references": (references, 100),
    "types in types": (types_in_types, 30),
    "types": (types, 200),
    "views": (views, 8),
    "views that show two": (views_twice, 6),
    "views that nothing shows": (unused_views, 100),
    "terms": (terms, 400),
    "terms that read two": (terms_twice, 50),
    "computed": (computed, 100),
    "computed that read two": (computed_twice, 50),
    "effects": (effects, 20),
    "cascades": (cascades, 50),
    "states": (states, 100),
    "a long sum": (long_sum, 200),
    "a long choice": (long_choice, 200),
    "parentheses": (parentheses, 100),
    "nested schemas": (nested_schemas, 25),
    "properties": (properties, 1000),
    "fields": (fields, 250),
    "filters": (filters, 60),
    "codes": (codes, 150),
    "records": (records, 2000),
    "versions": (versions, 20),
    "misspelt keys": (misspelt, 2000),
    "unknown names": (unknown_names, 1000),
    "gaps": (gaps, 500),
    "events": (events, 100),
}
"""Each family with the size `n`; it is also compiled with `2n`."""
