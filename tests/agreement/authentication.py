"""Who may call a random service, and which rows they see."""

from __future__ import annotations

from typing import Any

from tests.agreement import accounts
from tests.agreement.conditions import Made
from tests.agreement.maker import Maker
from tests.agreement.writing import NONE


def schemes(maker: Maker) -> None:
    if maker.often(0.75):
        maker.schemes["key"] = {"type": "http", "scheme": maker.random.choice(["bearer", "token"])}
        maker.schemes["key"]["matches"] = "user.secret_key"
        if maker.often(0.3):
            where = maker.random.choice(["header", "query", "cookie"])
            maker.schemes["staff"] = {
                "type": "apiKey",
                "in": where,
                "name": "staff_key",
                "matches": "user.secret_key",
            }
            if maker.often(0.5):
                maker.schemes["staff"]["caller"] = {"grade": "caller.user.level"}
    accounts.scheme(maker)
    accounts.by_password(maker)


def authentication(maker: Maker, endpoints: dict[str, Any], reads_caller: bool) -> dict[str, Any]:
    """`reads_caller`: something does, which nobody who is `anyone` alone may ask for."""
    if not maker.schemes:
        return {"schemes": NONE, "rows": "all", "permissions": {"all others": "anyone"}}
    rows: Any = "all"
    everyone = [*maker.schemes, "anyone"]
    if maker.often(0.75):
        rows = {}
        for made in maker.made.values():
            rows[made.name] = {
                who: True if maker.often(0.5) else _of(maker, who, made) for who in everyone if maker.often(0.97)
            }
            if not rows[made.name] or maker.each.random() < 0.05:
                rows[made.name] = "all"
    permissions: dict[str, Any] = {}
    for key in endpoints:
        if " /" in key and maker.often(0.5):
            permissions[key] = _permission(maker, key)
    permissions["all others"] = maker.random.choice([*maker.schemes, "anyone", everyone, everyone, everyone])
    if reads_caller:
        permissions = {key: everyone if said == "anyone" else said for key, said in permissions.items()}
    unseen = maker.random.choice(["not found", "forbidden"])
    return {"schemes": maker.schemes, "rows": rows, "unseen rows": unseen, "permissions": permissions}


def _permission(maker: Maker, key: str) -> Any:
    everyone = [*maker.schemes, "anyone"]
    made = next((each for each in maker.made.values() if f"/{each.name}s" in key.rpartition("}/")[2]), None)
    if made is None or maker.often(0.5):
        return maker.random.choice([*maker.schemes, "anyone", everyone])
    if key.startswith("GET") and not key.endswith("}"):
        return {who: maker.random.choice([True, "caller.user.level > 2"]) for who in maker.schemes}
    found = {who: True if maker.often(0.3) else _of(maker, who, made) for who in everyone if maker.often(0.7)}
    return found if found.keys() - {"anyone"} else "anyone"


def _of(maker: Maker, who: str, made: Made) -> str | bool:
    """A condition of rows, which of `anyone` reads no caller."""
    condition = maker.condition(made, made.name)
    return True if who == "anyone" and "caller" in condition else condition
