"""Names that nothing declares: every reference of the contract, outside expressions, held against what is declared."""

from __future__ import annotations

from collections.abc import Iterable

from ninefold.contract.resolve.declared import GRANTING, NOWHERE, Declared, Names, declared, listed
from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import NOT_WRITTEN, SAME_NAME, UNDECLARED
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import there_are
from ninefold.language import conditions
from ninefold.language.actions import Action
from ninefold.language.authentication import ALL, ANYONE, Admission, Authentication, Every
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.conditions import Narrowing
from ninefold.language.effects import Effect
from ninefold.language.endpoints import Endpoint, Endpoints
from ninefold.language.errors import ConditionName, Errors, instead_of, not_a_condition
from ninefold.language.events import Events
from ninefold.language.expressions import Assignment
from ninefold.language.fact import BuiltIn, Fact, Name, Shown, candidate_of
from ninefold.language.json_schema import VALUES
from ninefold.language.reading import Reading, quoted
from ninefold.language.resources import Resource, Resources
from ninefold.language.schemas import BODY_OF_A_RESOURCE, OF_A_RESOURCE, TYPE_REFERENCE, Schema
from ninefold.language.states import ResourceStates, States, Transition
from ninefold.language.uses import uses
from ninefold.language.verbs import READ_ONLY
from ninefold.language.versioning import Change, Versioning
from ninefold.syntax.nodes import Mapping, Node, Scalar, Sequence


def judge(r: Reading, contract: Contract) -> None:
    """Says of each name that refers to something whether nothing declares it."""
    judged = _Uses(r, declared(contract))
    judged.resources(contract.resources)
    judged.states(contract.states)
    judged.endpoints(contract.endpoints)
    judged.authentication(contract.authentication)
    judged.events(contract.events)
    judged.errors(contract.errors)
    judged.versioning(contract.versioning)
    for _, part in contract.parts:
        judged.of_record(part)


_DECLARED = {"an endpoint": "endpoints", "a scheme": "schemes", "a version": "versions"}
"""What names are declared, by what they are names of, wherever that says which."""


