"""What a response says, beside another one: less, more, or something else."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.ablate.fixed import Asked
from ninefold.diff.rehearsal import Seen

REFUSED = 400
"""From this status on a response refuses."""

_NUMBERED: Final = (("$event", "seq"), ("$event", "id"), ("$delivery", "event"))


@dataclass(frozen=True, slots=True)
class Change:
    """A request whose response is another one than it was."""

    asked: Asked
    new: Seen

    @property
    def old(self) -> Seen:
        return self.asked.seen

    @property
    def where(self) -> str:
        return f"{self.asked.where} {self.asked.told.method} {self.asked.told.path.decode('latin-1')}"

    @property
    def turns_on_a_tag(self) -> bool:
        """Whether a condition on an entity tag holds now and did not, or did and does not: a tag is of what a GET of
        the path shows, whatever the request itself does (decision 0012)."""
        return has_condition(self.asked) and bool({self.new.status, self.old.status} & {304, 412})

    @property
    def words(self) -> str:
        return f"{self.where}: {said(self.old)} became {said(self.new)}"


def has_condition(asked: Asked) -> bool:
    """Whether a request asks of an entity tag."""
    return bool(asked.told.headers.keys() & {"if-match", "if-none-match"})


def said(seen: Seen) -> str:
    """A response in short."""
    return f"{seen.status} {seen.body[:160].decode('utf-8', 'replace')}".strip()


def refuses(seen: Seen) -> bool:
    return seen.status >= REFUSED


def is_blocked(seen: Seen) -> bool:
    """Whether it is the answer of an endpoint that a gap blocks."""
    return seen.status == 501 and not seen.body


def says_the_same(new: Seen, old: Seen) -> bool:
    """Whether two responses are one, whatever they left behind."""
    return (new.status, new.headers, new.body) == (old.status, old.headers, old.body)


def is_less(new: Seen, old: Seen) -> bool:
    """Whether a response and what it left behind is another one with something missing: headers, members, elements,
    rows. A refusal of whose error nothing is told is less than one of which something is."""
    if refuses(new) and refuses(old) and not new.body:
        return _headers_less(new, old)
    return (
        new.status == old.status
        and _headers_less(new, old)
        and body_is_less(new.body, old.body)
        and _rows_less(new.rows, old.rows)
        and _rows_less(new.gone, old.gone)
    )


def shows_more(new: Seen, old: Seen) -> bool:
    """Whether somebody may do or see more than before: what was refused is not, or there is more in what is shown."""
    if refuses(new):
        return False
    if refuses(old):
        return True
    return not body_is_less(new.body, old.body, counts=True) or not _tables(new.rows) <= _tables(old.rows)


def does_more(new: Seen, old: Seen) -> bool:
    """Whether more rows are written, or gone, than before. Of a request that is refused, or reads, it is what was due:
    a transition of its own, a deletion (meanings "timers", "due rows")."""
    return not (_tables(new.rows) <= _tables(old.rows) and _tables(new.gone) <= _tables(old.gone))


def _tables(rows: tuple[tuple[str, str], ...]) -> Counter[str]:
    """How many rows are written, by table."""
    return Counter(table for table, _ in rows)


def _headers_less(new: Seen, old: Seen) -> bool:
    """Headers whose content follows from the body, and lists of names, count by what is in them."""
    before = dict(old.headers)
    return all(name in before and _value_less(name, value, before[name]) for name, value in new.headers)


def _value_less(name: str, new: str, old: str) -> bool:
    if name == "etag":
        return True  # of what is shown, whatever that is
    items = Counter(part.strip() for part in old.split(","))
    return new == old or Counter(part.strip() for part in new.split(",")) <= items


def body_is_less(new: bytes, old: bytes, *, counts: bool = False) -> bool:
    """`counts`: a smaller number, of what there is less of, is less as well; and that there is none, where there was
    some."""
    if new == old or not new:
        return True
    try:
        return _less(json.loads(new), json.loads(old), counts=counts)
    except ValueError:
        # Server-sent events, or another text: each line that is there was there before.
        return _lines_less(new, old)


def _less(new: Any, old: Any, *, counts: bool = False) -> bool:
    match new, old:
        case dict(), dict():
            return all(name in old and _less(value, old[name], counts=counts) for name, value in new.items())
        case list(), list():
            rest = iter(old)
            return all(any(_less(item, each, counts=counts) for each in rest) for item in new)
        case None, _:
            return True
        case False, True if counts:
            return True
        case int() | float(), int() | float() if counts and not isinstance(new, bool):
            return bool(new <= old)
        case _:
            return bool(new == old) and isinstance(new, bool) is isinstance(old, bool)


def without_member(seen: Seen, name: str) -> tuple[Any, ...]:
    """A response and what it left behind, without a member, wherever it stands."""

    def without(value: Any) -> Any:
        match value:
            case dict():
                return {each: without(inner) for each, inner in value.items() if each != name}
            case list():
                return [without(each) for each in value]
            case _:
                return value

    body = without(json.loads(seen.body)) if seen.body[:1] in (b"{", b"[") else seen.body
    rows = [[(table, without(_open(table, row))) for table, row in each] for each in (seen.rows, seen.gone)]
    return seen.status, seen.headers, body, rows


def _lines_less(new: bytes, old: bytes) -> bool:
    rest = iter(old.splitlines())
    return all(any(_line_less(line, each) for each in rest) for line in new.splitlines())


def _line_less(new: bytes, old: bytes) -> bool:
    if new == old:
        return True
    name, _, value = new.partition(b": ")
    before, _, was = old.partition(b": ")
    return name == before == b"data" and value.startswith(b"{") and body_is_less(value, was)


def _rows_less(new: tuple[tuple[str, str], ...], old: tuple[tuple[str, str], ...]) -> bool:
    """Each row that is written was written before, perhaps with more in it."""
    rest = list(old)
    for table, row in new:
        told = _open(table, row)
        found = next((each for each in rest if each[0] == table and _less(told, _open(*each))), None)
        if found is None:
            return False
        rest.remove(found)
    return True


def _open(table: str, row: str) -> Any:
    """A row, the JSON in its columns read as well: a payload of which less is left is less. By what an event is known,
    and where it stands in the log, follows from those before it."""
    return {name: _parsed(value) for name, value in json.loads(row).items() if (table, name) not in _NUMBERED}


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
