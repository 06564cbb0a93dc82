"""Random error codes, the shape of errors, and their precedence."""

from __future__ import annotations

from typing import Any

from tests.agreement.conditions import Made
from tests.agreement.maker import Maker
from tests.agreement.writing import NONE


def coded(maker: Maker, name: str, made: Made | None = None) -> str:
    telling = [] if made is None else _telling(made)
    if made is not None and telling and maker.often(0.4):
        name = f"{name}_{made.name}"
        maker.codes.setdefault(name, {"status": 409, **maker.random.choice(telling)})
    if name not in maker.codes:
        maker.codes[name] = {"status": maker.random.choice([409, 422, 403]), "title": f"It is {name}"}
    return name


def _telling(made: Made) -> list[dict[str, Any]]:
    """What a code may say of a row: nothing where the row has no texts."""
    texts = [each for each, kind in made.kinds.items() if kind.type in ("string", "choice")]
    if not texts:
        return []
    told = {"detail": f"'It is ' + {made.name}.{texts[-1]}"}
    headers = {"headers": {"X-Told": f"{made.name}.{texts[0]}", "Location": "'/rules'"}}
    return [told, headers, told | headers]


def errors(maker: Maker) -> Any:
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
    if not maker.often(0.8):
        for name in ("not_ready", "not_now", "unruly"):
            coded(maker, name)
    for group in groups:
        if maker.often(0.8):
            name = group[0].replace(" ", "_")
            code: dict[str, Any] = {"status": maker.random.choice([400, 404, 409, 422]), "for": group[0]}
            if group[0] in ("unauthenticated", "method not allowed"):
                code["status"] = {"unauthenticated": 401, "method not allowed": 405}[group[0]]
            code |= {"title": f"About {name}"} if maker.often(0.8) else {}
            code |= {"about": "it"} if maker.often(0.3) else {}
            code |= {"detail": "'at ' + string(now)"} if maker.often(0.1) else {}
            maker.codes[name] = code
    if maker.often(0.3):
        maker.codes["no_user"] = {"status": 404, "title": "No such user", "for": "not found user"}
    if maker.often(0.3):
        maker.codes["taken_name"] = {"status": 409, "title": "The name is taken", "for": "conflict user.name"}
    stated = maker.random.sample([*(group[0] for group in groups[2:]), "check"], maker.random.randint(2, 12))
    errors: dict[str, Any] = {"codes": maker.codes}
    if maker.often(0.9):
        shapes: list[Any] = [
            {"code": "error.code", "title": "error.title", "status": "error.status", "fields": "error.fields"},
            {"errors": "error.messages"},
            {"code": "error.code", "detail": "error.detail", "all": ["error.title", "error.messages"]},
        ]
        shape = maker.random.choice(shapes)
        errors = {"error shape": {"media type": "application/problem+json", "body": shape}, **errors}
    else:
        errors = {"error shape": NONE, **errors}
    if maker.often(0.6):
        errors["messages"] = {"required": "is needed", "unique": "is taken", "type": "is of another kind"}
        if maker.often(0.6):
            errors["messages"]["all others"] = "is wrong"
    if maker.often(0.6):
        errors["precedence"] = ["no such path", "method not allowed", *stated]
        for narrowed in ("not found user", "conflict user.name", "invalid user.name", "invalid user"):
            if maker.often(0.2):
                errors["precedence"].insert(maker.random.randint(2, len(stated) + 2), narrowed)
    for narrowed in ("invalid user.name", "invalid user", "invalid item"):
        if maker.often(0.2):
            name = narrowed.replace(" ", "_").replace(".", "_")
            maker.codes[name] = {"status": 422, "title": f"About {name}", "for": narrowed}
    return errors


def narrowed(maker: Maker, contract: dict[str, Any]) -> None:
    """Codes for whatever else can refuse a request, and for what conditions are narrowed to."""
    throws, codes = maker.narrowed, contract["errors"]["codes"]
    if not maker.more or not isinstance(codes, dict):
        return
    said = str([each for each in contract["endpoints"].values() if isinstance(each, dict)])
    alone = ("different", "idempotency in progress", "internal", "precondition required", "sign in refused")
    found = [*alone, "timed out", "unavailable"]
    about = ("conflict", "different", "forbidden", "gone", "illegal transition", "precondition failed")
    of_rows = {f"{condition} {name}": made for condition in (*about, "invalid") for name, made in maker.made.items()}
    found += [f"{condition} {name}" for condition in about for name in maker.made]
    found += ["sign in refused user"] if "sign in user" in said else []
    found += [f"unauthenticated {name}" for name in maker.schemes]
    found += ["invalid header.Times"] if "'Times'" in said else []
    found += ["invalid grant_type", "invalid scope"] if "client_credentials" in said else []
    found += [f"invalid {name}" for name in maker.made]
    taken = {each.get("for") for each in codes.values()}
    for condition in found:
        if condition not in taken and throws.random() < 0.3:
            status = 401 if condition.startswith("unauth") else throws.choice([400, 403, 409, 418])
            name = condition.replace(" ", "_").replace(".", "_").lower()
            codes[f"own_{name}"] = {"status": status, "title": f"It is {condition}", "for": condition}
    for code in [each for name, each in codes.items() if name.startswith("own_") and each["for"] in of_rows]:
        telling = _telling(of_rows[code["for"]])
        if telling and throws.random() < 0.5:
            code |= throws.choice(telling)
