"""From a result to the bytes of a response: the plan's content as closures over rows and the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from operator import itemgetter
from typing import Any, TypeAlias, assert_never

import msgspec
from msgspec import UNSET

from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.expressions.tree import Typed
from ninefold.plan import environment
from ninefold.plan import responses as plan
from ninefold.plan.chosen import expanded, hidden
from ninefold.plan.statement import ResultColumn
from ninefold.runtime.messages import conditional
from ninefold.runtime.messages.message import HeaderFields, Response, header_value, stated_value
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.values import Anything, Array, Boolean, Digest, Duration, Number, Object, Type, to_json
from ninefold.values.json_numbers import decoding

Show: TypeAlias = Callable[[Row, Sequence[Row], Env], Any]
"""What is shown of a row, the rows of a page, and the environment. None: there is no value."""

NO_ROW: Row = ()

FEW = 32
"""Rows of which what is shown is encoded at once."""

PIECE_BYTES = 256 * 1024
"""Bytes, about, that are encoded at once of what is shown of more."""

_COMMA = ord(",")
_Reads: TypeAlias = list[tuple[int, Callable[[Stored], Any]]]
"""What reads values, each with its place."""

_encode = msgspec.json.Encoder().encode
_encode_into = msgspec.json.Encoder().encode_into
_decode = decoding(tuple[tuple[Any, ...], ...])


class Shape:
    """A plan's response made ready: status, headers and content."""

    __slots__ = (
        "_content_type",
        "_fill",
        "_headers",
        "_is_tagged",
        "_response",
        "_revision",
        "_show",
        "_status",
        "digested",
        "tag_prefix",
    )

    def __init__(
        self,
        response: plan.Response,
        columns: Sequence[ResultColumn],
        of_rows: Sequence[ResultColumn] = (),
    ) -> None:
        """`of_rows`: the columns of the rows of a page."""
        self._response = response
        self._status = response.status
        self._show = None if response.content is None else show(response.content, columns, of_rows)
        self._content_type: HeaderFields = (
            () if response.media_type is None else ((b"content-type", header_value(response.media_type)),)
        )
        self._headers = tuple(
            (header_value(name.lower()), show(value, columns), stated_value(name, f"an answer {response.status}"))
            for name, value in response.headers
        )
        self._revision = response.revision
        self.tag_prefix = response.tag_prefix
        self.digested = response.digested
        self._is_tagged = self.digested or self._revision is not None
        self._fill = None if self._show is None or self._headers or self.digested else self._filling(self._show)

    @property
    def reads(self) -> frozenset[str]:
        """The roots that it reads. To be asked seldom."""
        shown = (self._response.content, *(value for _, value in self._response.headers))
        return frozenset().union(*(plan.roots(each) for each in shown if each is not None))

    def body(self, row: Row, rows: Sequence[Row], env: Env) -> bytes | None:
        """The content for a row, or for the rows of a page; None: there is none."""
        return None if self._show is None else _encode(self._show(row, rows, env))

    def _is_chosen(self, env: Env) -> bool:
        return bool(env.get(environment.CHOSEN)) and (self.digested or self._revision is not None)

    def opaque(self, row: Row, body: bytes | None, env: Env) -> str | None:
        """The opaque part of the entity tag (RFC 9110 8.8.3), of the row's revision and, where it is digested, of the
        body; None: the response has no tag. Where the request chose what is shown, the tag is of the body alone: no
        write takes it for one of the row."""
        if self._is_chosen(env):
            return f"{self.tag_prefix}.{conditional.digest(body or b'')}"
        if not self.digested:
            return None if self._revision is None else self.tag_prefix + str(row[self._revision])
        revision = "" if self._revision is None else str(row[self._revision])
        return f"{self.tag_prefix}{revision}.{conditional.digest(body or b'')}"

    def _filling(self, show: Show) -> Callable[[Row, Sequence[Row], Env], Response]:
        """`filled`, where it has no headers of its own but a tag of its row."""
        status, headers, prefix, revision = self._status, self._content_type, self.tag_prefix, self._revision
        if revision is None:
            return lambda row, rows, env: Response(status, headers, _encode(show(row, rows, env)))

        def tagged(row: Row, rows: Sequence[Row], env: Env) -> Response:
            body = _encode(show(row, rows, env))
            opaque = self.opaque(row, body, env) if env.get(environment.CHOSEN) else prefix + str(row[revision])
            return Response(status, (*headers, _tag(opaque or "")), body)

        return tagged

    def filled(self, row: Row, rows: Sequence[Row], env: Env, opaque: str | None = None) -> Response:
        """The response for a row, or for the rows of a page. `opaque`: of a tag that is not of this response's own
        content."""
        if opaque is None and self._fill is not None:
            return self._fill(row, rows, env)
        body = None if self._show is None else _encode(self._show(row, rows, env))
        if opaque is None and self._is_tagged:
            opaque = self.opaque(row, body, env)
        headers = self._own_headers(row, rows, env, opaque)
        return (
            Response(self._status, headers)
            if body is None
            else Response(self._status, self._content_type + headers, body)
        )

    @property
    def fill(self) -> Callable[[Row, Sequence[Row], Env], Response]:
        """`filled` of its own content, for one response after another."""
        return self._fill or self.filled

    def _own_headers(self, row: Row, rows: Sequence[Row], env: Env, opaque: str | None) -> HeaderFields:
        if not self._headers and opaque is None:
            return ()
        fields: list[tuple[bytes, bytes]] = []
        if opaque is not None:
            fields.append(_tag(opaque))
        for name, value, write in self._headers:
            shown = value(row, rows, env)
            written = None if shown is None else write(shown if type(shown) is str else _encode(shown).decode())
            if written is not None:
                fields.append((name, written))
        return tuple(fields)


