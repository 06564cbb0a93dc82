"""A contract seen from its endpoints: what each does, whom it admits, and which resources it reaches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from ninefold.contract.effects import each_alone
from ninefold.contract.reach import TOLD, Graph, Reach, Walk, body_names, graph_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.ast import Name
from ninefold.language.actions import Action
from ninefold.language.authentication import ALL, Admission, Every, Permission, Scheme
from ninefold.language.effects import Effect
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression, Items, Leaf, Members, Template
from ninefold.language.fact import Fact, StatedNone, is_open, text_of, value_of
from ninefold.language.requests import Body
from ninefold.language.routes import PathName
from ninefold.language.states import Transition
from ninefold.language.verbs import kind_of

T = TypeVar("T")


@dataclass(frozen=True)
class Survey:
    contract: Contract

    def once(self, find: Callable[[Survey], T]) -> T:
        """What a function finds of this contract, which it is asked for once."""
        if find not in self._found:
            self._found[find] = find(self)
        return self._found[find]  # type: ignore[no-any-return]

    @cached_property
    def _found(self) -> dict[Callable[[Survey], Any], Any]:
        return {}

    # What the contract has, where it is shown.

    @cached_property
    def endpoints(self) -> tuple[Endpoint, ...]:
        return value_of(self.contract.endpoints.endpoints) or ()

    def cases(self, endpoint: Endpoint) -> tuple[Endpoint, ...]:
        """The endpoint in each of its cases; itself where there are none."""
        return tuple(each for each in self.endpoints if each.key == endpoint.key) if endpoint.case else (endpoint,)

    @cached_property
    def graph(self) -> Graph:
        return graph_of(value_of(self.contract.resources.resources) or ())

    @cached_property
    def schemes(self) -> tuple[Scheme, ...]:
        return value_of(self.contract.authentication.schemes) or ()

    def transition(self, action: Action) -> Transition | None:
        machine = self.contract.machine(action.subject or "")
        for each in (value_of(machine.transitions) or ()) if machine else ():
            if each.name == action.verb:
                return each
        return None

    def effects(self, endpoint: Endpoint) -> Mapping[Effect, str]:
        """What else an endpoint does, also by way of the transitions that it takes and that its effects take; each with
        the resource of the row that it follows from."""
        found: dict[Effect, str] = {}
        own = next((name for action in actions(endpoint) if (name := action.resource)), "")
        ahead = [(each.also, own) for each in (endpoint, *map(self.transition, actions(endpoint))) if each is not None]
        while ahead:
            fact, acting = ahead.pop(0)
            for each in each_alone(value_of(fact) or (), self.graph.resources):
                if each not in found:
                    found[each] = acting
                    if (taken := self.transition(each.does)) is not None:
                        ahead.append((taken.also, each.subject))
        return found

    # Endpoints by what they do.

    @cached_property
    def shown_lists(self) -> tuple[Endpoint, ...]:
        return tuple(each for each in self.endpoints if each.lists and not is_open(each.responses))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(endpoint.key for endpoint in self.endpoints))

    @property
    def writing(self) -> tuple[str, ...]:
        writing = (e.key for e in self.endpoints if any(kind_of(a.verb).writes for a in actions(e)))
        return tuple(dict.fromkeys(writing))

    def writing_to(self, resource: str) -> tuple[str, ...]:
        return self._index["write", resource]

    def creating(self, resource: str) -> tuple[str, ...]:
        return self._index["create", resource]

    def signing_in(self, resource: str) -> tuple[str, ...]:
        return self._index["sign in", resource]

    @property
    def reading_back(self) -> tuple[str, ...]:
        """The endpoints that read the log of events, or stream it: that have events which are past."""
        log = self.graph.log or ""
        reading = (key for key in self.reaching(log) if self.reach[key].why.get(log) != TOLD)
        streaming = (each.key for each in self.endpoints if each.streams)
        return tuple(dict.fromkeys((*reading, *streaming)))

    def taking(self, transition: str) -> tuple[str, ...]:
        """The endpoints that take a transition, told with its resource: `place order`."""
        return self._index["take", transition]

    def reaching(self, resource: str) -> tuple[str, ...]:
        return self._index["reach", resource]

    def deleting(self, resource: str) -> tuple[str, ...]:
        """The endpoints that delete rows of a resource, be it through a cascade."""
        return self._index["delete", resource]

    def granting(self, scheme: str) -> tuple[str, ...]:
        """The endpoints that grant tokens of a scheme."""
        return self._index["grant", scheme]

    def naming(self, scheme: str) -> tuple[str, ...]:
        """The endpoints that admit callers of a scheme, or issue its credentials."""
        return self._index["name", scheme]

    @cached_property
    def _index(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """Endpoints by what they do to what; no endpoint does what is not there."""
        found: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for endpoint in self.endpoints:
            for pair in self._deeds(endpoint):
                found[pair][endpoint.key] = None
        return defaultdict(tuple, {pair: tuple(keys) for pair, keys in found.items()})

    def _deeds(self, endpoint: Endpoint) -> Iterator[tuple[str, str]]:
        for action in actions(endpoint):
            resource = action.resource
            if resource is not None:
                if kind_of(action.verb).writes:
                    yield "write", resource
                if kind_of(action.verb).makes:
                    yield "create", resource
                if kind_of(action.verb).row == "found" and not kind_of(action.verb).grants:
                    yield "sign in", resource
                if action.is_transition:
                    yield "take", f"{action.verb} {resource}"
        for effect in self.effects(endpoint):
            yield "write", effect.subject
            if kind_of(effect.verb).makes:
                yield "create", effect.subject
            if effect.does.is_transition:
                yield "take", f"{effect.verb} {effect.subject}"
        yield from (("reach", resource) for resource in self.reach[endpoint.key].touches)
        yield from (("delete", resource) for resource in self.deleted_by(endpoint))
        yield from (("name", admission.who.text) for admission in self._named(endpoint))
        if (issued := value_of(endpoint.issues)) is not None:
            yield "name", issued.text
            if any(kind_of(action.verb).grants for action in actions(endpoint)):
                yield "grant", issued.text

    def deleted_by(self, endpoint: Endpoint) -> frozenset[str]:
        """The resources of which an endpoint deletes rows: its own, and those that a deletion cascades to."""
        own = {a.subject for a in actions(endpoint) if kind_of(a.verb).removes and a.subject}
        own |= {each.subject for each in self.effects(endpoint) if kind_of(each.verb).removes}
        return frozenset().union(*(self.graph.falling_with(each) for each in own))

    # Who calls.

    def permission(self, endpoint: Endpoint) -> Permission | None:
        """The line that says who may call an endpoint: its own, else `all others`."""
        return self.contract.permission(endpoint.key)

    def admitted(self, endpoint: Endpoint) -> tuple[Admission, ...]:
        """Who may call an endpoint, on whichever condition; whom its line names by `false` may not."""
        return tuple(each for each in self._named(endpoint) if not isinstance(each.condition, StatedNone))

    def admits_nobody(self, endpoint: Endpoint) -> bool:
        """Whether it is said that nobody may call: by `none`, or by `false` of each that is named."""
        line = self.permission(endpoint)
        return line is not None and not is_open(line.admits) and not self.admitted(endpoint)

    def _named(self, endpoint: Endpoint) -> tuple[Admission, ...]:
        line = self.permission(endpoint)
        return (value_of(line.admits) or ()) if line else ()

    def row_rule(self, resource: str, who: str) -> Fact[Any] | None:
        """What is said of the rows of a resource that such a caller sees. `None`: nothing."""
        rows = self.contract.authentication.rows
        stated = value_of(rows)
        if isinstance(stated, Every) or isinstance(rows, StatedNone):
            return rows
        admits = self._rules.get(resource)
        if is_open(admits) or isinstance(admits, StatedNone):
            return admits
        for admission in value_of(admits) or ():
            if admission.who.text == who:
                return admission.condition
        return None

    @cached_property
    def _rules(self) -> Mapping[str, Fact[tuple[Admission, ...]]]:
        rules = value_of(self.contract.authentication.rows)
        return {} if rules is None or isinstance(rules, Every) else {rule.resource.text: rule.admits for rule in rules}

    # What is reached.

    @cached_property
    def reach(self) -> Mapping[str, Reach]:
        found: dict[str, Reach] = {}
        for endpoint in self.endpoints:
            own, known = self._reach(endpoint), found.get(endpoint.key)
            # What any of its cases reaches, the endpoint does.
            if known is not None:
                own = Reach(known.touches | own.touches, known.sees | own.sees, {**own.why, **known.why})
            found[endpoint.key] = own
        return found

    def _reach(self, endpoint: Endpoint) -> Reach:
        acted_on = tuple(dict.fromkeys(name for action in actions(endpoint) if (name := action.resource)))
        roots = {name: name for name in acted_on}
        if acted_on:
            roots["page.items"] = acted_on[0]
        seen = self._seen(endpoint, acted_on, roots)
        judged = Walk(self.graph, self._looked_up(endpoint))
        judged.met |= {met: None for met in seen.met if not met[1].endswith(")")}
        for payload, of in self._payloads() if self._tells_events(endpoint, seen) else ():
            judged.show(payload, of)
        for expression in self._judging(endpoint):
            judged.read(expression.ast, roots)
        for effect, acting in self.effects(endpoint).items():
            judged.reached.add(effect.subject)
            within = {effect.subject: effect.subject, "this": acting}
            for given in (*effect.reads, *(each.value for each in effect.sets)):
                judged.read(given.ast, within)
        judged.reached |= self.graph.referring_to(self.deleted_by(endpoint))
        sees = seen.finish()
        return Reach(self.graph.with_targets(sees | judged.finish() | {*acted_on}), sees, dict(seen.why))

    def _seen(self, endpoint: Endpoint, acted_on: tuple[str, ...], roots: Mapping[str, str]) -> Walk:
        """What row rules narrow."""
        seen = Walk(self.graph, narrowed=True)
        for action in actions(endpoint)[:1]:  # what follows acts on the same row
            if (
                (name := action.resource)
                and kind_of(action.verb).row not in ("new", "found", "none")
                and not signs_out_caller(endpoint, action)
            ):
                seen.now = f"`{action.written}`"
                seen.reach(name)
        self._show(seen, endpoint, acted_on, roots)
        seen.finish()
        if self._tells_events(endpoint, seen):
            seen.now = TOLD
            ruled = self.graph.log if self.graph.log in self._rules else None
            causes = (value_of(kind.upon) or () for kind in value_of(self.contract.events.kinds) or ())
            for resource in filter(None, (ruled, *(each.subject for upon in causes for each in upon))):
                seen.reach(resource)
        return seen

    def _tells_events(self, endpoint: Endpoint, seen: Walk) -> bool:
        return endpoint.streams or self.subscribes(endpoint) or self.graph.log in seen.reached

    def subscribes(self, endpoint: Endpoint) -> bool:
        """Whether it says who is told of which events."""
        return any(
            action.subject == self.graph.subscription and kind_of(action.verb).gives_values
            for action in actions(endpoint)
        )

    def led(self, resource: str | None, name: PathName) -> tuple[str, ...]:
        """The names by which a name in a path leads from the row of a resource."""
        return name.led(resource, self.graph.fields.get(resource or "", {}))

    def _payloads(self) -> Iterator[tuple[Template, dict[str, str]]]:
        for kind in value_of(self.contract.events.kinds) or ():
            if (payload := value_of(kind.payload)) is not None:
                yield payload, {each.subject: each.subject for each in value_of(kind.upon) or () if each.subject}

    def met(self, endpoint: Endpoint) -> tuple[tuple[str, str], ...]:
        """The computed fields (`user`, `following`) and views (`user`, `profile()`) that what it shows is made of."""
        acted_on = tuple(dict.fromkeys(name for action in actions(endpoint) if (name := action.resource)))
        walk = Walk(self.graph)
        self._show(walk, endpoint, acted_on, {name: name for name in acted_on})
        walk.finish()
        return tuple(walk.met)

    def _show(self, walk: Walk, endpoint: Endpoint, acted_on: tuple[str, ...], roots: Mapping[str, str]) -> None:
        """What an endpoint finds, filters, sorts and shows: all that row rules narrow."""
        first = acted_on[0] if acted_on else None
        for segment in endpoint.segments:
            if isinstance(segment, PathName):
                walk.now = "its path"
                at = first
                for name in self.led(first, segment):
                    at = walk.step(at, name) if at is not None else None
        for resource, name in self.body_fields(endpoint):
            walk.now = f"the body gives `{name}`"
            if (target := value_of(self.graph.fields[resource][name].references)) is not None:
                walk.reach(target.text)
        walk.now = "its response"
        for response in value_of(endpoint.responses) or ():
            content = value_of(response.content)
            if isinstance(content, Leaf | Members | Items):
                walk.show(content, roots, first)
        if first is not None and (include := endpoint.by("expands")) is not None:
            for each in value_of(include.expands) or ():
                is_name = isinstance(each.shows, Leaf) and isinstance(each.shows.expression.ast, Name)
                if each.shows is not None and not is_name:
                    walk.show(each.shows, {**roots, first: first}, first)
                elif (whole := walk.step(first, each.field)) is not None:
                    walk.show_all(whole)
        for header in value_of(endpoint.headers) or ():
            walk.now = f"the header `{header.name}`"
            walk.read(header.value.ast, roots)
        for parameter in endpoint.filters:
            if (condition := value_of(parameter.where)) is not None:
                walk.now = f"the filter `{parameter.name}`"
                walk.read(condition.ast, roots)
        if (where := value_of(endpoint.where)) is not None:
            walk.now = "its `where`"
            walk.read(where.ast, roots)
        if first is not None:
            offered = (order.keys for each in endpoint.parameters for order in value_of(each.sorts) or ())
            usual = value_of(endpoint.sort) or ()
            for key in chain(usual, *offered):
                walk.now = f"its order by `{key.field}`"
                walk.step(first, key.field)

    def _judging(self, endpoint: Endpoint) -> Iterator[Expression]:
        """What decides on a request or gives values, and reads all rows: guards, permissions, `sets`."""
        if endpoint.case is not None and (by := value_of(endpoint.case.by)) is not None:
            yield by
        for guard in value_of(endpoint.check) or ():
            yield guard.that
        for assignment in (*(value_of(endpoint.sets) or ()), *(value_of(endpoint.called_with) or ())):
            yield assignment.value
        for scheme in self.schemes if endpoint.issues is not None else ():
            issued = text_of(endpoint.issues)
            if issued == scheme.name and (granted := value_of(scheme.granted)) is not None:
                yield granted
        for admission in self.admitted(endpoint):
            if isinstance(condition := value_of(admission.condition), Expression):
                yield condition
        for action in actions(endpoint):
            transition = self.transition(action)
            for guard in (value_of(transition.check) or ()) if transition is not None else ():
                yield guard.that

    def _looked_up(self, endpoint: Endpoint) -> set[str]:
        """The resources that the callers of an endpoint are rows of."""
        admitted = {admission.who.text for admission in self.admitted(endpoint)}
        found = set()
        for scheme in self.schemes:
            if scheme.name in admitted:
                if (matches := value_of(scheme.matches)) is not None and matches.text != ALL:
                    found.add(matches.text.partition(".")[0])
                if (issued_to := value_of(scheme.issued_to)) is not None:
                    found.add(issued_to.text)
        return found & set(self.graph.resources)

    # Bodies.

    def body_fields(self, endpoint: Endpoint) -> tuple[tuple[str, str], ...]:
        """The fields that a body gives: pairs of a resource and a field of it."""
        body = value_of(endpoint.body)
        own = next((name for action in actions(endpoint) if (name := action.resource)), None)
        if body is None:
            return ()
        of_type = self._type_members(body, own)
        named = of_type if body.template is None else (each[1:3] for each in body_names(body.template, own))
        return tuple(pair for pair in named if pair[1] in self.graph.fields.get(pair[0], {}))

    def _type_members(self, body: Body, own: str | None) -> Iterator[tuple[str, str]]:
        if own is not None and body.reference is not None:
            for each in self.contract.shared_types.members(body.reference.text):
                yield own, each.name.text


def actions(endpoint: Endpoint) -> tuple[Action, ...]:
    return value_of(endpoint.does) or ()


def signs_out_caller(endpoint: Endpoint, action: Action) -> bool:
    """Whether it ends credentials of the row that the one presented belongs to, which nothing else names."""
    named = endpoint.where is not None or any(isinstance(each, PathName) for each in endpoint.segments)
    return kind_of(action.verb).row == "caller's" and not named
