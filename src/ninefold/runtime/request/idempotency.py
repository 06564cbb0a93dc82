"""Idempotency keys: what a request changes is done once, and its response is given again to those that repeat it
(draft-ietf-httpapi-idempotency-key-header).

The key and the response are stored in the transaction of the change itself, so that a crash leaves both or neither.
The writer is one: of two requests with one key, the second finds what the first has stored. Before that, a key that is
held by a request on its way is *in progress*; which keys are, the memory of the process knows, since with the process
they are held no longer. Where several processes may serve the database, each holds them so that the others see it.

A response may show a secret that was just issued, so it is stored sealed, under a key that is made of the database's
secret *and* of the idempotency key. The latter is not stored: a database alone does not give its responses away. All
that is made of a key is one keyed digest (BLAKE2b, RFC 7693), whose parts tell nothing of one another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from hmac import compare_digest
from itertools import count
from typing import Any, TypeAlias

import msgspec

from ninefold.runtime.messages.message import HeaderFields, Response
from ninefold.runtime.messages.problems import Failure, invalid
from ninefold.runtime.messages.seals import opened_alone, sealed_alone
from ninefold.runtime.operations.flow import Next, Transact, Wait
from ninefold.runtime.store.protocol import Session, Single, Stored
from ninefold.sql.idempotency import CLEAN, FIND, STORE

HEADER = "Idempotency-Key"
_HEADER = HEADER.lower()

LONGEST = 255
"""Characters of a key."""

CLEANED_EACH = 8
"""Keys that are stored from one time that expired ones are removed to the next: to look for them costs as much as the
rest of what a key does."""

CLEANED = 64
"""Expired keys that go then: more than come, so the table holds few that have expired."""

MISMATCH = Failure("idempotency mismatch")
IN_PROGRESS = Failure("idempotency in progress")

Content: TypeAlias = bytes | tuple[tuple[bytes, bytes], ...]
"""A part of a request; or fields of it, each with its name."""

_encode = msgspec.msgpack.Encoder().encode
_is_string = re.compile(r'"((?:[ !#-\[\]-~]++|\\["\\])*)"').fullmatch
_is_bare = re.compile(r"[!#-+\--\[\]-~]+").fullmatch


def read_key(field: str) -> tuple[str, None] | tuple[None, str]:
    """The key in a field value, or the rule that the value does not keep. The draft has a String of structured fields
    (RFC 9651 3.3.3) there; as most clients send it without its quotes, visible ASCII without quotes, commas and
    backslashes is read as it stands. `"abc"` and `abc` are one key."""
    text = field.strip(" \t")
    quoted = _is_string(text)
    if quoted is not None:
        key = quoted[1]
        if "\\" in key:
            if len(key) > 2 * LONGEST:
                return None, "maxLength"
            key = re.sub(r"\\(.)", r"\1", key)
    elif _is_bare(text):
        key = text
    else:
        return None, "format"
    if not key:
        return None, "minLength"
    return (key, None) if len(key) <= LONGEST else (None, "maxLength")


def sent_key(stated: str | None, headers: dict[str, str]) -> tuple[str | None, list[Failure]]:
    """The key that came, where the endpoint takes one; and what is wrong with it. `stated`: what the endpoint says of
    keys."""
    if stated is None:
        return None, []
    field = dict.get(headers, _HEADER)  # whatever it is, a request may be like others (`Looked`)
    if field is None:
        return None, [] if stated == "optional" else [invalid("header", HEADER, "required")]
    key, rule = read_key(field)
    return key, [] if rule is None else [invalid("header", HEADER, rule)]


class Held(msgspec.Struct, frozen=True, eq=False):
    """A request that came with a key. `row`: what the key is found by. `request`: its digest. `seal`: 32 bytes that
    seal its response. `now` and `expires`: microseconds since 1970. `in_progress`: where it is while it is.
    `stored`: counts the keys that are stored."""

    row: bytes
    request: bytes
    seal: bytes
    now: int
    expires: int
    in_progress: dict[bytes, bytes]
    stored: Iterator[int]

    @property
    def finding(self) -> tuple[str, list[Stored]]:
        """The statement that finds the row of the key."""
        return FIND, [self.row, self.now]

    def is_of(self, request: Stored) -> bool:
        """Whether a stored digest is this request's."""
        return isinstance(request, bytes) and compare_digest(request, self.request)

    def begin(self) -> Failure | None:
        """Hold the key, unless another request holds it now. To be called on any thread."""
        request = self.in_progress.setdefault(self.row, self.request)
        if request is self.request:
            return None
        return IN_PROGRESS if self.is_of(request) else MISMATCH

    def end(self) -> None:
        self.in_progress.pop(self.row, None)