class _Uses:
    """The uses of names, part by part."""

    def __init__(self, r: Reading, known: Declared) -> None:
        self.r = r
        self.known = known
        self.of_older = False
        """Whether it is what an older version had."""

    # One name

    def use(self, name: Name | None, among: Names | None, what: str, beside: Label | None = None) -> bool:
        """Whether a name is declared, or cannot be judged."""
        if name is None or among is None or name.text in among:
            return True
        help = self.r.did_you_mean(name.text, among) or there_are(among)
        labels = (Label(name.span, "not declared"), *((beside,) if beside is not None else ()))
        of = name.text if among is self.known.resources or among is self.known.reachable else ""
        self.r.say(UNDECLARED, f"{quoted(name.text)} is not {what}", *labels, help=help, of=of)
        return False

    def use_field(self, name: Name | None, resource: str) -> None:
        self.use(name, self.known.fields.get(resource), f"a field of `{resource}`", self._here(resource))

    def _here(self, resource: str) -> Label | None:
        place = (self.known.reachable or {}).get(resource, NOWHERE)
        return None if place == NOWHERE else Label(place, f"`{resource}` is here")

    def use_fields(self, names: Iterable[Name], resource: str) -> None:
        for name in names:
            self.use_field(name, resource)

    def use_code(self, name: Name | None) -> None:
        """A code that part 7 lacks is a gap of it; what only older versions answer with is asked nowhere."""
        if self.of_older:
            self.use(name, self.known.codes, "an error code")

    def use_type(self, name: Name | None, of_a_resource: str) -> None:
        """`of_a_resource`: what to write if the name is that of a resource."""
        resource = None if name is None or name.text in self.known.types else self.r.written.resource(name.text)
        if name is None or resource is None:
            self.use(name, self.known.types, "a shared type")
        else:
            message = f"{quoted(name.text)} is a resource, and not a shared type"
            self.r.say(UNDECLARED, message, Label(name.span), help=(of_a_resource.format(resource),))

    def end_of(self, span: Span, text: str) -> Name:
        """The last word of a scalar, at its place: before a closing quote, if there is one."""
        end = span.end - (self.r.document.source.cut(span)[-1:] in ("'", '"'))
        return Name(text, Span(end - len(text), end))

    def use_one_of(self, name: Name, ways: Iterable[Narrowing]) -> None:
        """A name of one of these sorts, which may be that of something in a resource: `resource.field`."""
        within, own = conditions.parted(name.text)
        of_resource = within not in ("", *conditions.PLACES)
        start = Name(within, Span(name.span.start, name.span.start + len(within)))
        if of_resource and not self.use(start, self.known.reachable, "a resource"):
            return
        sorts = {way.words: self.known.narrowing(way, within) for way in ways}
        known = [names for names in sorts.values() if names is not None]
        if len(known) == len(sorts):
            what = " or ".join(sorts) + f" of `{within}`" * of_resource
            among = known[0] if len(known) == 1 else {each: names[each] for names in known for each in names}
            self.use(self.end_of(name.span, own), among, what, self._here(within))

    def of_record(self, record: object) -> None:
        """The names that the declarations of a record know."""
        for what, name in uses(record):
            if what in _DECLARED:
                self.use(name, getattr(self.known, _DECLARED[what]), what)

    # Part 2

    def resources(self, part: Resources) -> None:
        taken: dict[str, dict[str, Span]] = {name: dict(own) for name, own in self.known.fields.items()}
        for resource in listed(part.resources) or ():
            self.of_resource(resource)
            for field in listed(resource.fields) or ():
                target, inverse = candidate_of(field.references), candidate_of(field.inverse)
                if target is None or inverse is None:
                    continue
                own = taken.setdefault(target.text, {})
                if inverse.text in own:
                    self.r.say(
                        SAME_NAME,
                        f"`{target.text}` has `{inverse.text}` already",
                        Label(inverse.span, "again"),
                        Label(own[inverse.text], "first here"),
                    )
                else:
                    own[inverse.text] = inverse.span
        for shared in part.types:
            if (schema := candidate_of(shared.schema)) is not None:
                self.schema(schema)

    def of_resource(self, resource: Resource) -> None:
        for names in (resource.primary_key, resource.required):
            self.use_fields(listed(names) or (), resource.name)
        for together in listed(resource.unique) or ():
            self.use_fields(together, resource.name)
        records = candidate_of(resource.records)
        for record in records.items if isinstance(records, Sequence) else ():
            for entry in record.entries if isinstance(record, Mapping) else ():
                self.use_field(Name(entry.name, entry.key.span), resource.name)
        for field in listed(resource.fields) or ():
            self.use(candidate_of(field.references), self.known.resources, "a resource")
            for change in listed(field.on_change) or ():
                self.use_fields(change.fields, resource.name)
            self.schema(candidate_of(field.schema))

    def schema(self, schema: Schema | None) -> None:
        if schema is not None:
            for reference in references(schema.node):
                self.use_type(reference, OF_A_RESOURCE)

    # Part 3

    def states(self, part: States) -> None:
        for each in listed(part.machines) or ():
            if self.use(each.resource, self.known.resources, "a resource"):
                self.of_machine(each)

    def of_machine(self, each: ResourceStates) -> None:
        machine, resource = candidate_of(each.machine), each.resource.text
        if machine is None:
            return
        for name in (candidate_of(machine.initial), *(listed(machine.gone) or ())):
            self.use_state(name, resource)
        for transition in listed(machine.transitions) or ():
            self.of_transition(transition, resource)

    def of_transition(self, transition: Transition, resource: str) -> None:
        for name in (*(listed(transition.origin) or ()), candidate_of(transition.to)):
            self.use_state(name, resource)
        for check in listed(transition.check) or ():
            self.use_code(check.code)
        self.sets(transition.sets, resource)
        self.effects(transition.also)

    def effects(self, fact: Fact[tuple[Effect, ...]] | None) -> None:
        for each in listed(fact) or ():
            if self.use(self.end_of(each.does.span, each.subject), self.known.reachable, "a resource"):
                self.use_action(each.does, "an effect")
            self.sets(Shown(each.sets, each.span), each.subject)

    def use_state(self, name: Name | None, resource: str) -> None:
        self.use(name, self.known.states.get(resource), f"a state of `{resource}`")

    def sets(self, fact: Fact[tuple[Assignment, ...]] | None, resource: str) -> None:
        self.use_fields((Name(each.name, each.span) for each in listed(fact) or ()), resource)

    # Part 4

    def endpoints(self, part: Endpoints) -> None:
        for function in listed(part.functions) or ():
            for taken in listed(function.takes) or ():
                self.schema(taken.schema)
            self.schema(candidate_of(function.gives))
        for endpoint in listed(part.endpoints) or ():
            self.of_endpoint(endpoint)

    def of_endpoint(self, endpoint: Endpoint) -> None:
        does = listed(endpoint.does) or ()
        if endpoint.call is not None:
            name = self.end_of(endpoint.call.span, endpoint.call.subject or "")
            self.use(name, self.known.functions, "one of the `functions`")
        for action in does:
            self.use_action(action, "an endpoint")
        subjects = {action.resource for action in does if action.resource is not None}
        if len(subjects) == 1:
            resource = subjects.pop()
            self.sets(endpoint.sets, resource)
            offered = (order for each in listed(endpoint.query) or () for order in listed(each.sorts) or ())
            for keys in (listed(endpoint.sort) or (), *(order.keys for order in offered)):
                for key in keys:
                    self.use_field(Name(key.field, Span(key.span.start + key.descending, key.span.end)), resource)
        self.effects(endpoint.also)
        for parameter in (
            *(listed(endpoint.path) or ()),
            *(listed(endpoint.query) or ()),
            *(listed(endpoint.request_headers) or ()),
        ):
            self.schema(parameter.schema)
        for condition, code in listed(endpoint.errors) or ():
            self.use_code(code)
            if (narrowed := conditions.split(condition.text)) is not None:
                self.use_subject(ConditionName(*narrowed, condition.span))
        body = candidate_of(endpoint.body)
        if body is not None:
            self.use_type(body.reference, BODY_OF_A_RESOURCE)

    def use_action(self, action: Action, whose: str) -> None:
        """Only what is done to the language's own resources: others are judged where actions are read."""
        own = self.known.resources
        if action.resource in READ_ONLY and own is not None and action.resource not in own:
            self.read_only(action, whose)

    def read_only(self, action: Action, whose: str) -> None:
        """What the language keeps itself, and endpoints at most show."""
        subject = action.subject or ""
        if whose == "an endpoint" and action.verb in READ_ONLY[subject]:
            return
        shown = " and ".join(f"`{verb} {subject}`" for verb in READ_ONLY[subject])
        is_cause = whose == "an event's cause"
        self.r.say(
            NOT_WRITTEN,
            f"{quoted(action.verb)} is nothing that {whose} does to `{subject}`, the log of events",
            Label(action.span, "no event is about an event" if is_cause else "nobody writes the log"),
            help=() if is_cause else (f"endpoints can {shown}",),
        )

    # Part 5

    def authentication(self, part: Authentication) -> None:
        for scheme in listed(part.schemes) or ():
            matches = candidate_of(scheme.matches)
            kind = candidate_of(scheme.type)
            is_any = matches is not None and matches.text == ALL and kind is not None and kind.text == "mutualTLS"
            if matches is None or is_any:
                pass
            elif "." not in matches.text:
                self.r.say(
                    UNDECLARED,
                    f"{quoted(matches.text)} is not a field of a resource",
                    Label(matches.span, "not declared"),
                    help=("write the resource too: `customer.api_key`",),
                )
            else:
                self.use_one_of(matches, (conditions.NARROWINGS[conditions.FIELD],))
            self.use(candidate_of(scheme.issued_to), self.known.resources, "a resource")
        rows = candidate_of(part.rows)
        for rule in rows if rows is not None and not isinstance(rows, Every) else ():
            self.use(rule.resource, self.known.reachable, "a resource")
            self.admissions(rule.admits)
        permitted = self.known.permitted
        named = None if permitted is None else {**permitted, ALL_OTHERS: NOWHERE}
        for permission in listed(part.permissions) or ():
            self.use(permission.endpoint, named, "an endpoint")
            self.admissions(permission.admits)

    def admissions(self, admits: Fact[tuple[Admission, ...]] | None) -> None:
        schemes = self.known.schemes
        for admission in listed(admits) or ():
            among = None if schemes is None else {**schemes, ANYONE: admission.who.span}
            self.use(admission.who, among, "a scheme")

    # Parts 6 to 9

    def events(self, part: Events) -> None:
        for kind in listed(part.kinds) or ():
            for action in listed(kind.upon) or ():
                self.use_action(action, "an event's cause")
        delivery = candidate_of(part.delivery)
        webhooks = None if delivery is None else candidate_of(delivery.webhooks)
        to = None if webhooks is None else candidate_of(webhooks.to)
        self.use(None if isinstance(to, BuiltIn) else to, self.known.resources, "a resource of the contract")

    def errors(self, part: Errors) -> None:
        first: dict[str, Span] = {}
        for code in listed(part.codes) or ():
            for condition in listed(code.conditions) or ():
                self.use_subject(condition)
                whole = " ".join(filter(None, (condition.condition, condition.subject)))
                if whole in first:
                    self.r.say(
                        SAME_NAME,
                        f"`{whole}` has two codes",
                        Label(condition.span, "again"),
                        Label(first[whole], "first here"),
                    )
                else:
                    first[whole] = condition.span
        codes = {code.name: code for code in listed(part.codes) or ()}
        for name in listed(part.precedence) or ():
            narrowed = conditions.split(name.text)
            if narrowed is None:
                not_a_condition(self.r, name.text, name.span, instead_of(codes.get(name.text)))
            elif narrowed[1] is not None:
                self.use_subject(ConditionName(*narrowed, name.span))

    def use_subject(self, condition: ConditionName) -> None:
        """What a condition is narrowed to: declared, and of a sort to which it may be."""
        name, subject = condition.condition, condition.subject
        if subject is None:
            return
        (within, own), at = conditions.parted(subject), self.end_of(condition.span, subject)
        fitting = [conditions.NARROWINGS[way] for way in conditions.narrowings(name, subject)]
        ways = [each for each in fitting if self.known.narrowing(each, within) != {}] or fitting
        if within == "body":
            self._use_of_body(own, condition.span)
        elif not ways:
            told = conditions.ways_to_narrow(name)
            help = f"it may be narrowed to {' or '.join(told)}" if told else f"write `{name}`, which is not narrowed"
            self.r.say(UNDECLARED, f"`{name}` is not narrowed to {quoted(subject)}", Label(at.span), help=(help,))
        else:
            self.use_one_of(at, ways)

    def _use_of_body(self, member: str, at: Span) -> None:
        """`invalid body.NAME`: a member of the body is told of as the field that it is (decision 0114)."""
        fields = self.known.fields
        having = [f"`invalid {name}.{member}`" for name, own in fields.items() if own is not None and member in own]
        instead = [f"`invalid {member}`"] if member in self.known.granting else having[:3]
        help = f"write {' or '.join(instead)}" if instead else "of what is no field a `check` says with which code"
        self.r.say(UNDECLARED, f"no condition is narrowed to `body.{member}`", Label(at), help=(help,))

    def versioning(self, part: Versioning) -> None:
        """What older versions had instead may name what they had besides."""
        default = candidate_of(part.default)
        self.use(default if isinstance(default, Name) else None, self.known.versions, "a version")
        changes = [change for version in listed(part.versions) or () for change in listed(version.changes) or ()]
        added = {change.code.name: change.code.span for change in changes if change.code is not None}
        codes = None if self.known.codes is None else {**self.known.codes, **added}
        within = _Uses(self.r, replace(self.known, codes=codes, parameters={}, granting=GRANTING))
        within.of_older = True
        for change in changes:
            within.change(change)

    def change(self, change: Change) -> None:
        """What a change is of is judged where the older contract is made of the newer one."""
        self.schema(change.schema)
        if change.endpoint is not None:
            self.of_endpoint(change.endpoint)
        for condition in listed(change.code.conditions) or () if change.code is not None else ():
            self.use_subject(condition)


def references(node: Node) -> Iterable[Name]:
    """Each `$ref` in a schema, as the name of the shared type."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            if entry.name in VALUES:
                continue
            if entry.name == "$ref" and isinstance(entry.value, Scalar):
                if found := TYPE_REFERENCE.fullmatch(entry.value.text):
                    yield Name(found[1], entry.value.span)
            else:
                yield from references(entry.value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from references(item)
