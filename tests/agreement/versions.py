"""Random older versions: a contract gets fields, endpoints and codes that came later, and says the way back. What each
older version is, the interpreter tells for itself (`tests/reference/older.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from tests.agreement.conditions import Made
from tests.agreement.functions import CALLS, CODE, KNOWN
from tests.agreement.writing import NONE, written
from tests.reference.older import Added, Removed, Renamed, RowChange, older
from tests.reference.versions import Beside, Named, Older, Service, Without
from tests.reference.versions import Made as MadeOf
from tests.reference.versions import RowChange as Known

from ninefold.checked.contents import Leaf, Object
from ninefold.checked.service import Checked
from ninefold.diagnostics.diagnostic import has_errors
from ninefold.expressions.tree import Typed
from ninefold.pipeline import Loaded, compile_document

LATER: Final[tuple[dict[str, Any], ...]] = (
    {"type": ["integer", "null"], "minimum": 0},
    {"type": "integer", "on create": 4},
    {"type": "string", "maxLength": 5},
    {"type": ["string", "null"], "on create": "'ab'"},
)
"""Fields that came later."""

OTHERWISE: Final[tuple[tuple[dict[str, Any], dict[str, Any]], ...]] = (
    (
        {"type": "integer", "minimum": 0, "maximum": 40},
        {
            "is": "R.F * 10",
            "stored": "value % 10 == 0 ? value / 10 : null",
            "was": {"type": "integer", "minimum": 0, "maximum": 500},
        },
    ),
    (
        {"type": "integer", "minimum": -9, "maximum": 9},
        {"is": "R.F + 1", "stored": "value - 1", "was": {"type": "integer", "minimum": -20, "maximum": 20}},
    ),
    (
        {"type": "string", "enum": ["red", "green", "blue"]},
        {
            "is": "R.F == 'blue' ? 'green' : R.F",
            "stored": "value",
            "was": {"type": "string", "enum": ["red", "green"]},
        },
    ),
)
"""Fields that had another value: what they are, and the change."""


PINNED: Final = "Pinned-Version"
"""The header that says the version of a request that names none, where a contract says so."""


class Versioned:
    """A contract under way to one of several versions. What is changed once is not changed again."""

    def __init__(self, random: Random, contract: dict[str, Any], made: Mapping[str, Made], more: bool = False) -> None:
        self.random, self.made, self.more = random, made, more
        self.named = Random(f"named {random.getstate()}")
        self.contract: dict[str, Any] = _apart(contract)
        self.touched: set[str] = {*CODE}  # a function knows its code by its newest name
        self.number = 0

    def often(self, chance: float) -> bool:
        return self.random.random() < chance

    def stated(self) -> dict[str, Any]:
        names = ["three", "two", "one"][: self.random.choice([2, 2, 3])]
        names = names[:1] if self.more and self.named.random() < 0.2 else names
        versions: dict[str, Any] = {names[0]: {}}
        for name in names[1:]:
            changes = [change for _ in range(self.random.randint(1, 5)) if (change := self._change()) is not None]
            # New names come last, as whoever reads the changes in turn would have them.
            said: dict[str, Any] = {"changes": changes or NONE}
            said |= {"deprecated": "2026-01-01"} if self.often(0.3) else {}
            said |= {"sunset": "2027-01-01"} if self.often(0.3) else {}
            said |= {"retired": self.random.choice(["2026-01-02", "2027-01-01"])} if self.often(0.15) else {}
            versions[name] = said
        by = self.random.choice(["header", "header", "query", "path"])
        by = "media type" if by == "header" and self.named.random() < 0.4 else by
        default = self.random.choice(names)
        self.contract["versioning"] = {
            "in": by,
            **({} if by == "path" else {"name": {"header": "Api-Version", "query": "v", "media type": "v"}[by]}),
            "default": self._pinned(names) if (by != "path" or self.more) and self.named.random() < 0.4 else default,
            "versions": versions,
            "compatible": ["deprecate"],
        }
        codes = self.contract["errors"]["codes"]
        for condition in ("unknown version", "retired version"):
            if self.often(0.5):
                codes[condition.replace(" ", "_")] = {"status": 406, "title": f"About {condition}", "for": condition}
        return self.contract

    def _pinned(self, names: list[str]) -> str:
        """What gives the version of a request that names none: who calls, or a header."""
        by_header = f"request.headers['{PINNED}']"
        if self.contract["authentication"]["schemes"] is NONE or self.named.random() < 0.3:
            return by_header
        first, last = self.named.sample(names, 2) if len(names) > 1 else names * 2
        by_caller = f"has(caller.user) && caller.user.level > 2 ? '{first}' : '{last}'"
        return self.named.choice([by_caller, f"has(caller.user) ? '{first}' : {by_header}"])

    def _change(self) -> dict[str, Any] | None:
        kinds: list[Callable[[], dict[str, Any] | None]] = [
            *(self._renamed_field, self._removed_field, self._added_field, self._changed_field, self._narrowed_field),
            *(self._renamed_endpoint, self._removed_endpoint, self._added_endpoint, self._changed_endpoint),
            *(self._of_parameter, self._changed_view, self._of_code),
        ]
        return self.random.choice(kinds)()

    def _once(self, *found: str) -> str | None:
        """One of them that nothing has changed yet."""
        free = [each for each in found if each not in self.touched]
        if not free:
            return None
        chosen = self.random.choice(free)
        self.touched.add(chosen)
        return chosen

    def _new(self, name: str) -> str:
        self.number += 1
        return f"{name}{self.number}"

    # ── Fields ────────────────────────────────────────────────────────────────────────────────────────────────

    def _own(self) -> list[tuple[str, str]]:
        """Fields whose names are nothing else."""
        found = [(made.name, name) for made in self.made.values() for name in made.fields]
        return [(of, name) for of, name in found if (name[0] in "fg" and name[1:].isdigit()) or name == "level"]

    def _renamed_field(self) -> dict[str, Any] | None:
        named = self._once(*(f"{of}.{name}" for of, name in self._own()))
        if named is None:
            return None
        of, _, name = named.partition(".")
        lists = [each for each in self.contract["endpoints"].values() if each and _does(each) == ("list", of)]
        for each in lists:
            if self.made[of].kinds[name].type in ("integer", "string", "boolean"):
                each["query"] = {**each.get("query", {}), name: f"{named} == value"}
        return {"rename": named, "to": self._new("was")}

    def _later(self, schema: dict[str, Any]) -> tuple[str, str]:
        """A field more, in some bodies, filters and orders."""
        of = self.random.choice([*self.made])
        name = self._new("later")
        self.contract["resources"][of]["fields"][name] = schema
        for endpoint in self.contract["endpoints"].values():
            verb, acted_on = _does(endpoint)
            if acted_on != of:
                continue
            body = endpoint.get("body")
            inner = body.get(of) if isinstance(body, dict) else body
            if isinstance(inner, list) and verb in ("create", "update", "put"):
                inner.append(name)
            if verb == "list" and self.often(0.6):
                endpoint["query"] = {**endpoint.get("query", {}), name: f"{of}.{name} == value"}
                sorts = endpoint["query"].get("sort", {}).get("sorts")
                if sorts and self.often(0.5):
                    sorts.append(name) if isinstance(sorts, list) else sorts.update(later=name)
        return of, name

    def _removed_field(self) -> dict[str, Any]:
        schema = dict(self.random.choice(LATER))
        of, name = self._later(schema)
        value = {} if self.often(0.6) else {"on create": 5 if "integer" in schema["type"] else "'cd'"}
        return {"remove": f"{of}.{name}", **value}

    def _added_field(self) -> dict[str, Any] | None:
        numbers = [each for each in self._own() if self.made[each[0]].kinds[each[1]].type == "integer"]
        name = self._new("memo")
        if not numbers or self.often(0.3):
            return {"add": f"{self.random.choice([*self.made])}.{name}", "was": {"type": ["integer", "null"]}}
        of, read = self.random.choice(numbers)
        return {"add": f"{of}.{name}", "was": {"type": ["integer", "null"]}, "is": f"{of}.{read} * 3"}

    def _changed_field(self) -> dict[str, Any]:
        schema, change = self.random.choice(OTHERWISE)
        of, name = self._later(dict(schema))
        said = {"is": change["is"].replace("R.F", f"{of}.{name}"), "stored": change["stored"], "was": change["was"]}
        return {"change": f"{of}.{name}", **said}

    def _narrowed_field(self) -> dict[str, Any]:
        of, name = self._later({"type": "integer", "minimum": 0})
        return {"change": f"{of}.{name}", "was": {"type": "integer", "minimum": 0, "maximum": 3}}

    # ── Endpoints ─────────────────────────────────────────────────────────────────────────────────────────────

    def _keys(self) -> list[str]:
        return [key for key in self.contract["endpoints"] if " /" in key]

    def _renamed_endpoint(self) -> dict[str, Any] | None:
        key = self._once(*self._keys())
        if key is None:
            return None
        method, _, path = key.partition(" ")
        return {"rename": key, "to": f"{method} /earlier{path}"}

    def _removed_endpoint(self) -> dict[str, Any] | None:
        key = self._once(*self._keys())
        return None if key is None else {"remove": key}

    def _added_endpoint(self) -> dict[str, Any]:
        made = self.random.choice(list(self.made.values()))
        key = f"GET /{self._new('old')}"
        endpoint: dict[str, Any] = {
            "does": f"list {made.name}",
            "sort": made.primary_key,
            "responses": {200: "page.items"},
        }
        endpoint |= {"pages": NONE}
        self.contract["authentication"]["permissions"][key] = [*self._schemes(), "anyone"]
        return {"add": key, "was": endpoint}

    def _schemes(self) -> list[str]:
        schemes = self.contract["authentication"]["schemes"]
        return [] if schemes is NONE else [*schemes]

    def _changed_endpoint(self) -> dict[str, Any] | None:
        endpoints = self.contract["endpoints"]
        plain = [key for key in self._keys() if key.startswith("POST ") and 201 in endpoints[key].get("responses", ())]
        key = self._once(*plain)
        if key is None:
            return None
        does = endpoints[key]["does"]
        done = [each for each in ([does] if isinstance(does, str) else does) if each not in CALLS]
        name = done[0].partition(" ")[2]
        return {"change": key, "was": {"responses": {201: {"of": f"{name}.{self.made[name].primary_key[0]}"}}}}

    def _of_parameter(self) -> dict[str, Any] | None:
        filters = [
            f"{key}.query.{name}"
            for key in self._keys()
            for name, said in self.contract["endpoints"][key].get("query", {}).items()
            if name[0] == "q" and name[1:].isdigit() and (isinstance(said, str) or "where" in said)
        ]
        free = [each for each in filters if each.partition(".query.")[0] not in self.touched]
        named = self._once(*free)
        if named is None:
            return None
        self.touched.add(named.partition(".query.")[0])
        return {"remove": named} if self.often(0.5) else {"rename": named, "to": self._new("q_was")}

    def _changed_view(self) -> dict[str, Any] | None:
        named = self._once(
            *(f"{of}.views.{view}" for of, made in self.made.items() for view in made.more.get("views", ()))
        )
        return None if named is None else {"change": named, "was": ["id"]}

    # ── Errors ────────────────────────────────────────────────────────────────────────────────────────────────

    def _of_code(self) -> dict[str, Any] | None:
        if self.often(0.2):
            codes = self.contract["errors"]["codes"].values()
            free = {"conflict", "gone", "forbidden", "precondition failed"} - {each.get("for") for each in codes}
            named = self._once(*sorted(free))
            was = {"status": 418, "title": "An older code", "for": named}
            return None if named is None else {"add": self._new("code_was"), "was": was}
        code = self._once(*self.contract["errors"]["codes"])
        if code is None:
            return None
        match self.random.randint(0, 2):
            case 0:
                return {"rename": code, "to": self._new("code_was")}
            case 1:
                return {"remove": code}
            case _:
                return {"change": code, "was": {"title": "Older words"}}


def _does(endpoint: Any) -> tuple[str, str]:
    """The verb of an endpoint, the first where there are several, and what it acts on; of what is none, no words."""
    does = endpoint.get("does", "") if isinstance(endpoint, dict) else ""
    acting = [each for each in ([does] if isinstance(does, str) else does) if each not in CALLS] or [""]
    verb, _, resource = acting[0].partition(" ")
    return verb, resource


def _apart(value: Any) -> Any:
    """The same, in which nothing stands in two places."""
    if isinstance(value, Mapping):
        return {name: _apart(each) for name, each in value.items()}
    return [_apart(each) for each in value] if isinstance(value, list) else value


# ── The interpreter's versions ────────────────────────────────────────────────────────────────────────────────


def served(contract: Mapping[str, Any], checked: Checked) -> Service:
    """The interpreter of a contract, with each of its older versions. Raises ValueError where one cannot be told."""
    found: list[Older] = []
    if checked.versions is not None:
        for name, document, rows, keys in older(_apart(contract), NONE):
            loaded = compiled(document)
            if loaded.checked is None or has_errors(loaded.diagnostics):
                raise ValueError(f"version {name} is no contract: {[each.message for each in loaded.diagnostics]}")
            found.append(Older(name, loaded.checked, tuple(map(_known, rows)), keys))
    return Service(checked, older=found, functions=KNOWN)


def compiled(contract: Mapping[str, Any]) -> Loaded:
    return compile_document("random.yaml", written(contract).encode())


def _known(change: RowChange) -> Known:
    match change:
        case Renamed(resource, field, to):
            return Named(resource, field, to)
        case Removed(resource, field, value):
            return Without(resource, field, None if value is None else _typed(value, None))
        case Added(resource, field):
            return Beside(resource, field)
        case _:
            shown, stored = _typed(change.shown, change.schema), _typed(change.stored, change.was)
            return MadeOf(change.resource, change.field, shown, stored, change.schema)


def _typed(expression: Any, value: Mapping[str, Any] | None) -> Typed:
    """An expression over `value`, which is of a schema: here `request.path.value`."""
    said = expression.replace("value", "request.path.value") if isinstance(expression, str) else expression
    path = {} if value is None else {"path": {"value": dict(value)}}
    endpoint = {"does": "compute", **path, "responses": {200: {"value": said}}}
    document: dict[str, Any] = {
        "purpose": "An expression.",
        "resources": NONE,
        "states": NONE,
        "endpoints": {"produces": "application/json", "requests": {"unknown parameters": "refused"}}
        | {"GET /v/{value}" if path else "GET /v": endpoint},
        "authentication": {"schemes": NONE, "rows": "all", "permissions": {"all others": "anyone"}},
        "events": NONE,
        "errors": NONE,
        "limits": {"rates": NONE, "timeout": NONE, "body size": NONE, "pages": NONE},
        "versioning": NONE,
    }
    loaded = compiled(document)
    if loaded.checked is None or not loaded.checked.endpoints:
        raise ValueError(f"{expression}: {[each.message for each in loaded.diagnostics]}")
    content = loaded.checked.endpoints[0].response.content
    assert isinstance(content, Object)
    leaf = dict(content.members)["value"]
    assert isinstance(leaf, Leaf)
    return leaf.expression