class Keys:
    """The keys of one service, and those that are in progress."""

    def __init__(self, secret: bytes, kept: int) -> None:
        """`secret`: of the database, the same at every start. `kept`: microseconds for which a key is kept."""
        self._secret = blake2b(secret, person=b"idempotency keys").digest()
        self._kept = kept
        self._in_progress: dict[bytes, bytes] = {}
        self._stored = count()

    def held(self, key: str, who: str, whose: str | None, route: str, content: tuple[Content, ...], now: int) -> Held:
        """`key`, sent by a caller to an endpoint: `whose`, of those that are `who`. `content` is what makes it the same
        request: path, query, body, fields. `now`: microseconds since 1970."""
        made = blake2b(_encode((who, whose, route, key)), key=self._secret).digest()
        request = blake2b(_encode(content), digest_size=32, key=made[16:32]).digest()
        # Reckoned as a number: no year is the last one.
        return Held(made[:16], request, made[32:], now, now + self._kept, self._in_progress, self._stored)


def once(step: Next, held: Held, mismatch: Callable[[], Next], repeated: Callable[[], None]) -> Next:
    """The steps of an operation, in which what is transacted is done once for a key. `mismatch`: the step for a key
    that came before, with another request. `repeated` is told where the response is given again."""
    if not isinstance(step, Wait):
        return step
    work, resume = step.work, step.resume
    if isinstance(work, Transact):
        return done_once(work, resume, held, mismatch, repeated)
    return Wait(work, lambda result: once(resume(result), held, mismatch, repeated))


def done_once(
    work: Transact,
    resume: Callable[[Any], Next],
    held: Held,
    mismatch: Callable[[], Next],
    repeated: Callable[[], None],
) -> Wait:
    """The same of an operation that has come to its transaction."""
    done = partial(_done, held, work.work, resume, repeated)
    return Wait(Transact(done, work.again), lambda found: found if isinstance(found, Response) else mismatch())


def stored(step: Next) -> Next:
    """The steps of an operation that writes nothing, whose response is kept in a transaction of its own: what was
    called for it is called once."""
    match step:
        case Response():
            return Wait(Transact(lambda _: step), lambda response: response)
        case Wait(Transact()):
            return step
        case Wait(work, resume):
            return Wait(work, lambda result: stored(resume(result)))
        case _:
            return step


def _done(
    held: Held,
    work: Callable[[Session], Any],
    resume: Callable[[Any], Next],
    repeated: Callable[[], None],
    session: Session,
) -> Response | Failure:
    """In a transaction: the response that is stored, or the work, its response, and the two stored together. A work
    that is refused raises, and nothing of it is stored: it may be tried again with the same key."""
    rows = session.run(FIND, [held.row, held.now])
    if rows:
        request, sealed = rows[0]
        if not held.is_of(request):
            return MISMATCH
        repeated()
        return opened(held, sealed)
    response = resume(work.plainly(session) if isinstance(work, Single) else work(session))
    if not isinstance(response, Response):
        raise TypeError("a response that waits for more than its transaction cannot be stored with it")
    session.run(STORE, [held.row, held.request, sealed_response(held, response), held.expires])
    if next(held.stored) % CLEANED_EACH == 0:
        clean(session, held.now, CLEANED)
    return response


def clean(session: Session, now: int, most: int) -> None:
    """Remove at most so many keys that have expired."""
    session.run(CLEAN, [now, most])


# ── The response as it is stored ──────────────────────────────────────────────────────────────────────────────


def sealed_response(held: Held, response: Response) -> bytes:
    """Sealed for this row and this request alone."""
    plain = _encode((response.status, response.headers, response.body))
    return sealed_alone(held.seal, plain, held.row + held.request)


_decode = msgspec.msgpack.Decoder(tuple[int, HeaderFields, bytes]).decode


def opened(held: Held, sealed: Stored) -> Response:
    """The response, byte for byte. Raises ValueError where it is not what was stored."""
    if not isinstance(sealed, bytes):
        raise ValueError("a stored response is bytes")
    return Response(*_decode(opened_alone(held.seal, sealed, held.row + held.request)))
