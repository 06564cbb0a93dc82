"""Random contracts: complete, and served. Each is a Python value, made from a seed and nothing else.

There are up to three resources: `user`, whose rows may call; `item`, which belongs to a user; and `part` of an item.
What they hold, who sees them and what can be done with them is thrown for. Not every throw is a contract that passes
the checks; those that do not are left out by whoever compiles them.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from tests.agreement.conditions import Conditions, Kind, Made
from tests.agreement.functions import CODE, by_calls
from tests.agreement.schemas import schema
from tests.agreement.versions import Versioned
from tests.agreement.writing import NONE

SCALARS: Final = ("integer", "number", "string", "boolean", "date-time", "choice")
ARRAYS: Final = ("strings", "integers")

_OUTCOMES: Final = (
    {"created": 201, "replaced or unchanged": 200},
    {"created": 201, "replaced": 200},
    {"created": 201, "unchanged": 200},
    {"replaced": 200, "unchanged": 202},
    {"created": 201},
    {"unchanged": 200},
)
"""What `put` answers. `replaced` alone is thrown besides."""


FORM: Final = "application/x-www-form-urlencoded"

IN_A_CASE = ("does", "body", "patch", "sets", "check", "sort", "where", "headers", "responses")
"""What is taken into a case of what another endpoint says; entity tags in cases have tests of their own."""


class Maker:
    """One contract."""

    def __init__(self, random: Random, to_all: bool = False) -> None:
        self.random, self.to_all = random, to_all
        self.steps = Random()
        self.steps.setstate(random.getstate())
        """Of what is done after the first operation: it leaves the other throws as they are."""
        self.choices = Random()
        self.choices.setstate(random.getstate())
        """Of what a request may choose: it leaves the other throws as they are, too."""
        self.paths = Random(f"paths {random.getstate()}")
        self.puts = Random(f"puts {random.getstate()}")
        """Of values in paths: likewise."""
        self.cases = Random(f"cases {random.getstate()}")
        self.forms = Random(f"forms {random.getstate()}")
        self.effects = Random(f"effects {random.getstate()}")
        self.versions = Random(f"versions {random.getstate()}")
        self.calls = Random(f"calls {random.getstate()}")
        self.schemes: dict[str, Any] = {}
        self.made: dict[str, Made] = {}
        self.codes: dict[str, dict[str, Any]] = {}
        self.conditions = Conditions(random, self.made)
        self.condition, self.atom = self.conditions.condition, self.conditions.atom

    def often(self, chance: float) -> bool:
        return self.random.random() < chance

    def contract(self) -> dict[str, Any]:
        self._schemes()
        self.conditions.callers = bool(self.schemes)
        self._user()
        self._item()
        if self.often(0.7):
            self._part()
        for resource in self.made.values():
            self._computed(resource)
        for resource in self.made.values():
            self._rules(resource)
        errors = self._errors()
        endpoints = self._endpoints()
        resources: dict[str, Any] = {}
        for name, made in self.made.items():
            resources[name] = {"primary key": made.primary_key if len(made.primary_key) > 1 else made.primary_key[0]}
            resources[name] |= {"fields": made.fields, **made.more}
            if made.required:
                resources[name]["required"] = made.required
        if any("$ref" in said for made in self.made.values() for said in made.fields.values()):
            members = {"w": {"type": "integer", "minimum": 0}, "h": {"type": ["number", "null"]}}
            resources["types"] = {"size": {"type": "object", "properties": members, "required": ["w"]}}
        states = {name: NONE if made.machine is None else made.machine for name, made in self.made.items()}
        has_states = any(made.machine for made in self.made.values())
        authentication = self._authentication(endpoints, "caller" in f"{resources}{states}{endpoints}")
        self._by_effects(endpoints)
        self._by_path_values(endpoints)
        self._by_cases(endpoints)
        self._by_forms(endpoints)
        if by_calls(self.calls, endpoints, self.made):
            self.codes.update(CODE)
        stated = {
            "purpose": "A service made at random.",
            "resources": resources,
            "states": states if has_states else NONE,
            "endpoints": endpoints,
            "authentication": authentication,
            "events": NONE,
            "errors": errors,
            "limits": {
                "rates": NONE,
                "timeout": NONE,
                "body size": self.random.choice([NONE, "1 KiB"]),
                "pages": self._pages(),
                "idempotency keys kept": self.random.choice(["PT1H", "P1D"]),
            },
            "versioning": NONE,
        }
        return Versioned(self.versions, stated, self.made).stated() if self.versions.random() < 0.25 else stated

    # ── Resources ─────────────────────────────────────────────────────────────────────────────────────────────

    def _identifier(self) -> tuple[dict[str, Any], Kind]:
        match self.random.choice(["serial", "uuid", "code"]):
            case "serial":
                return {"type": "integer", "on create": "serial()"}, Kind("integer", False, given=False)
            case "uuid":
                return {"type": "string", "format": "uuid", "on create": "uuid()"}, Kind("string", False, given=False)
            case _:
                return {"type": "string", "maxLength": 4, "minLength": 1}, Kind("string", False)

    def _resource(self, name: str, key: bool = True) -> Made:
        made = Made(name, ["id"] if key else [], {}, {}, [])
        if key:
            made.fields["id"], made.kinds["id"] = self._identifier()
            if made.kinds["id"].given:
                made.required.append("id")
        self.made[name] = made
        return made

    def _user(self) -> None:
        user = self._resource("user")
        self._field(user, "name", "string", False)
        self._field(user, "level", "integer", self.often(0.5))
        if self.often(0.4):
            self._field(user, "admin", "boolean", True)
        if self.schemes:
            user.fields["secret_key"] = {"type": "string", "secret": "token", "on create": "token()"}
        if self.often(0.6):
            user.more["views"] = {"card": ["id", "name"]}

    def _item(self) -> None:
        item = self._resource("item")
        self._reference(item, "owner", "user", "items")
        for number in range(self.random.randint(1, 5)):
            type_ = self.random.choice([*SCALARS, *SCALARS, *ARRAYS, "size"])
            self._field(item, f"f{number}", type_, self.often(0.4))
        self._made_fields(item)
        if self.often(0.5):
            self._machine(item)
        if self.often(0.6):
            shown = [name for name in item.fields if self.often(0.6)] or ["id"]
            more: list[Any] = []
            if "views" in self.made["user"].more and self.often(0.8):
                shown = [name for name in shown if name != "owner"]
                more.append({"owner": "card(item.owner)"})
            item.more["views"] = {"brief": [*shown, *more]}

    def _part(self) -> None:
        pair = self.often(0.2)
        part = self._resource("part", key=not pair)
        self._reference(part, "item", "item", "parts", nullable=False if pair else None)
        if pair:
            self._reference(part, "maker", "user", None, nullable=False)
            part.primary_key = ["item", "maker"]
        for number in range(self.random.randint(1, 3)):
            self._field(part, f"g{number}", self.random.choice(SCALARS), self.often(0.4))
        if self.often(0.2):
            self._machine(part)

    def _reference(self, made: Made, name: str, target: str, inverse: str | None, nullable: bool | None = None) -> None:
        said: dict[str, Any] = {"references": target}
        nullable = self.often(0.4) if nullable is None else nullable
        if inverse is not None:
            said["inverse"] = inverse
            self.made[target].backs[inverse] = made.name
        choices = ["restrict", "cascade", "set null"] if nullable else ["restrict", "cascade"]
        said["on delete"] = self.random.choice(choices)
        if target == "user" and self.schemes and self.often(0.6):
            said["on create"] = "caller.user"
        if not nullable:
            made.required.append(name)
        made.fields[name] = said
        made.kinds[name] = Kind("reference", nullable)
        made.references[name] = target

    def _field(self, made: Made, name: str, type_: str, nullable: bool) -> None:
        said = schema(self.random, type_, nullable)
        if type_ == "size":
            nullable = False
        gives = {
            "integer": ["3", "size('abc')"],
            "number": ["1.5"],
            "string": ["'ab'", "slug('B')"],
            "boolean": ["false", "true"],
            "date-time": ["now"],
            "strings": ["['a']", "[]"],
            "choice": ["'red'"],
        }
        if type_ in gives and self.often(0.3):
            said["on create"] = self.random.choice(gives[type_])
        if type_ in ("string", "integer", "choice", "date-time", "boolean") and self.often(0.15):
            said["unique"] = True
        if type_ != "size" and self.often(0.1):
            said["immutable"] = True
        if type_ == "string" and self.often(0.1):
            said["normalise"] = self.random.choice(["value.trim()", "value.lowerAscii()"])
        if not nullable and self.often(0.7):
            made.required.append(name)
        made.fields[name] = said
        made.kinds[name] = Kind(type_, name not in made.required)

    def _on_change(self, text: str, made: str, texts: list[str]) -> dict[str, str]:
        """One field, one of two, or another value upon another's change."""
        other = self.random.choice(texts)
        if other == text or self.often(0.5):
            return {text: made}
        return {f"{text} or {other}": made} if self.often(0.5) else {text: made, other: f"slug(item.{other}) + '-2'"}

    def _made_fields(self, item: Made) -> None:
        texts = [name for name, kind in item.kinds.items() if kind.type == "string" and name != "id"]
        if texts and self.often(0.4):
            text = self.random.choice(texts)
            made = f"slug(item.{text})"
            given = {"on change": self._on_change(text, made, texts)} if self.often(0.6) else {"on create": made}
            item.fields["slug"] = {"type": "string", **given}
            item.fields["slug"] |= {"unique": True} if self.often(0.4) else {}
            item.kinds["slug"] = Kind("string", True, given=self.often(0.3))
        if self.often(0.3):
            item.fields["changed"] = {"type": "string", "format": "date-time", "on change": "now"}
            item.kinds["changed"] = Kind("date-time", False, given=False)
        plain = [name for name, kind in item.kinds.items() if kind.type in ("string", "integer", "boolean", "choice")]
        if len(plain) > 1 and self.often(0.3):
            item.more["unique"] = [self.random.sample(plain, 2)]

    def _machine(self, made: Made) -> None:
        made.fields["status"] = {"state": True}
        made.kinds["status"] = Kind("choice", False, given=False)
        transitions: dict[str, Any] = {
            "open": {"from": "draft", "to": "live"},
            "close": {"from": ["draft", "live"], "to": "done"},
        }
        made.machine = {
            "initial": "draft",
            "states": ["draft", "live", "done"],
            "transitions": transitions,
        }
        if self.often(0.3):
            made.machine["gone"] = ["done"]
            if self.often(0.5):
                transitions["restore"] = {"from": "done", "to": "draft"}

    def _computed(self, made: Made) -> None:
        if self.often(0.4):
            # A value is the same for everyone: nobody who asks takes part in it.
            asks, self.conditions.callers = self.conditions.callers, False
            made.fields["flag"] = {"type": "boolean", "computed": self.condition(made, made.name)}
            self.conditions.callers = asks
            made.kinds["flag"] = Kind("boolean", False, computed=True, given=False)
        if made.backs and self.often(0.6):
            back, other = next(iter(made.backs.items()))
            text = f"{made.name}.{back}.size()"
            if self.often(0.4):
                text = f"{made.name}.{back}.filter(x, {self.atom(self.made[other], 'x')}).size()"
            made.fields["count"] = {"type": "integer", "computed": text}
            made.kinds["count"] = Kind("integer", False, computed=True, given=False)
        numbers = [name for name, kind in made.kinds.items() if kind.type == "integer" and name != "count"]
        if numbers and self.often(0.3):
            made.fields["twice"] = {"type": ["integer", "null"], "computed": f"{made.name}.{numbers[0]} * 2"}
            made.kinds["twice"] = Kind("integer", True, computed=True, given=False)

    def _rules(self, made: Made) -> None:
        """Invariants, and the guards of transitions."""
        if self.often(0.3):
            check: dict[str, Any] = {"that": self.condition(made, made.name, beyond=False)}
            check |= {"else": self._code("unruly")} if self.often(0.6) else {}
            made.more["check"] = [check]
        if made.machine is not None:
            for transition in made.machine["transitions"].values():
                if self.often(0.3):
                    transition["check"] = {"that": self.condition(made, made.name)}
                    transition["check"] |= {"else": self._code("not_ready", made)} if self.often(0.5) else {}
                if self.often(0.3):
                    transition |= self._sets(made)

    def _sets(self, made: Made) -> dict[str, Any]:
        numbers = [name for name, kind in made.kinds.items() if kind.type == "integer" and not kind.computed]
        numbers = [name for name in numbers if name not in made.primary_key and "immutable" not in made.fields[name]]
        times = [name for name, kind in made.kinds.items() if kind.type == "date-time" and kind.given]
        times = [name for name in times if "immutable" not in made.fields[name]]
        texts = [name for name, kind in made.kinds.items() if kind.type == "string" and kind.given]
        texts = [name for name in texts if name not in made.primary_key and "immutable" not in made.fields[name]]
        sets = {}
        if numbers and self.often(0.5):
            name = self.random.choice(numbers)
            other = self.random.choice(numbers)
            sets[name] = self.random.choice([f"{made.name}.{name} + 1", "3", f"{made.name}.{other} + 1"])
        elif times:
            sets[times[0]] = "now"
        elif texts:
            sets[texts[0]] = "'ab'"
        return {"sets": sets} if sets else {}

    # ── Endpoints ─────────────────────────────────────────────────────────────────────────────────────────────

    def _endpoints(self) -> dict[str, Any]:

        def ignored() -> str:
            return self.random.choice(["refused", "ignored"])

        found: dict[str, Any] = {
            "requests": {
                "media type": "application/json",
                "unknown members": ignored(),
                "unknown parameters": ignored(),
            },
            "produces": "application/json",
        }
        if self.often(0.2):
            found = {"base": "/api/v0", **found}
        for made in self.made.values():
            self._endpoints_of(made, found)
        if self.schemes and self.often(0.5):
            self._of_the_caller(found)
        if self.often(0.3):
            found["GET /statistics"] = {
                "does": "compute",
                "responses": {200: {"users": "all(user).size()", "names": "all(user).map(u, u.name).sort()"}},
            }
        return found

    def _does(self, made: Made, verb: str) -> str | list[str]:
        """The verb, now and then with transitions that may follow it."""
        does = [f"{verb} {made.name}"]
        transitions = {} if made.machine is None else made.machine["transitions"]
        state = made.machine["initial"] if made.machine is not None and verb == "create" else None
        state = transitions[verb]["to"] if verb in transitions else state
        while self.steps.random() < 0.3:
            leading = [
                name
                for name, each in transitions.items()
                if state is None or state in (each["from"] if isinstance(each["from"], list) else [each["from"]])
            ]
            if not leading:
                break
            taken = self.steps.choice(leading)
            does.append(f"{taken} {made.name}")
            state = transitions[taken]["to"]
        return does if len(does) > 1 else does[0]

    def _of_the_caller(self, found: dict[str, Any]) -> None:
        user = self.made["user"]
        found["GET /me"] = {
            "does": "read user",
            "where": "user == caller.user",
            "responses": {200: self._content(user)},
        }
        changeable = [each for each, kind in user.kinds.items() if kind.given and each not in user.primary_key]
        if changeable and self.often(0.7):
            patch = {"does": "update user", "where": "user == caller.user", "body": changeable, "patch": "merge"}
            found["PATCH /me"] = self._guarded(user, patch | {"responses": {200: self._content(user)}})

    def _endpoints_of(self, made: Made, found: dict[str, Any]) -> None:
        name, paths = made.name, f"/{made.name}s"
        key = "/".join("{" + each + "}" for each in made.primary_key)
        if len(made.primary_key) > 1:
            key = "{item.id}/{maker.id}"
        one = f"{paths}/{key}"
        body = [each for each, kind in made.kinds.items() if kind.given and not kind.computed]
        if self.often(0.9):
            token = {"token": "issued.secret_key"} if "secret_key" in made.fields else {}
            created: Any = {"made": name, **token} if token else self._content(made)
            endpoint: dict[str, Any] = {"does": self._does(made, "create"), "body": self._body(made, body)}
            endpoint["responses"] = {201: created}
            if self.often(0.4) and made.primary_key == ["id"]:
                shown = f"{name}.id" if made.kinds["id"].type == "string" else f"string({name}.id)"
                endpoint["headers"] = {"Location": f"'{paths}/' + {shown}"}
            found[f"POST {paths}"] = self._guarded(made, endpoint)
        if self.often(0.9):
            found[f"GET {paths}"] = self._list(made)
        changeable = [each for each in body if each not in made.primary_key]
        # A response that shows more than the row itself can have no entity tag.
        plain = not any(kind.computed for kind in made.kinds.values())
        plain = plain and not any(said.get("on delete") == "set null" for said in made.fields.values())
        etag = {"etag": True} if plain and self.often(0.5) else {}

        def content() -> Any:
            return name if etag else self._content(made)

        if self.often(0.9):
            found[f"GET {one}"] = {"does": f"read {name}", **etag, "responses": {200: content()}}
            if not etag:
                self._choices(made, found[f"GET {one}"])
        if changeable and self.often(0.8):
            found[f"PATCH {one}"] = self._guarded(
                made,
                {
                    "does": self._does(made, "update"),
                    "body": self._body(made, [each for each in changeable if self.often(0.8)] or changeable),
                    "patch": "merge",
                    **etag,
                    "responses": {200: content()},
                },
            )
            if self.often(0.2):
                sets = self._sets(made).get("sets", {})
                named = found[f"PATCH {one}"]["body"]
                sets = {name: value for name, value in sets.items() if name not in str(named)}
                found[f"PATCH {one}"] |= {"sets": sets} if sets else {}
        # What the caller is given for, a caller who is nobody cannot be.
        given = [each for each in changeable if made.fields[each].get("on create") != "caller.user"]
        if changeable and self.often(0.5):
            found[f"PUT {one}"] = self._guarded(
                made,
                {
                    "does": self._does(made, "put"),
                    "body": self._body(made, given or changeable),
                    **etag,
                    "responses": {"replaced": {200: content()}},
                },
            )
        serial = any(made.fields[each].get("on create") == "serial()" for each in made.primary_key)
        if changeable and not serial and len(made.primary_key) == 1 and self.puts.random() < 0.4:
            stated = self.puts.choice(_OUTCOMES)
            found[f"PUT {one}"] = self._guarded(
                made,
                {
                    "does": f"put {name}",
                    "body": self._body(made, given or changeable),
                    **etag,
                    "responses": {outcomes: {status: content()} for outcomes, status in stated.items()},
                },
            )
        if self.to_all:
            self._to_all(made, found, changeable)
        if self.often(0.7):
            response = self.random.choice([{204: NONE}, {200: {"was": f"{name}.{made.primary_key[0]}"}}])
            found[f"DELETE {one}"] = self._guarded(made, {"does": f"delete {name}", **etag, "responses": response})
        for transition in (made.machine or {}).get("transitions", ()):
            endpoint = {"does": self._does(made, transition), "body": NONE, "responses": {200: self._content(made)}}
            found[f"POST {one}/{transition}"] = self._guarded(made, endpoint)
        for reference, target in made.references.items():
            if self.often(0.4) and self.made[target].primary_key == ["id"]:
                nested = "/" + target + "s/{" + reference + ".id}" + paths
                found[f"GET {nested}"] = self._list(made)
                if self.often(0.6):
                    rest = [each for each in body if each != reference]
                    endpoint = {"does": f"create {name}", "body": self._body(made, rest)}
                    found[f"POST {nested}"] = self._guarded(made, endpoint | {"responses": {201: self._content(made)}})
                if made.primary_key == ["id"] and self.often(0.5):
                    found[f"GET {nested}/" + "{id}"] = {"does": f"read {name}", "responses": {200: self._content(made)}}

    def _by_cases(self, endpoints: dict[str, Any]) -> None:
        """Endpoints that do in each case what another does, with rows of another resource: which, a parameter says."""
        throws = self.cases
        for method, tail in (("GET", "/{id}"), ("GET", ""), ("POST", ""), ("PATCH", "/{id}"), ("DELETE", "/{id}")):
            of = {name: f"{method} /{name}s{tail}" for name, made in self.made.items() if made.primary_key == ["id"]}
            there = {name: endpoints[key] for name, key in of.items() if key in endpoints}
            # What reads the parameters of its own endpoint stays there.
            cases = {name: {key: said[key] for key in IN_A_CASE if key in said} for name, said in there.items()}
            cases = {name: said for name, said in cases.items() if "request.query" not in str(said)}
            if method == "GET" and not tail:
                cases = {name: said | {"responses": {200: {"data": "page.items"}}} for name, said in cases.items()}
            if not cases or throws.random() < 0.4:
                continue
            names = [*cases, "nothing"]
            if throws.random() < 0.5:
                cases["all others"] = cases.pop(throws.choice([*cases]))
            query = {"of": {"enum": names}}
            endpoints[f"{method} /things{tail}"] = {"query": query, "cases": {"by": "request.query.of", **cases}}

    def _by_forms(self, endpoints: dict[str, Any]) -> None:
        """Endpoints that do what another does, by a form, or by JSON as well."""
        free = [name for made in self.made.values() for name, kind in made.kinds.items() if kind.type == "size"]
        for key, said in list(endpoints.items()):
            body = said.get("body") if isinstance(said, dict) else None
            flat = isinstance(body, list) and not set(body) & set(free)
            if not flat or "cases" in said or self.forms.random() < 0.6:
                continue
            media_types = self.forms.choice([FORM, FORM, ["application/json", FORM]])
            own = said.get("requests", {}) | {"media type": media_types}
            endpoints[f"{key}/form"] = {**said, "requests": own}

    def _by_effects(self, endpoints: dict[str, Any]) -> None:
        """What else endpoints do: to rows that refer to the one acted on, or that it refers to."""
        for key, endpoint in endpoints.items():
            does = endpoint.get("does") if isinstance(endpoint, dict) and " /" in key else None
            verb, _, name = (does if isinstance(does, str) else "").partition(" ")
            if name not in self.made or verb in ("read", "list") or self.effects.random() < 0.6:
                continue
            found = [each for each in self._effects_of(self.made[name]) if self.effects.random() < 0.5]
            if found:
                endpoint["also"] = self.effects.sample(found, min(len(found), 2))

    def _effects_of(self, acting: Made) -> Iterator[dict[str, Any]]:
        for made in self.made.values():
            states = list((made.machine or {}).get("transitions", ()))
            sets = {
                name: {"integer": "2", "boolean": "true", "number": "1.5"}[kind.type]
                for name, kind in made.kinds.items()
                if kind.type in ("integer", "boolean", "number")
                and not {"computed", "immutable", "on change", "unique"} & made.fields[name].keys()
                and name not in made.primary_key
            }
            where = [f"{made.name}.{each} == this" for each, target in made.references.items() if target == acting.name]
            where += [
                f"{made.name} == this.{each}" for each, target in acting.references.items() if target == made.name
            ]
            numbers = [each for each in sets if made.kinds[each].type == "integer"]
            where += [f"{made.name}.{each} > 3" for each in numbers if made is not acting]
            if made is not acting:
                same = [f"before.{acting.name}.{each} != this.{each}" for each in self._numbers(acting)]
                where += [f"{which} && {each}" for which in where[:1] for each in same]
            for which in where:
                if sets:
                    yield {"does": f"update {made.name}", "where": which, "sets": sets}
                if numbers and made is not acting:
                    raised = {numbers[0]: f"{made.name}.{numbers[0]} + 1"}
                    yield {"does": f"update {made.name}", "where": which, "sets": raised}
                if made.name == "part":
                    yield {"does": f"delete {made.name}", "where": which}
                for each in states:
                    yield {"does": f"{each} {made.name}", "where": which}
            keys = [name for name, target in made.references.items() if target == acting.name]
            created = dict.fromkeys(keys, "this") | sets
            lacks = {each for each in made.required if "on create" not in made.fields[each]} - created.keys()
            # Each creation of a request is given the same random bits here, and no two rows have one identifier.
            again = made.fields.get("id", {}).get("on create") == "uuid()"
            if keys and not lacks and made.name != "user" and not again:
                yield {"does": f"create {made.name}", "sets": created}
                later = "now > timestamp('2026-01-01T01:00:00Z')"
                yield {"does": f"create {made.name}", "where": later, "sets": created}
            if made.name != "user" and made is not acting and lacks == {"id"}:
                yield {"does": f"put {made.name}", "sets": {"id": "'a'", **created}}

    def _numbers(self, made: Made) -> list[str]:
        return [name for name, kind in made.kinds.items() if kind.type == "integer" and name in made.fields]

    def _by_path_values(self, found: dict[str, Any]) -> None:
        """Endpoints with a name in braces that is no field; what is wrong with it may have a code, in three ways."""
        throws = self.paths
        for made in self.made.values():
            if throws.random() < 0.5:
                continue
            numbers = [name for name, kind in made.kinds.items() if kind.type == "integer"]
            near: dict[str, Any] = {"type": "string", "maxLength": 4}
            endpoint: dict[str, Any] = {"does": "compute", "responses": {200: {"near": "request.path.near"}}}
            if numbers:
                near = {"type": "integer", "minimum": 0, "maximum": 40}
                endpoint = {
                    "does": f"list {made.name}",
                    "sort": made.primary_key,
                    "where": f"{made.name}.{throws.choice(numbers)} >= request.path.near",
                    "responses": {200: {"data": "page.items", "near": "request.path.near"}},
                }
            codes = sorted(name for name, code in self.codes.items() if not {"headers", "detail"} & code.keys())
            match throws.randint(0, 3):
                case 0 | 1 if codes:
                    endpoint["errors"] = {"not found path.near": throws.choice(codes)}
                case 2 if codes and "data" in endpoint["responses"][200]:
                    endpoint["errors"] = {f"not found {made.name}": throws.choice(codes)}
            found[f"GET /{made.name}s/near/{{near}}"] = {**endpoint, "path": {"near": near}}

    def _to_all(self, made: Made, found: dict[str, Any], changeable: list[str]) -> None:
        """What is done to all rows."""
        throws, name = Random(f"all {self.random.random()}"), made.name
        plain = [each for each in changeable if each not in made.kinds or made.kinds[each].type in SCALARS]
        plain = [each for each in plain if "secret" not in made.fields[each]]
        verbs = {"PATCH": f"update all {name}", "DELETE": f"delete all {name}"}
        verbs |= {f"POST {each}": f"{each} all {name}" for each in (made.machine or {}).get("transitions", ())}
        for key, does in verbs.items():
            if throws.random() > 0.3 or (key == "PATCH" and not plain):
                continue
            method, _, transition = key.partition(" ")
            endpoint: dict[str, Any] = {"does": does}
            if key == "PATCH":
                chosen = [each for each in plain if throws.random() < 0.6] or plain
                endpoint |= {"body": chosen, "patch": "merge"}
            elif transition:
                endpoint["body"] = NONE
            filters = {f"q{number}": each for number in range(2) if self.often(0.5) and (each := self._filter(made))}
            endpoint |= {"query": filters} if filters else {}
            if throws.random() < 0.3:
                endpoint["where"] = self.condition(made, name)
            shown: Any = throws.choice(
                ["page.items", {"count": "page.total"}, {"data": "page.items", "n": "page.items.size()"}]
            )
            endpoint["responses"] = {200: shown} if throws.random() < 0.8 else {204: NONE}
            path = f"/{name}s" + (f"/all/{transition}" if transition else "")
            found[f"{method} {path}"] = self._guarded(made, endpoint)

    def _body(self, made: Made, fields: list[str]) -> Any:
        return {made.name: fields} if self.often(0.15) else fields

    def _guarded(self, made: Made, endpoint: dict[str, Any]) -> dict[str, Any]:
        if self.often(0.15):
            endpoint["idempotency key"] = self.random.choice(["optional", "optional", "required"])
        if self.often(0.25):
            endpoint["check"] = {"that": self.condition(made, made.name)}
            if self.often(0.6):
                endpoint["check"]["else"] = self._code("not_now", made)
        if self.codes and self.often(0.1):
            endpoint["errors"] = {
                self.random.choice(["not found", "invalid", "conflict"]): self.random.choice([*self.codes])
            }
        return endpoint

    def _content(self, made: Made) -> Any:
        name = made.name
        if "views" in made.more and self.often(0.5):
            view = next(iter(made.more["views"]))
            return self.random.choice([f"{view}({name})", {"data": f"{view}({name})"}])
        match self.random.randint(0, 4):
            case 0:
                chosen = self.random.sample(list(made.kinds), min(2, len(made.kinds)))
                members: dict[str, Any] = {each: f"{name}.{each}" for each in chosen}
                if made.references and self.often(0.6):
                    reference, target = self.random.choice(list(made.references.items()))
                    field_ = self.random.choice(list(self.made[target].kinds))
                    members["through"] = f"{name}.{reference}.{field_}"
                return members
            case 1:
                return {"it": name, "at": "now"} if self.often(0.5) else {"it": name}
            case _:
                return name

    def _list(self, made: Made) -> dict[str, Any]:
        sortable = [name for name, kind in made.kinds.items() if kind.type in SCALARS]
        query: dict[str, Any] = {}
        keys = self.random.sample(sortable, min(len(sortable), self.random.randint(1, 2))) or made.primary_key
        sort = [self.random.choice(["", "-"]) + key for key in keys]
        if sortable and self.often(0.6):
            query["sort"] = {"sorts": [self.random.choice(["", "-"]) + key for key in sortable[:3]]}
        endpoint: dict[str, Any] = {"does": f"list {made.name}", "sort": sort, "query": query}
        query |= {f"q{number}": each for number in range(3) if self.often(0.5) and (each := self._filter(made))}
        if self.often(0.2):
            endpoint["where"] = self.condition(made, made.name)
        numbers = [name for name, kind in made.kinds.items() if kind.type == "integer"]
        if numbers and self.often(0.3):
            query["least"] = {"type": "integer", "minimum": 0}
            if self.often(0.5):
                endpoint["errors"] = {"invalid query.least": self._code("too_little")}
            endpoint["where"] = f"!has(request.query.least) || {made.name}.{numbers[0]} >= request.query.least"
        if self.often(0.4):
            endpoint["pages"] = self._pages()
        view = next(iter(made.more.get("views", ())), None)
        items = f"{view}(page.items)" if view and self.often(0.5) else "page.items"
        whole = {"data": items, "next": "page.next", "total": "page.total", "count": "page.items.size()"}
        if endpoint.get("pages", {}) != NONE and (own := endpoint.get("pages")):
            told = ["size"] if own["by"] == "cursor" else ["size", "start", "previous"]
            whole |= {each: f"page.{each}" for each in told}
            if isinstance(own.get("at"), str) and own["at"] != NONE:
                whole["link"] = "page.at('a b')" if own["by"] == "cursor" else "page.at(page.next)"
        if not self.often(0.6):
            whole = {name: value for name, value in whole.items() if name == "data" or self.often(0.5)}
        endpoint["responses"] = {200: whole}
        self._choices(made, endpoint)
        return endpoint

    def _choices(self, made: Made, endpoint: dict[str, Any]) -> None:
        """What a request may choose of what is shown."""
        throws = self.choices
        shown = endpoint["responses"][200]
        text = str(shown if isinstance(shown, str) else shown.get("data", shown.get("it", "")))
        members = list(shown) if isinstance(shown, dict) and not text else [*made.fields]
        if "(" in text:
            members = [
                name
                for each in made.more["views"][text.partition("(")[0]]
                for name in (each if isinstance(each, dict) else [each])
            ]
        members = [name for name in members if name != "secret_key"]
        if members and throws.random() < 0.35:
            fields = {"selects": throws.sample(members, throws.randint(1, len(members))), **self._explode()}
            if throws.random() < 0.3:
                fields["always"] = [throws.choice(members)]
            endpoint.setdefault("query", {})["fields"] = fields
        if made.references and throws.random() < 0.35:
            offered: Any = list(made.references)
            if throws.random() < 0.5:
                views = {
                    name: next(iter(self.made[each].more.get("views", ())), None)
                    for name, each in made.references.items()
                }
                offered = {
                    name: throws.choice([each, each if views[name] is None else f"{views[name]}({made.name}.{name})"])
                    for name, each in made.references.items()
                }
            endpoint.setdefault("query", {})["expand"] = {"expands": offered, **self._explode()}
        if not endpoint.get("query", True):
            del endpoint["query"]

    def _explode(self) -> dict[str, Any]:
        return {"explode": self.choices.choice([True, False])}

    def _filter(self, made: Made) -> Any:
        names = [name for name, kind in made.kinds.items() if kind.type not in ("reference", "size")]
        if made.references and self.often(0.2):
            reference = self.random.choice(list(made.references))
            return self.random.choice([f"{made.name}.{reference} == value", f"{made.name}.{reference}.id == value"])
        if not names:
            return None
        name = self.random.choice(names)
        read = f"{made.name}.{name}"
        match made.kinds[name].type:
            case "strings" | "integers":
                return f"value in {read}"
            case "integer" | "number" | "date-time" | "string":
                if self.often(0.2):
                    return {"where": f"{read} in value", "explode": self.random.choice([True, False])}
                if self.often(0.1) and made.kinds[name].type == "integer":
                    return {"where": f"{read} >= value", **self.random.choice([{"default": 1}, {"type": "integer"}])}
                return f"{read} {self.random.choice(['==', '<', '>=', '!='])} value"
            case _:
                return f"{read} == value"

    def _pages(self) -> Any:
        match self.random.randint(0, 4):
            case 0:
                return NONE
            case 1 | 2:
                by = self.random.choice(["offset", "page"])
            case _:
                by = "cursor"
        return {
            "by": by,
            "default": self.random.choice([1, 2, 3]),
            **self.random.choice([{}, {}, {"minimum": 0}]),
            "maximum": self.random.choice([3, 5, NONE]),
            **({} if by == "cursor" else {"first": self.random.choice([0, 1])}),
            "size": "limit",
            "at": by,
        }

    # ── Who may, and errors ───────────────────────────────────────────────────────────────────────────────────

    def _schemes(self) -> None:
        if self.often(0.75):
            self.schemes["key"] = {"type": "http", "scheme": self.random.choice(["bearer", "token"])}
            self.schemes["key"]["matches"] = "user.secret_key"
            if self.often(0.3):
                where = self.random.choice(["header", "query", "cookie"])
                self.schemes["staff"] = {
                    "type": "apiKey",
                    "in": where,
                    "name": "staff_key",
                    "matches": "user.secret_key",
                }
                if self.often(0.5):
                    self.schemes["staff"]["caller"] = {"grade": "caller.user.level"}

    def _authentication(self, endpoints: dict[str, Any], reads_caller: bool) -> dict[str, Any]:
        """`reads_caller`: something does, which nobody who is `anyone` alone may ask for."""
        if not self.schemes:
            return {"schemes": NONE, "rows": "all", "permissions": {"all others": "anyone"}}
        rows: Any = "all"
        everyone = [*self.schemes, "anyone"]
        if self.often(0.75):
            rows = {}
            for made in self.made.values():
                rows[made.name] = {
                    who: True if self.often(0.5) else self._of(who, made) for who in everyone if self.often(0.97)
                } or "all"
        permissions: dict[str, Any] = {}
        for key in endpoints:
            if " /" in key and self.often(0.5):
                permissions[key] = self._permission(key)
        permissions["all others"] = self.random.choice([*self.schemes, "anyone", everyone, everyone, everyone])
        if reads_caller:
            permissions = {key: everyone if said == "anyone" else said for key, said in permissions.items()}
        unseen = self.random.choice(["not found", "forbidden"])
        return {"schemes": self.schemes, "rows": rows, "unseen rows": unseen, "permissions": permissions}

    def _permission(self, key: str) -> Any:
        everyone = [*self.schemes, "anyone"]
        made = next((each for each in self.made.values() if f"/{each.name}s" in key.rpartition("}/")[2]), None)
        if made is None or self.often(0.5):
            return self.random.choice([*self.schemes, "anyone", everyone])
        if key.startswith("GET") and not key.endswith("}"):
            return {who: self.random.choice([True, "caller.user.level > 2"]) for who in self.schemes}
        found = {who: True if self.often(0.3) else self._of(who, made) for who in everyone if self.often(0.7)}
        return found if found.keys() - {"anyone"} else "anyone"

    def _of(self, who: str, made: Made) -> str | bool:
        """A condition of rows, which of `anyone` reads no caller."""
        condition = self.condition(made, made.name)
        return True if who == "anyone" and "caller" in condition else condition

    def _code(self, name: str, made: Made | None = None) -> str:
        texts = [] if made is None else [each for each, kind in made.kinds.items() if kind.type in ("string", "choice")]
        if made is not None and texts and self.often(0.4):
            name = f"{name}_{made.name}"
            told = {"detail": f"'It is ' + {made.name}.{texts[-1]}"}
            headers = {"headers": {"X-Told": f"{made.name}.{texts[0]}", "Location": "'/rules'"}}
            self.codes.setdefault(name, {"status": 409, **self.random.choice([told, headers, told | headers])})
        if name not in self.codes:
            self.codes[name] = {"status": self.random.choice([409, 422, 403]), "title": f"It is {name}"}
        return name

    def _errors(self) -> Any:
        groups = [
            ["no such path"],
            ["method not allowed"],
            ["unauthenticated"],
            ["forbidden"],
            ["too large"],
            ["unsupported media type"],
            ["not acceptable"],
            ["malformed"],
            ["invalid"],
            ["idempotency mismatch"],
            ["not found"],
            ["gone"],
            ["precondition failed"],
            ["illegal transition"],
            ["conflict"],
        ]
        if not self.often(0.8):
            for name in ("not_ready", "not_now", "unruly"):
                self._code(name)
        for group in groups:
            if self.often(0.8):
                name = group[0].replace(" ", "_")
                code: dict[str, Any] = {"status": self.random.choice([400, 404, 409, 422]), "for": group[0]}
                if group[0] in ("unauthenticated", "method not allowed"):
                    code["status"] = {"unauthenticated": 401, "method not allowed": 405}[group[0]]
                code |= {"title": f"About {name}"} if self.often(0.8) else {}
                code |= {"about": "it"} if self.often(0.3) else {}
                code |= {"detail": "'at ' + string(now)"} if self.often(0.1) else {}
                self.codes[name] = code
        if self.often(0.3):
            self.codes["no_user"] = {"status": 404, "title": "No such user", "for": "not found user"}
        if self.often(0.3):
            self.codes["taken_name"] = {"status": 409, "title": "The name is taken", "for": "conflict user.name"}
        stated = self.random.sample([*(group[0] for group in groups[2:]), "check"], self.random.randint(2, 12))
        errors: dict[str, Any] = {"codes": self.codes}
        if self.often(0.9):
            shapes: list[Any] = [
                {"code": "error.code", "title": "error.title", "status": "error.status", "fields": "error.fields"},
                {"errors": "error.messages"},
                {"code": "error.code", "detail": "error.detail", "all": ["error.title", "error.messages"]},
            ]
            shape = self.random.choice(shapes)
            errors = {"error shape": {"media type": "application/problem+json", "body": shape}, **errors}
        else:
            errors = {"error shape": NONE, **errors}
        if self.often(0.6):
            errors["messages"] = {"required": "is needed", "unique": "is taken", "type": "is of another kind"}
            if self.often(0.6):
                errors["messages"]["all others"] = "is wrong"
        if self.often(0.6):
            errors["precedence"] = ["no such path", "method not allowed", *stated]
            for narrowed in ("not found user", "conflict user.name", "invalid user.name", "invalid user"):
                if self.often(0.2):
                    errors["precedence"].insert(self.random.randint(2, len(stated) + 2), narrowed)
        for narrowed in ("invalid user.name", "invalid user", "invalid item"):
            if self.often(0.2):
                name = narrowed.replace(" ", "_").replace(".", "_")
                self.codes[name] = {"status": 422, "title": f"About {name}", "for": narrowed}
        return errors


def contract(seed: int | str, to_all: bool = False) -> dict[str, Any]:
    """The contract of a seed: the same each time. `to_all`: with operations on all rows."""
    return Maker(Random(f"contract {seed}"), to_all).contract()
