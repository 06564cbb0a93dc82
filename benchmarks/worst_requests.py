"""Requests that keep all others waiting, looked for by chance: schemas, bodies and expressions that get worse.

    PYTHONPATH=src python benchmarks/worst_requests.py [--seconds 300] [--seed 7]

A contract with a random schema is served in this process and asked with bodies and queries of several sizes that are
made of it; whatever keeps the event loop longer is changed further, and after some changes in vain another is begun.
Counted is CPU between two turns of the loop, as in `one_request.py`; of a request that seems to hold it for long the
least of several measures counts. Printed is each that is worse than the last, and at the end the worst with its
contract. The aim is 50 ms. What `check` refuses is passed over.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from one_request import CONTRACT, Loop, Sent, answer

import ninefold

AIM = 0.05
SIZES = (120, 900, 4_000, 15_900, 260_000)
IN_VAIN = 12

PATTERNS = ("^[a-z]*$", "^(a|aa)*$", "^(?!.*b)(a|aa)*$", "(?=.*z)(.*)(.*)(.*)x$", "(a+)b\\1", "^\\w{1,12}$", "a.{0,9}b")
FORMATS = ("date-time", "regex", "idn-hostname", "email", "uri-template", "iri", "uuid", "ipv6", "json-pointer")
TEXTS = ("", "a", "aaaaaaaaaaaaaaaaaaaaaz", "a" * 300 + "b", "é.é", "2020-01-01T00:00:00Z", "(a{9}){9}", "x@y.z")
NUMBERS = (0, 1, -1, 7, 199, 0.1, 1e300, 1e-300, 2**53, -0.0)


class Chance(random.Random):
    """Schemas and values by chance."""

    def schema(self, depth: int) -> Any:
        kinds = ["text", "number", "among"] + ["object", "array", "several", "several"] * (depth > 0)
        match self.choice(kinds):
            case "text":
                rule = self.choice([{"pattern": self.choice(PATTERNS)}, {"format": self.choice(FORMATS)}, {}])
                return {"type": "string", **rule}
            case "number":
                return {"type": "number", **self.choice([{"multipleOf": 0.01}, {"maximum": 1e9}, {}])}
            case "among":
                made = self.choice(
                    [lambda n: n, str, lambda n: {"a": n}, lambda n: [n, [n]], lambda n: {"a": {"b": n}}]
                )
                return {"enum": [made(number) for number in range(self.choice((2, 20, 200, 2_000)))]}
            case "object":
                names = self.sample("abcdefgh", self.randint(0, 4))
                schema: dict[str, Any] = {
                    "type": "object",
                    "properties": {each: self.schema(depth - 1) for each in names},
                }
                schema["required"] = self.sample(names, self.randint(0, len(names))) or names[:1]
                if not schema["required"]:
                    del schema["required"]
                for key in ("additionalProperties", "unevaluatedProperties", "propertyNames"):
                    if self.random() < 0.2:
                        schema[key] = {"maxLength": 20} if key == "propertyNames" else self.schema(depth - 1)
                return schema
            case "array":
                schema = {"type": "array", "items": self.schema(depth - 1)}
                extra = (
                    {"uniqueItems": True},
                    {"contains": self.schema(depth - 1)},
                    {"prefixItems": [self.schema(0)]},
                    {},
                )
                return {**schema, **self.choice(extra)}
            case _:
                key = self.choice(("anyOf", "oneOf", "allOf"))
                one = self.schema(depth - 1)
                return {key: [self.choice((one, self.schema(depth - 1))) for _ in range(self.choice((2, 3, 9, 30)))]}

    def value(self, schema: Any) -> Any:
        """A value that has to do with a schema, whether it keeps it or not."""
        if not isinstance(schema, dict) or self.random() < 0.05:
            return self.choice((*TEXTS, *NUMBERS, None, {}, []))
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return self.value(self.choice((schema[key][-1], self.choice(schema[key]))))
        if "enum" in schema:
            return self.choice((schema["enum"][-1], self.choice(schema["enum"])))
        match schema.get("type"):
            case "string":
                return self.choice(TEXTS)
            case "number":
                return self.choice(NUMBERS)
            case "array":
                return [self.value(schema["items"]) for _ in range(self.choice((0, 1, 3)))]
        members = {name: self.value(each) for name, each in schema.get("properties", {}).items() if self.random() < 0.8}
        return members | ({self.choice("xyz"): self.choice(NUMBERS)} if self.random() < 0.2 else {})

    def changed(self, schema: Any, depth: int = 3) -> Any:
        """The same with something else in one place."""
        inner = [key for key, each in schema.items() if isinstance(each, dict | list) and each and key not in _PLAIN]
        if not inner or self.random() < 0.25:
            return self.schema(depth)
        key = self.choice(inner)
        below = schema[key]
        if isinstance(below, list):
            at = self.randrange(len(below))
            return {**schema, key: [*below[:at], self.changed(below[at], depth - 1), *below[at + 1 :]]}
        if key == "properties":
            name = self.choice([*below])
            return {**schema, key: {**below, name: self.changed(below[name], depth - 1)}}
        return {**schema, key: self.changed(below, depth - 1)}


_PLAIN = frozenset({"enum", "required", "propertyNames"})

EXPRESSIONS = (
    "request.body.a.exists(n, request.body.a.exists(m, m == n + 1))",
    "request.body.a.map(n, request.body.a.map(m, m * n + m)).size()",
    "request.body.a.filter(n, n in request.body.a).size()",
    "request.body.s.split('').map(c, c + request.body.s).size()",
    "request.body.s.matches('(a?){9}b') || slug(request.body.s) == 's'",
    "request.body.a.sortBy(n, -n).size()",
)


def contract(chance: Chance, schema: Any) -> str:
    """The contract of `one_request.py`, with a field of this schema, and some expressions."""
    asked = {f"e{each}": chance.choice(EXPRESSIONS) for each in range(chance.choice((1, 3, 9)))}
    shown = json.dumps({"a": "request.body.a.size()", "s": "request.body.s.size()", **asked})
    more = f"""POST /found:
  does: create document
  body: [v]
  responses: {{201: {{id: document.id}}}}
