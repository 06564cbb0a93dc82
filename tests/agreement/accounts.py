"""Random endpoints by which users sign up, in and out, by a password or by a grant: what is issued is a credential of
the scheme `session`."""

from __future__ import annotations

from typing import Any, Final

from tests.agreement.beside import FORM
from tests.agreement.maker import Maker
from tests.agreement.writing import NONE

SCOPES: Final = ("read", "write")


def scheme(maker: Maker) -> None:
    """Now and then credentials are issued."""
    throws = maker.accounts
    if not maker.schemes or throws.random() < 0.6:
        return
    issued: dict[str, Any] = {"type": "http", "scheme": throws.choice(["bearer", "bearer", "session"])}
    issued |= {"issued to": "user", "lasts": throws.choice(["PT1H", "P1D", NONE]), "realm": "Users"}
    if throws.random() < 0.6:
        granted = ["['read']", "user.level > 2 ? ['write', 'read'] : ['read']", "['other', 'write', 'read']", NONE]
        issued |= {"scopes": [*SCOPES], "granted": throws.choice(granted)}
    if throws.random() < 0.3:
        issued["caller"] = {"grade": "caller.user.level"}
    maker.schemes["session"] = issued


def by_password(maker: Maker) -> None:
    """HTTP's Basic scheme, now and then."""
    throws = maker.basic
    if not maker.more or not maker.schemes or throws.random() < 0.4:
        return
    desk: dict[str, Any] = {
        "type": "http",
        "scheme": "basic",
        "realm": throws.choice(["Desk", 'The "desk"']),
        "matches": "user.nick",
    }
    if throws.random() < 0.3:
        desk["caller"] = {"grade": "caller.user.level"}
    before = throws.random() < 0.3
    maker.schemes = {"desk": desk, **maker.schemes} if before else {**maker.schemes, "desk": desk}


def fields(maker: Maker) -> dict[str, Any]:
    """What users have for it."""
    if not {"session", "desk"} & maker.schemes.keys():
        return {}
    word = {"type": ["string", "null"], "minLength": 2, "secret": "password"}
    plain = {"normalise": "value.trim()"} if "desk" in maker.schemes and maker.basic.random() < 0.5 else {}
    return {"nick": {"type": ["string", "null"], "maxLength": 5, "unique": True, **plain}, "word": word}


def endpoints(maker: Maker, found: dict[str, Any], permissions: dict[str, Any]) -> None:
    """By which users sign in, and what they may do then. `permissions`: lines of part 5."""
    if "session" not in maker.schemes:
        return
    throws, user = maker.accounts, maker.made["user"]
    everyone = [*maker.schemes, "anyone"]
    has_scopes = "scopes" in maker.schemes["session"]
    told: dict[str, Any] = {"token": "caller.credential", "left": "granted.expires_in", "who": "user"}
    told |= {"scopes": "granted.scopes", "scope": "granted.scope"} if has_scopes else {}

    def add(key: str, who: Any, **said: Any) -> None:
        found[key] = said
        permissions[key] = who

    def beside() -> dict[str, Any]:
        more: dict[str, Any] = {"issues": "session"}
        more |= {"ends": throws.choice(["others", "all"])} if throws.random() < 0.3 else {}
        more |= {"sets": {"level": "user.level + 1"}} if throws.random() < 0.25 else {}
        return more

    named = throws.choice(["id", "nick"] if user.kinds["id"].type == "string" else ["nick"])
    more = beside() if throws.random() < 0.9 else {}
    shown = told if more else {"who": "user"}
    more |= {"check": {"that": "user.level != 3"}} if throws.random() < 0.3 else {}
    who: Any = throws.choice(["anyone", everyone, {"session": True, "anyone": "user.level < 7"}])
    add("POST /sessions", who, does="sign in user", body=[named, "word"], responses={200: shown}, **more)
    ends = throws.choice(["presented", "others", "all"])
    add("DELETE /sessions", "session", does="sign out user", ends=ends, responses={204: NONE})
    if throws.random() < 0.5:
        own = {"where": "user == caller.user", "responses": {200: {"who": "user.id"}}}
        add("DELETE /sessions/mine", "session", does="sign out user", ends="others", **own)
    given = [name for name, kind in user.kinds.items() if kind.given and not kind.computed]
    if throws.random() < 0.7:
        body = [*given, "nick", "word"]
        add("POST /accounts", "anyone", does="create user", body=body, issues="session", responses={201: told})
    if throws.random() < 0.7:
        more = {"ends": throws.choice(["others", "all"])} if throws.random() < 0.3 else {}
        key, who = "PATCH /users/{id}/word", everyone
        if throws.random() < 0.5:
            key, who, more = "PATCH /me/word", [*maker.schemes], more | {"where": "user == caller.user"}
        more["responses"] = {200: {"who": "user.id"}}
        add(key, who, does="update user", body=["word"], patch="merge", **more)
    if throws.random() < 0.6:
        names = {"client_id": "user.nick", "client_secret": f"user.{throws.choice(['word', 'secret_key'])}"}
        more = {"grant": "client_credentials", "body": names, "issues": "session", "responses": {200: told}}
        more |= {"requests": {"media type": FORM, "unknown members": "ignored"}} if throws.random() < 0.5 else {}
        more |= {"sets": {"level": "user.level + 1"}} if throws.random() < 0.2 else {}
        add("POST /token", "anyone", does="sign in user", **more)
    seen: dict[str, Any] = {"presented": "caller.credential", "who": "has(caller.user) ? caller.user.id : null"}
    seen |= {"scopes": "caller.scopes"} if has_scopes else {}
    add("GET /sessions", "session", does="compute", responses={200: seen})
    if has_scopes:
        needed = throws.choice(["'write' in caller.scopes", "'read' in caller.scopes && 'write' in caller.scopes"])
        add("GET /written", {"session": needed}, does="compute", responses={200: {"at": "now"}})
