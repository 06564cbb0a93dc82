"""Expressions over what a request brings: the binds of statements (see `ninefold.plan.environment`)."""

from __future__ import annotations

from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.plan import environment
from ninefold.values import Array, Boolean, Digest, Integer, Object, Text, Timestamp, Type


def _member(root: str, name: str, type: Type) -> Select:
    return Select(Variable(root, Object()), name, type)


def path_value(name: str, type: Type) -> Typed:
    return _member(environment.PATH, name, type)


def new_value(field: str, type: Type) -> Typed:
    return _member(environment.NEW, field, type)


def is_given(field: str) -> Typed:
    return _member(environment.GIVEN, field, Boolean(nullable=True))


def is_made_anew(field: str) -> Typed:
    return _member(environment.ANEW, field, Boolean(nullable=True))


def body_value(field: str, type: Type) -> Typed:
    return _member(environment.BODY, field, type)


def credential_user(type: Type) -> Typed:
    return _member(environment.CREDENTIAL, "user", type)


def given_wrongly(field: str) -> Typed:
    return _member(environment.JUDGE, f"wrong {field}", Boolean(nullable=True))


def row_key(field: str, type: Type) -> Typed:
    return _member(environment.ROW, field, type)


def affected(name: str, type: Type) -> Typed:
    return _member(environment.AFFECTED, name, type)


def filter_value(parameter: str, type: Type) -> Typed:
    return _member(environment.FILTER, parameter, type)


def cursor_key(index: int, type: Type) -> Typed:
    return _member(environment.LIST, f"k{index}", type)


LIMIT = _member(environment.LIST, "limit", Integer())
OFFSET = _member(environment.LIST, "offset", Integer())
MATCH = _member(environment.IF, "match", Array(items=Text(), nullable=True))
OTHERS = _member(environment.IF, "others", Array(items=Text(), nullable=True))
MUST_BE_THERE = _member(environment.IF, "there", Boolean(nullable=True))
REVISION = _member(environment.WRITE, "revision", Text())
REVISION_AS_READ = _member(environment.WRITE, "was", Text(nullable=True))
CREDENTIAL_DIGEST = _member(environment.CREDENTIAL, "digest", Digest())
CREDENTIAL_PRESENTED = _member(environment.CREDENTIAL, "presented", Text())
CREDENTIAL_HASH = _member(environment.CREDENTIAL, "hash", Digest())
ISSUED_DIGEST = _member(environment.ISSUED, "digest", Digest())
ISSUED_EXPIRES = _member(environment.ISSUED, "expires", Timestamp(nullable=True))
VERIFIED_HASH = _member(environment.VERIFIED, "hash", Digest())
ISSUED_SCOPES = _member(environment.ISSUED, "scopes", Array(items=Text()))
ASKED_SCOPES = _member(environment.ASKED, "scopes", Array(items=Text(), nullable=True))
LOG_POSITION = _member(environment.LOG, "position", Integer())
LOG_LAST = _member(environment.LOG, "last", Integer())
LOG_LANE = _member(environment.LOG, "lane", Text())
LOG_DUE = _member(environment.LOG, "due", Text())
LOG_VERSION = _member(environment.LOG, "version", Text())
LOG_SUBSCRIPTION = _member(environment.LOG, "subscription", Text(nullable=True))
VALUES_ARE_THERE = _member(environment.JUDGE, "values", Boolean())
BODY_WAS_READ = _member(environment.JUDGE, "read", Boolean())
BODY_IS_REFUSED = _member(environment.REFUSED, "body", Boolean(nullable=True))
PARAMETERS_ARE_REFUSED = _member(environment.REFUSED, "parameters", Boolean(nullable=True))
WANTED = _member(environment.SEVERAL, "wanted", Text())
WRITTEN = _member(environment.SEVERAL, "written", Text())
NOW = Variable("now", Timestamp())
DUE_UNTIL = _member(environment.DUE, "until", Timestamp())
DUE_BEYOND = _member(environment.DUE, "beyond", Timestamp())
DUE_SKIP = _member(environment.DUE, "skip", Integer())
DUE_MOST = _member(environment.DUE, "most", Integer())
