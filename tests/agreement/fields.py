"""Random resources: what their rows hold, refer to, make by themselves and keep to, and the states that they have."""

from __future__ import annotations

from typing import Any

from tests.agreement import errors
from tests.agreement.conditions import Kind, Made
from tests.agreement.maker import ARRAYS, SCALARS, Maker
from tests.agreement.schemas import schema


def user(maker: Maker) -> None:
    user = _resource(maker, "user")
    _field(maker, user, "name", "string", False)
    _field(maker, user, "level", "integer", maker.often(0.5))
    if maker.often(0.4):
        _field(maker, user, "admin", "boolean", True)
    if maker.schemes:
        user.fields["secret_key"] = {"type": "string", "secret": "token", "on create": "token()"}
    if maker.often(0.6):
        user.more["views"] = {"card": ["id", "name"]}


def item(maker: Maker) -> None:
    item = _resource(maker, "item")
    _reference(maker, item, "owner", "user", "items")
    for number in range(maker.random.randint(1, 5)):
        type_ = maker.random.choice([*SCALARS, *SCALARS, *ARRAYS, "size"])
        _field(maker, item, f"f{number}", type_, maker.often(0.4))
    _made_fields(maker, item)
    if maker.often(0.5):
        _machine(maker, item)
    if maker.often(0.6):
        shown = [name for name in item.fields if maker.often(0.6)] or ["id"]
        more: list[Any] = []
        if "views" in maker.made["user"].more and maker.often(0.8):
            shown = [name for name in shown if name != "owner"]
            more.append({"owner": "card(item.owner)"})
        item.more["views"] = {"brief": [*shown, *more]}


def part(maker: Maker) -> None:
    pair = maker.often(0.2)
    part = _resource(maker, "part", key=not pair)
    _reference(maker, part, "item", "item", "parts", nullable=False if pair else None)
    if pair:
        _reference(maker, part, "maker", "user", None, nullable=False)
        part.primary_key = ["item", "maker"]
    for number in range(maker.random.randint(1, 3)):
        _field(maker, part, f"g{number}", maker.random.choice(SCALARS), maker.often(0.4))
    if maker.often(0.2):
        _machine(maker, part)


def _identifier(maker: Maker) -> tuple[dict[str, Any], Kind]:
    match maker.random.choice(["serial", "uuid", "code"]):
        case "serial":
            return {"type": "integer", "on create": "serial()"}, Kind("integer", False, given=False)
        case "uuid":
            return {"type": "string", "format": "uuid", "on create": "uuid()"}, Kind("string", False, given=False)
        case _:
            said: dict[str, Any] = {"type": "string", "maxLength": 4, "minLength": 1}
            if maker.normals.random() < 0.4:
                said["normalise"] = maker.normals.choice(
                    ["value.trim()", "value.lowerAscii()", "value.substring(0, 1)"]
                )
            return said, Kind("string", False)


def _resource(maker: Maker, name: str, key: bool = True) -> Made:
    made = Made(name, ["id"] if key else [], {}, {}, [])
    if key:
        made.fields["id"], made.kinds["id"] = _identifier(maker)
        if made.kinds["id"].given:
            made.required.append("id")
    maker.made[name] = made
    return made


def _reference(
    maker: Maker, made: Made, name: str, target: str, inverse: str | None, nullable: bool | None = None
) -> None:
    said: dict[str, Any] = {"references": target}
    nullable = maker.often(0.4) if nullable is None else nullable
    if inverse is not None:
        said["inverse"] = inverse
        maker.made[target].backs[inverse] = made.name
    choices = ["restrict", "cascade", "set null"] if nullable else ["restrict", "cascade"]
    said["on delete"] = maker.random.choice(choices)
    if target == "user" and maker.schemes and maker.often(0.6):
        said["on create"] = "caller.user"
    if not nullable:
        made.required.append(name)
    made.fields[name] = said
    made.kinds[name] = Kind("reference", nullable)
    made.references[name] = target


def _field(maker: Maker, made: Made, name: str, type_: str, nullable: bool) -> None:
    said = schema(maker.random, type_, nullable)
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
    if type_ in gives and maker.often(0.3):
        said["on create"] = maker.random.choice(gives[type_])
    if type_ in ("string", "integer", "choice", "date-time", "boolean") and maker.often(0.15):
        said["unique"] = True
    if type_ != "size" and maker.often(0.1):
        said["immutable"] = True
    if type_ == "string" and maker.often(0.1):
        said["normalise"] = maker.random.choice(["value.trim()", "value.lowerAscii()"])
    if not nullable and maker.often(0.7):
        made.required.append(name)
    made.fields[name] = said
    made.kinds[name] = Kind(type_, name not in made.required)


