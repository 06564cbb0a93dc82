"""The values that a write stores: of the body, else what the contract makes of the request, of the caller and of the
row, and which of them nobody knows where only a part of the body is valid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from ninefold.expressions.evaluate import Env, equal
from ninefold.expressions.reads import of_request
from ninefold.expressions.tree import Constant, free_variables
from ninefold.plan import environment
from ninefold.plan import writes as plan
from ninefold.plan.environment import Environment
from ninefold.runtime.cache import Cache
from ninefold.runtime.messages.problems import Failure, failed_condition
from ninefold.runtime.operations.constraints import Unfit, making
from ninefold.runtime.operations.credentials import hashed
from ninefold.values import Digest, Value

KEPT = object()
"""The value of a field that a write does not touch."""

Made: TypeAlias = tuple[list[Failure], bool]
"""What cannot be stored as it is, and whether a row that is there could not have it either."""

Way: TypeAlias = Callable[[Environment, dict[str, Any], Mapping[str, Value]], Made]
"""How they are made, of a body and of the row as it is."""

_WAYS = 256
"""Which fields bodies give, a client chooses: of so many choices it is kept what follows."""


def lacks_of(write: plan.Write) -> Literal["made", "there", "none"]:
    """Of which row it is told what it would lack: one that is made or found; one that is to be another, where it is
    there; none, by what only finds that a row is as it is wanted."""
    if isinstance(write, plan.Ensure) and not write.makes:
        return "none"
    return "there" if isinstance(write, plan.Replace) else "made"


class Values:
    """How the fields of a write's row have their values, made ready."""

    def __init__(self, write: plan.Write) -> None:
        assigns = plan.given_values(write)
        self._row = write.resource
        self._is_new = isinstance(write, plan.Create | plan.Ensure)
        self._is_whole = isinstance(write, plan.Replace)
        self._assigns = assigns
        # Most are of the body, or are made in any case, and nothing refuses them.
        self._each = tuple(
            (
                each,
                each.field,
                each.given,
                None if each.in_statement or each.again or each.held else make,
                make,
            )
            for each in assigns
            for make in (None if each.otherwise is None else making(each.otherwise, each.held),)
        )
        of_the_row = {write.resource, environment.WAS}
        self._reads_row = any(
            assign.otherwise is not None
            and (assign.held or not of_the_row.isdisjoint(free_variables(assign.otherwise)))
            for assign in assigns
        )
        self._ways: Cache[tuple[str, ...], Way] = Cache(_WAYS)
        self._required = tuple(assign.field for assign in assigns if not (assign.type.nullable or assign.in_statement))
        self._lacks = {each.field: failed_condition(plan.of_lack(write, each)) for each in assigns}
        self._made_of_row = frozenset(
            assign.field
            for assign in assigns
            if assign.in_statement
            or assign.again
            or (assign.otherwise is not None and write.resource in free_variables(assign.otherwise))
        )
        self._secret = frozenset(assign.field for assign in assigns if assign.secret is not None)
        self._passwords = tuple(assign.field for assign in assigns if assign.secret == "password")
        self.keeps_passwords = bool(self._passwords)
        self._compared = frozenset(assign.field for assign in assigns if assign.compared)
        self._always = frozenset(
            assign.field
            for assign in assigns
            if not assign.again
            and (assign.otherwise is not None or (self._is_whole and assign.given and not assign.kept))
        )
        self._made_of_request = tuple(
            (assign.field, parts)
            for assign in assigns
            if assign.otherwise is not None and (parts := of_request(assign.otherwise))
        )

    def read_the_row(self, given: Collection[str]) -> bool:
        """Whether one of them is made from fields of the row that the body does not give. `given`: those that it
        gives."""
        changes = self._always.union(given)
        for assign in self._assigns:
            if (assign.given and assign.field in given) or (assign.again and changes.isdisjoint(assign.again)):
                continue
            if assign.again:
                changes |= {assign.field}
            if assign.reads and (assign.again or not set(given).issuperset(assign.reads)):
                return True
        return False

    def make(self, env: Environment, body: dict[str, Any], current: Mapping[str, Value]) -> Made:
        """Make them: `$new`, and `issued` where what is stored is a digest. `current`: the row as it is."""
        given = tuple(body)
        return (self._ways.get(given) or self._way(given))(env, body, current)

    def _way(self, given: tuple[str, ...]) -> Way:
        """How they are made where a body gives these fields: one after another, unless each other is made whatever the
        row and the others are, or not at all."""
        stored, made, fixed = list[str](), list[tuple[str, Callable[[Env], Value]]](), dict[str, Value]()
        surely = not self._reads_row
        for assign, field, is_given, plainly, make in self._each:
            if is_given and field in given:
                stored.append(field)
            elif plainly is not None:
                made.append((field, plainly))
            elif assign.in_statement:
                continue
            elif assign.again or make is not None:
                surely = False
            elif self._is_whole and not assign.kept:
                fixed[field] = None
            else:
                continue
            surely = surely and assign.secret != "token"
        way = self._surely(given, stored, made, fixed) if surely else self._one_by_one
        self._ways.keep(given, way)
        return way

    def _surely(
        self,
        given: Collection[str],
        stored: list[str],
        made: list[tuple[str, Callable[[Env], Value]]],
        fixed: dict[str, Value],
    ) -> Way:
        """Of a body that gives the fields `given`, those that are `stored`, and others that are made or `fixed`."""
        is_all = len(stored) == len(given)
        has = {*stored, *fixed, *dict(made)}
        required = tuple(name for name in self._required if self._is_new or name in has)
        for each in self._assigns:
            if isinstance(each.otherwise, Constant) and type(each.otherwise.value) not in (list, dict):
                fixed |= {name: make({}) for name, make in made if name == each.field}
        made = [(name, make) for name, make in made if name not in fixed]

        def way(env: Environment, body: dict[str, Any], current: Mapping[str, Value]) -> Made:
            env[environment.NEW] = new = fixed | (body if is_all else {name: body[name] for name in stored})
            for name, make in made:
                new[name] = make(env)
            if required and None in map(new.get, required):
                return [self._lacks[name] for name in required if new.get(name) is None], False
            return [], False

        return way

    def _one_by_one(self, env: Environment, body: dict[str, Any], current: Mapping[str, Value]) -> Made:
        made = {name: value for name, value in current.items() if name != environment.REVISION_COLUMN}
        env[environment.NEW] = new = dict[str, Any]()
        unfit: list[Failure] = []
        told: set[str] = set()
        was = dict(made)
        anew = env[environment.ANEW]
        # A value made on create or on change reads the row as it is being made, under the resource's name.
        of_the_row = {**env, self._row: made, environment.WAS: was} if self._reads_row else env
        for assign, field, given, plainly, make in self._each:
            if given and field in body:
                value = body[field]
            elif plainly is not None:
                value = plainly(of_the_row)
            elif assign.in_statement:
                continue
            elif assign.again and not any(self._changes(name, new, made, was) for name in assign.again):
                continue
            elif make is not None:
                anew |= {field: True} if assign.again else {}
                try:
                    value = make(of_the_row)
                except Unfit as failed:
                    value = None
                    is_consequence = assign.held is not None and not told.isdisjoint(assign.held.reads)
                    unfit += [] if is_consequence else [failed.failure]
                    told.add(field)
            elif self._is_whole and not assign.kept:
                value = None
            else:
                made.setdefault(field, None)
                continue
            secret = assign.secret
            if secret == "token" and value is not None:
                env["issued"][field] = value
                new[field] = sha256(value.encode()).digest()
            else:
                new[field] = value
                if secret is None:
                    made[field] = value
        absent = None if self._is_new else KEPT
        lacks = [self._lacks[name] for name in self._required if new.get(name, absent) is None and name not in told]
        return unfit + lacks, not told.isdisjoint(self._compared)

    def _changes(self, field: str, new: Mapping[str, Any], made: Mapping[str, Value], was: Mapping[str, Value]) -> bool:
        """Whether a field becomes another than it was. A secret does where it is given."""
        return field in new if field in self._secret else not equal(made.get(field), was.get(field))

    def unknown(self, given: Collection[str], refused: Mapping[str, Any], partly: bool) -> set[str]:
        """The fields of which nobody knows what would be stored: those that are made of what is `refused` of the
        request, or of others where these are known `partly`. `given`: those that the body gives."""
        made = {
            name
            for name, parts in self._made_of_request
            if any(refused.get("body" if part == "body" else "parameters") for part in parts)
        }
        return made.union(name for name in self._made_of_row if name not in given) if made or partly else made

    def passwords(self, new: Mapping[str, Any]) -> dict[str, str]:
        """Those that are to be hashed, by field."""
        return {name: new[name] for name in self._passwords if isinstance(new.get(name), str)}

    def put_hashes(self, new: dict[str, Any], hashes: Mapping[str, str]) -> None:
        for assign in self._assigns:
            if assign.field in hashes:
                hash = hashes[assign.field]
                new[assign.field] = hash.encode() if isinstance(assign.type, Digest) else hash

    def hashes(self, new: Mapping[str, Any]) -> dict[str, Any]:
        """The hashes of passwords, by field."""
        return {name: hash for name in self._passwords if (hash := new.get(name)) is not None}


def hash_all(plain: Mapping[str, str]) -> dict[str, str]:
    return {name: hashed(value) for name, value in plain.items()}