def _tag(opaque: str) -> tuple[bytes, bytes]:
    return b"etag", header_value(f'"{opaque}"')


def show(content: plan.Content, columns: Sequence[ResultColumn], of_rows: Sequence[ResultColumn] = ()) -> Show:
    """A content as a closure. `columns` are those of the result that it is shown from, `of_rows` those of the rows of a
    page."""
    match content:
        case plan.FromColumn(column=index):
            return _column(index, columns[index].type)
        case plan.FromExpression(expression=expression):
            return _expression(expression)
        case plan.ObjectOf():
            return _object(content, columns, of_rows)
        case plan.ArrayOf(items=items):
            return _array(items, columns, of_rows)
        case plan.EachRow(item=item):
            if (made := _made(item, of_rows)) is not None and not made[2]:
                struct, indices, _ = made
                if indices == list(range(len(of_rows))):  # all that a row of a page has
                    return lambda row, rows, env: _listed(rows, lambda some: list(starmap(struct, some)))
                pick = itemgetter(*indices)
                return lambda row, rows, env: _listed(rows, lambda some: list(starmap(struct, map(pick, some))))
            each = show(item, of_rows)
            return lambda row, rows, env: _listed(rows, lambda some: [each(one, rows, env) for one in some])
        case plan.EachOf():
            return _each(content)
        case plan.ChoiceOf():
            return _choice(content, columns, of_rows)
        case _:
            assert_never(content)


def _column(index: int, type_: Type) -> Show:
    read = json_reader(type_)
    if read is None:
        return lambda row, rows, env: row[index]

    def shown(row: Row, rows: Sequence[Row], env: Env) -> Any:
        stored = row[index]
        return None if stored is None else read(stored)

    return shown


def json_reader(type_: Type) -> Callable[[Stored], Any] | None:
    """From a stored value to what is encoded; None: as it is. Stored JSON is passed on as it stands."""
    match type_:
        case Boolean():
            return bool
        case Number():  # one zero: SQL computes two
            return lambda stored: stored or 0.0
        case Array() | Object() | Anything():
            return lambda stored: msgspec.Raw(str(stored).encode())
        case Duration():
            return lambda stored: to_json(type_, stored)
        case Digest():
            raise ValueError("a digest is never shown")
        case _:
            return None


def _expression(typed: Typed) -> Show:
    evaluate = compile(typed)
    duration = isinstance(typed.type, Duration)

    def shown(row: Row, rows: Sequence[Row], env: Env) -> Any:
        try:
            value = evaluate(env)
        except EvaluationError:
            return None
        return to_json(typed.type, value) if duration else value

    return shown


def _object(content: plan.ObjectOf, columns: Sequence[ResultColumn], of_rows: Sequence[ResultColumn]) -> Show:
    if content.optional or content.expanded:
        return _chosen_object(content, columns, of_rows)
    if (made := _made(content, columns)) is not None:
        struct, indices, reads = made
        pick = itemgetter(*indices)
        return _reading(struct, pick, reads) if reads else lambda row, rows, env: struct(*pick(row))
    members = tuple((name, show(value, columns, of_rows), value.null_shown) for name, value in content.members)
    present = content.present

    def shown(row: Row, rows: Sequence[Row], env: Env) -> Any:
        if present is not None and row[present] is None:
            return None
        found = {}
        for name, value_of, null_shown in members:
            value = value_of(row, rows, env)
            if value is not None or null_shown:
                found[name] = value
        return found

    return shown


