"""Part 6: rows of the contract's own that events are delivered to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ninefold.checked import endpoints as checked
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.compile import inputs
from ninefold.compile.perspective import OPERATOR, Perspective
from ninefold.expressions.tree import Constant
from ninefold.language.authentication import ANYONE
from ninefold.language.verbs import SUBSCRIPTION
from ninefold.plan.events import Headers, Subscribers, Tell
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import Subscription
from ninefold.sql.dialect import Dialect
from ninefold.sql.events import Key, fields_of, is_called, is_not_kept, key_of
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Text


def subscribers(checked: Checked) -> checked.Subscribers | None:
    """The rows that events go to; None: none of the contract's own."""
    webhooks = checked.events.webhooks
    return webhooks.to if webhooks is not None and checked.events.kinds else None


def subscription(resource: Resource, checked: Checked) -> Subscription | None:
    """What is kept of a row that is created: whoever is told of events is told in the version in which it was made.
    None: nothing is."""
    to, is_own = subscribers(checked), resource.subscriptions
    is_told = is_own if to is None else resource.name == to.resource
    version = checked.version if is_told else None
    return Subscription(version, is_own) if is_own or version is not None else None


def planned(checked: Checked, dialect: Dialect, unversioned: str | None) -> Subscribers | None:
    """The statements of delivery to them. What they read is the contract's own word: they read every row, but for those
    that are gone. `unversioned`: the version of rows that no request made; None: there are no versions."""
    to = subscribers(checked)
    if to is None:
        return None
    resource = checked.resources[to.resource]
    perspective = Perspective(checked, OPERATOR, dialect)
    # To the operator nothing is gone; to those who are told of events it is.
    there = Perspective(checked, ANYONE, dialect).there(resource.name, resource.name)
    rows = {resource.name: resource.name}
    name = identifier(resource.name)
    key = _key(resource, perspective)
    of_row = " FROM " + Fragment(f"{name} AS {name}")
    kept = of_row + ' JOIN "$subscription" AS kept ON ' + is_called(Fragment("kept.id"), key, name, dialect) + " WHERE "
    able = [Fragment("kept.disabled IS NULL"), *([] if there is None else ["(" + there + ")"])]
    keep = (
        'INSERT INTO "$subscription" (id, who, caller) SELECT '
        + key_of(key, name, dialect)
        + ", '', '{}'"
        + of_row
        + " WHERE "
        + is_not_kept(key, name, dialect)
    )
    one = "(" + bind(inputs.LOG_SUBSCRIPTION) + " IS NULL OR kept.id = " + bind(inputs.LOG_SUBSCRIPTION) + ")"
    wanted = [*able, one, "(" + perspective.holds(to.where, rows) + ")"]
    if unversioned is not None:
        made = 'coalesce((SELECT v.version FROM "$subscribed in" AS v WHERE v.id = kept.id), '
        wanted.insert(0, made + bind(Constant(unversioned, Text())) + ") = " + bind(inputs.LOG_VERSION))
    due = (
        'CASE WHEN EXISTS (SELECT 1 FROM "$delivery" AS before WHERE before.subscription = kept.id AND before.lane = '
        + bind(inputs.LOG_LANE)
        + " AND before.dead IS NULL) THEN NULL ELSE "
        + bind(inputs.LOG_DUE)
        + " END"
    )
    tell = (
        'INSERT INTO "$delivery" (subscription, event, lane, due) SELECT kept.id, '
        + bind(inputs.LOG_POSITION)
        + ", "
        + bind(inputs.LOG_LANE)
        + ", "
        + due
        + kept
        + all_of(wanted)
        + " ON CONFLICT (subscription, event) DO UPDATE SET dead = NULL, attempts = 0, due = NULL RETURNING 1"
    )
    receiver = (
        "SELECT "
        + perspective.value(to.url, rows)
        + ", "
        + ("NULL" if to.secret is None else perspective.value(to.secret, rows))
        + kept
        + all_of([*able, *_is_the_one(resource, perspective)])
    )
    columns = (ResultColumn("url", Text(nullable=True)), ResultColumn("secret", Text(nullable=True)))
    return Subscribers(resource.name, Tell(_statement(keep), _statement(tell)), _statement(receiver, columns))


def headers(checked: Checked, dialect: Dialect) -> Headers | None:
    """What each delivery says besides, of the row or the subscription that it goes to."""
    webhooks = checked.events.webhooks
    if webhooks is None or not webhooks.headers:
        return None
    resource = checked.resources[SUBSCRIPTION if webhooks.to is None else webhooks.to.resource]
    perspective, rows = Perspective(checked, OPERATOR, dialect), {resource.name: resource.name}
    said = join(", ", [perspective.value(value, rows) for _, value in webhooks.headers])
    name = identifier(resource.name)
    select = (
        "SELECT " + said + Fragment(f" FROM {name} AS {name} WHERE ") + all_of([*_is_the_one(resource, perspective)])
    )
    names = tuple(name for name, _ in webhooks.headers)
    return Headers(names, _statement(select, tuple(ResultColumn(name, Text(nullable=True)) for name in names)))


def _is_the_one(resource: Resource, perspective: Perspective) -> Iterator[Fragment]:
    """That a row is the one whose primary key is bound. Field by field, which an index serves."""
    key = _key(resource, perspective)
    for (name, _), value in zip(key, fields_of(bind(inputs.LOG_SUBSCRIPTION), key, perspective.dialect), strict=True):
        yield column(resource.name, name) + " = " + value


def _key(resource: Resource, perspective: Perspective) -> Key:
    return [(name, perspective.stored(resource.fields[name].type)) for name in resource.primary_key]


def _statement(text: Fragment, columns: Sequence[ResultColumn] = ()) -> Statement:
    return Statement((Piece(text.text, text.binds),), tuple(columns))