def _on_change(maker: Maker, text: str, made: str, texts: list[str]) -> dict[str, str]:
    """One field, one of two, or another value upon another's change."""
    other = maker.random.choice(texts)
    if other == text or maker.often(0.5):
        return {text: made}
    return {f"{text} or {other}": made} if maker.often(0.5) else {text: made, other: f"slug(item.{other}) + '-2'"}


def _made_fields(maker: Maker, item: Made) -> None:
    texts = [name for name, kind in item.kinds.items() if kind.type == "string" and name != "id"]
    if texts and maker.often(0.4):
        text = maker.random.choice(texts)
        made = f"slug(item.{text})"
        given = {"on change": _on_change(maker, text, made, texts)} if maker.often(0.6) else {"on create": made}
        item.fields["slug"] = {"type": "string", **given}
        item.fields["slug"] |= {"unique": True} if maker.often(0.4) else {}
        item.kinds["slug"] = Kind("string", True, given=maker.often(0.3))
    if maker.often(0.3):
        item.fields["changed"] = {"type": "string", "format": "date-time", "on change": "now"}
        item.kinds["changed"] = Kind("date-time", False, given=False)
    plain = [name for name, kind in item.kinds.items() if kind.type in ("string", "integer", "boolean", "choice")]
    if len(plain) > 1 and maker.often(0.3):
        item.more["unique"] = [maker.random.sample(plain, 2)]


def _machine(maker: Maker, made: Made) -> None:
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
    if maker.often(0.3):
        made.machine["gone"] = ["done"]
        if maker.often(0.5):
            transitions["restore"] = {"from": "done", "to": "draft"}


def computed(maker: Maker, made: Made) -> None:
    if maker.often(0.4):
        # A value is the same for everyone: nobody who asks takes part in it.
        asks, maker.conditions.callers = maker.conditions.callers, False
        made.fields["flag"] = {"type": "boolean", "computed": maker.condition(made, made.name)}
        maker.conditions.callers = asks
        made.kinds["flag"] = Kind("boolean", False, computed=True, given=False)
    if made.backs and maker.often(0.6):
        back, other = next(iter(made.backs.items()))
        text = f"{made.name}.{back}.size()"
        if maker.often(0.4):
            text = f"{made.name}.{back}.filter(x, {maker.atom(maker.made[other], 'x')}).size()"
        made.fields["count"] = {"type": "integer", "computed": text}
        made.kinds["count"] = Kind("integer", False, computed=True, given=False)
    numbers = [name for name, kind in made.kinds.items() if kind.type == "integer" and name != "count"]
    if numbers and maker.often(0.3):
        made.fields["twice"] = {"type": ["integer", "null"], "computed": f"{made.name}.{numbers[0]} * 2"}
        made.kinds["twice"] = Kind("integer", True, computed=True, given=False)


def rules(maker: Maker, made: Made) -> None:
    """Invariants, and the guards of transitions."""
    if maker.often(0.3):
        check: dict[str, Any] = {"that": maker.condition(made, made.name, beyond=False)}
        check |= {"else": errors.coded(maker, "unruly")} if maker.often(0.6) else {}
        made.more["check"] = [check]
    if made.machine is not None:
        for transition in made.machine["transitions"].values():
            if maker.often(0.3):
                transition["check"] = {"that": maker.condition(made, made.name)}
                transition["check"] |= {"else": errors.coded(maker, "not_ready", made)} if maker.often(0.5) else {}
            if maker.often(0.3):
                transition |= sets(maker, made)


def sets(maker: Maker, made: Made) -> dict[str, Any]:
    numbers = [name for name, kind in made.kinds.items() if kind.type == "integer" and not kind.computed]
    numbers = [name for name in numbers if name not in made.primary_key and "immutable" not in made.fields[name]]
    times = [name for name, kind in made.kinds.items() if kind.type == "date-time" and kind.given]
    times = [name for name in times if "immutable" not in made.fields[name]]
    texts = [name for name, kind in made.kinds.items() if kind.type == "string" and kind.given]
    texts = [name for name in texts if name not in made.primary_key and "immutable" not in made.fields[name]]
    sets = {}
    if numbers and maker.often(0.5):
        name = maker.random.choice(numbers)
        other = maker.random.choice(numbers)
        sets[name] = maker.random.choice([f"{made.name}.{name} + 1", "3", f"{made.name}.{other} + 1"])
    elif times:
        sets[times[0]] = "now"
    elif texts:
        sets[texts[0]] = "'ab'"
    return {"sets": sets} if sets else {}
