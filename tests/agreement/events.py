"""Random kinds of event, and the log as endpoints list and read it."""

from __future__ import annotations

from typing import Any

from tests.agreement.maker import Maker
from tests.agreement.writing import NONE


def part(maker: Maker, endpoints: dict[str, Any], authentication: dict[str, Any]) -> Any:
    """Part 6. The log is an endpoint's, and has its row rules and permissions."""
    throws = maker.events
    if throws.random() < 0.5:
        return NONE
    kinds: dict[str, Any] = {}
    for made in maker.made.values():
        verbs = ["create", "update", "delete", *(made.machine or {}).get("transitions", ())]
        verbs += ["sign in", "sign out"] if made.name == "user" and "session" in maker.schemes else []
        for number in range(throws.randint(0, 3)):
            upon = [f"{verb} {made.name}" for verb in throws.sample(verbs, throws.randint(1, 2))]
            kinds[f"{made.name}.kind{number}"] = {"upon": upon, "payload": _payload(maker, made.name)}
            if throws.random() < 0.3:
                kinds[f"{made.name}.kind{number}"]["where"] = f"{made.name}.{throws.choice([*made.fields])} != null"
    if not kinds:
        return NONE
    secret = ("secret_key", "user.word")
    kinds = {name: said for name, said in kinds.items() if not any(each in str(said) for each in secret)}
    kept = throws.choice(["all", "PT2H", "P1D"])
    endpoints["GET /events"] = {
        "does": "list event",
        "sort": [throws.choice(["position", "-position"])],
        "query": {"kind": "event.kind == value"},
        "pages": NONE,
        "responses": {200: "page.items"},
    }
    endpoints["GET /events/{position}"] = {"does": "read event", "responses": {200: "event"}}
    if _stream(maker, endpoints):
        kept = maker.streams.choice(["all", "all", "P1D", kept])
    if authentication["rows"] != "all":
        everyone = [*maker.schemes, "anyone"]
        condition = throws.choice(["event.position > 2", "event.resource != 'part'"])
        authentication["rows"]["event"] = {who: throws.choice([True, True, condition]) for who in everyone}
    return {"kinds": kinds, "delivery": {"stream": "server-sent events"}, "kept": kept}


def _stream(maker: Maker, endpoints: dict[str, Any]) -> bool:
    """Whether the log is told as well."""
    throws = maker.streams
    if throws.random() < 0.4:
        return False
    stream: dict[str, Any] = {"does": "stream event", "responses": {200: "stream"}}
    if throws.random() < 0.3:
        stream["where"] = throws.choice(["event.position % 2 == 0", "event.resource != 'part'", "event.time <= now"])
    if throws.random() < 0.5:
        stream["query"] = {"kind": "event.kind == value", "row": "event.resource + '/' + event.row != value"}
    endpoints["GET /stream"] = stream
    return True


def _payload(maker: Maker, name: str) -> Any:
    """A row whole, or some of it beside what it was."""
    made = maker.made[name]
    field = maker.events.choice([each for each in made.fields if each != "secret_key"])
    whole: dict[str, Any] = {
        "it": f"{name}.{made.primary_key[0]}",
        "is": f"{name}.{field}",
        "was": f"before.{name}.{field}",
    }
    count = [f"{name}.{back}.size()" for back in made.backs]
    return maker.events.choice([name, whole, {"it": name, "others": count[0]} if count else whole])