POST /worked: {{does: compute, body: {{$ref: "#/types/worked"}}, responses: {{200: {shown}}}}}
GET /found:
  does: list document
  query: {{v: {{type: array, items: {json.dumps(_item(schema))}, explode: false}}}}
  sort: [id]
  pages: {{default: 10, maximum: 100, by: offset, size: limit, at: offset, first: 0}}
  responses: {{200: {{documents: "page.items.map(d, d.id)"}}}}
"""
    text = CONTRACT % chance.choice(("refused", "ignored"))
    text = text.replace(
        "    id:      {type: string, pattern: '^[a-z]+$'}\n", "    id: {type: string, on create: uuid()}\n"
    )
    text = text.replace("    note:    ", f"    v: {{type: array, items: {json.dumps(schema)}}}\n    note:    ", 1)
    text = text.replace("types:\n", "types:\n  worked: {type: object, properties: "
                        "{a: {type: array, items: {type: integer}}, s: {type: string}}}\n", 1)  # fmt: skip
    before, _, rest = text.partition("PUT /documents/")
    return (
        before
        + more
        + rest[rest.index("POST /whole:") :].partition("GET /documents/{")[0]
        + "```\n"
        + (rest[rest.index("\n## 5. ") :])
    )


def _item(schema: Any) -> Any:
    """What a parameter can be an array of."""
    return schema if schema.get("type") in ("string", "number") else {"type": "number", "multipleOf": 0.01}


def requests(chance: Chance, schema: Any) -> Iterator[Sent]:
    kind = (("content-type", "application/json"),)
    for size in SIZES:
        items, length = list[str](), 0
        while length < size - 60:
            made = json.dumps(chance.value(schema), separators=(",", ":"), ensure_ascii=False)
            often = max(1, (size - length) // (len(made) + 1) // chance.choice((1, 1, 4)))
            items += [made] * often
            length += often * (len(made) + 1)
        yield Sent(f"body of {size}", "POST", "/found", f'{{"v":[{",".join(items)}]}}'.encode(), kind)
        numbers = chance.choice(([1] * (size // 2), [*range(size // 6)]))
        body = json.dumps({"a": numbers, "s": chance.choice("aé") * (size // 3)}, separators=(",", ":")).encode()
        yield Sent(f"expressions over {size}", "POST", "/worked", body, kind)
        if size < 60_000:
            one = quote(str(chance.value(_item(schema))))
            yield Sent(f"query of {size}", "GET", "/found?v=" + ",".join([one] * (size // (len(one) + 1))))


async def measured(text: str, sent: list[Sent]) -> tuple[float, str]:
    """The longest time that the loop was held, and by which request."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "found.md")
        path.write_text(text, encoding="utf-8")
        application = ninefold.application(path, database=str(Path(folder, "found.db")))
        loop, worst = Loop(), (0.0, "")
        async with application.lifespan():
            gc.freeze()
            ticking = asyncio.create_task(loop.turn())
            for each in sent:
                held = 1e9
                for _ in range(4):  # the least of them, where it is long: others may have had the processor
                    await asyncio.sleep(0.005)
                    loop.begin()
                    status, _ = await answer(application, each)
                    await asyncio.sleep(0.003)
                    held = min(held, loop.held)
                    if held < AIM / 3:
                        break
                worst = max(worst, (held, f"{each.name}: {status}, {each.body[:200]!r} {each.target[:80]}"))
            ticking.cancel()
    return worst


def main() -> None:
    options = argparse.ArgumentParser(description="Requests that keep all others waiting, looked for by chance.")
    options.add_argument("--seconds", type=float, default=300)
    options.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    asked = options.parse_args()
    print(f"--seed {asked.seed}", flush=True)
    chance, until, tried, refused = Chance(asked.seed), time.monotonic() + asked.seconds, 0, 0
    schema, held, in_vain, worst = chance.schema(3), 0.0, 0, (0.0, "", "")
    while time.monotonic() < until:
        other = chance.changed(schema) if held else chance.schema(3)
        text = contract(chance, other)
        try:
            found, by = asyncio.run(measured(text, [*requests(chance, other)]))
        except ninefold.ContractError:
            refused += 1
            continue
        tried += 1
        in_vain = 0 if found > held else in_vain + 1
        if found >= held:
            schema, held = other, found
        if found > worst[0]:
            worst = (found, by, text)
            print(f"{found * 1e3:8.1f} ms held by a {by}", flush=True)
            print(f"            {json.dumps(other)[:400]}", flush=True)
        if in_vain > IN_VAIN:
            held, in_vain = 0.0, 0
    print(f"{tried} contracts, {refused} refused; the worst held the loop for {worst[0] * 1e3:.1f} ms")
    if worst[0] > AIM:
        print(worst[2])


if __name__ == "__main__":
    main()