def _made(
    content: plan.Content, columns: Sequence[ResultColumn]
) -> tuple[Callable[..., msgspec.Struct], list[int], _Reads] | None:
    """Of an object whose members are columns: a type made for it, whose encoder leaves out what has no value, the
    columns of its members, and what reads those that are not shown as they stand. None: it is of another kind."""
    if not isinstance(content, plan.ObjectOf) or content.optional or content.expanded or content.present is not None:
        return None
    indices, fields, names, reads = list[int](), list[tuple[str, Any, Any]](), dict[str, str](), _Reads()
    for name, value in content.members:
        if not isinstance(value, plan.FromColumn):
            return None
        read = json_reader(columns[value.column].type)
        if read is not None:
            reads.append((len(fields), read))
        field = f"f{len(fields)}"
        names[field] = name
        # A default is not shown, and null is the default of what is left out where it is null.
        fields.append((field, Any, UNSET if value.null_shown else None))
        indices.append(value.column)
    if len(indices) < 2:
        return None
    made = msgspec.defstruct("Shown", fields, rename=names, omit_defaults=True, gc=False)
    return made, indices, reads


def _reading(struct: Callable[..., msgspec.Struct], pick: Callable[[Row], Iterable[Any]], reads: _Reads) -> Show:
    def shown(row: Row, rows: Sequence[Row], env: Env) -> msgspec.Struct:
        values = list(pick(row))
        for at, read in reads:
            if values[at] is not None:
                values[at] = read(values[at])
        return struct(*values)

    return shown


def _chosen_object(content: plan.ObjectOf, columns: Sequence[ResultColumn], of_rows: Sequence[ResultColumn]) -> Show:
    """The same of an object of which a request chooses: by the switches in `$chosen`."""

    def ready(value: plan.Content) -> tuple[Show, bool]:
        return show(value, columns, of_rows), value.null_shown

    asked = {name: ready(value) for name, value in content.expanded}
    own = {name: ready(value) for name, value in content.members}
    members = tuple(
        (
            name,
            hidden(name) if name in content.optional else None,
            own.get(name),
            expanded(name) if name in asked else None,
            asked.get(name),
        )
        for name in (*own, *(name for name in asked if name not in own))
    )
    present = content.present

    def shown(row: Row, rows: Sequence[Row], env: Env) -> Any:
        if present is not None and row[present] is None:
            return None
        found, chosen = {}, env.get(environment.CHOSEN, ())
        for name, hiding, stated, expanding, instead in members:
            if hiding in chosen:
                continue
            taken = instead if expanding in chosen else stated
            if taken is not None:
                value = taken[0](row, rows, env)
                if value is not None or taken[1]:
                    found[name] = value
        return found

    return shown


def _array(items: tuple[plan.Content, ...], columns: Sequence[ResultColumn], of_rows: Sequence[ResultColumn]) -> Show:
    each = tuple((show(item, columns, of_rows), item.null_shown) for item in items)

    def shown(row: Row, rows: Sequence[Row], env: Env) -> Any:
        values = ((value_of(row, rows, env), null_shown) for value_of, null_shown in each)
        return [value for value, null_shown in values if value is not None or null_shown]

    return shown


def _each(content: plan.EachOf) -> Show:
    index, item = content.column, show(content.item, content.columns)

    def shown(row: Row, rows: Sequence[Row], env: Env) -> Any:
        stored: Any = row[index]
        if stored is None:
            return None
        # Items within items have been decoded with them.
        within = _decode(stored) if type(stored) is str else stored
        return _listed(within, lambda some: [value for cells in some if (value := item(cells, rows, env)) is not None])

    return shown


def _listed(rows: Sequence[Row], made: Callable[[Sequence[Row]], list[Any]]) -> list[Any] | msgspec.Raw:
    """What is made of each row. While the encoder is called nobody else is answered: so what is made of many rows is
    encoded already, by several calls."""
    if len(rows) <= FEW:
        return made(rows)
    written, at, count = bytearray(b"[]"), 0, FEW
    while at < len(rows):
        end = len(written) - 1
        _encode_into(made(rows[at : at + count]), written, end)  # from the bracket on that ends what was written
        size = len(written) - end
        if size == len(b"[]"):
            del written[end:-1]
        elif end == len(b"["):
            del written[:end]
        else:
            written[end] = _COMMA
        at += count
        count = max(1, min(4 * count, count * PIECE_BYTES // size))
    return msgspec.Raw(written)


def _choice(content: plan.ChoiceOf, columns: Sequence[ResultColumn], of_rows: Sequence[ResultColumn]) -> Show:
    holds, yes, no = (show(each, columns, of_rows) for each in (content.condition, content.yes, content.no))
    return lambda row, rows, env: yes(row, rows, env) if holds(row, rows, env) else no(row, rows, env)
