"""What is kept beside the rows of a table follows their primary key: the credentials that are issued to them, and the
events that wait for them. To be asked once the columns of the table are compared."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from ninefold.plan.schema import Schema
from ninefold.upgrade import sources, steps
from ninefold.upgrade.change import Change
from ninefold.upgrade.shape import receivers_key
from ninefold.upgrade.table import Changed


def credentials(of: Changed, scopes: bool) -> Iterator[Change]:
    name, key = of.new.name, of.new.key
    if not _is_known_otherwise(of) or not of.old.key or not key:
        return
    values = {each: of.values[each] for each in key if each in of.values}
    apart = steps.SetCredentialsApart(name, of.old.key, values)
    of.silent = [apart, *of.silent, steps.TakeCredentialsBack(name, scopes)]
    yield _kept(of, f"the credentials that are issued to a `{name}`", "by its new primary key")


def deliveries(of: Changed, stored: Schema, wanted: Schema) -> Iterator[Change]:
    """Those of a shape that is stored, where events go to these rows."""
    if not _is_known_otherwise(of):
        return
    kept = structs.replace(wanted, subscriptions=True, subscribers=(of.new.name, *of.new.key))
    values = [of.values.get(name) for name in of.new.key]
    now = tuple((value, type_) for value, (_, type_) in zip(values, receivers_key(kept), strict=True))
    versions = stored.versions or wanted.versions
    apart = steps.SetDeliveriesApart(of.new.name, tuple(receivers_key(stored)), now, versions)
    back = steps.TakeDeliveriesBack(structs.replace(kept, versions=versions))
    of.silent = [apart, *of.silent, back]
    yield _kept(of, "the deliveries of events", f"by the new primary key of `{of.new.name}`")


def _kept(of: Changed, what: str, how: str) -> Change:
    return Change("automatic", what, f"kept, {how}", (), (), "upgrade", (), steps.AreNone(of.here))


def _is_known_otherwise(of: Changed) -> bool:
    was, now = ({column.name: column.type for column in table.columns} for table in (of.old, of.new))
    before, after = ([(name, types.get(name)) for name in table.key] for types, table in ((was, of.old), (now, of.new)))
    return before != after or any(of.values.get(name) != sources.Kept(name) for name in of.new.key)
