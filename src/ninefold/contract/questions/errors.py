"""Part 7: the error shape, and the code of each condition that can arise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ninefold.contract.questions.open import elsewhere, open_in
from ninefold.contract.questions.question import At, blocking, leaving_out, unanswered
from ninefold.contract.refusals import stated
from ninefold.contract.survey import Survey
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import nearest
from ninefold.language.check import ELSE, THAT, Check
from ninefold.language.conditions import CHECK, CONDITIONS_OF_GRANTS, PLACES, STATUSES, Step, narrowing_of
from ninefold.language.errors import CODES, STATUS, ErrorCode
from ninefold.language.fact import Fact, Gap, Name, Proposal, Shown, StatedNone, value_of
from ninefold.language.question import OpenQuestion
from ninefold.trace.refusal import Refusal


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    errors = survey.contract.errors
    place = survey.contract.document.part("errors").place
    without = without_code(survey)
    proposed = tuple(_proposed(survey, without))
    told = {code.name for code, _ in proposed}
    for each in open_in(errors, place, {CODES.id: elsewhere}):
        if each.question is not STATUS or each.subject not in told:
            yield each
    told_of = tuple(each for _, conditions in proposed for each in conditions)
    if proposed and (when := proposed[0][0].conditions) is not None:
        yield _question(told_of, arising(survey), At(when.span, candidate=True))
    yield from _undeclared(survey)
    told_already = set(told_of)
    yield from _codes(survey, place, tuple(each for each in without if each not in told_already))


def checks(survey: Survey) -> Iterator[OpenQuestion]:
    """What each check holds, in the part where it stands; and the error of each that can refuse a request and names
    none. Where part 7 has no codes, each is a bare status, and that is said."""
    for part, subject, fact, blocks in _checked(survey):
        if isinstance(fact, Gap):
            yield blocking(replace(THAT, part=part), subject, At(fact.span), blocks)
    if isinstance(survey.contract.errors.codes, StatedNone):
        return
    refused = {
        each.fact
        for _, found in survey.once(stated.of_cases)
        for each in found
        if each.condition == CHECK and each.code is None
    }
    for part, subject, check in _checks(survey):
        if check.code is None and check.that.span in refused:
            left_out = ELSE.left_out.replace("{}", f"`{subject}`")
            yield leaving_out(replace(ELSE, part=part), subject, At(check.span), left_out)


def _checks(survey: Survey) -> Iterator[tuple[int, str, Check]]:
    """Each check, with its part and what it is of."""
    for part, subject, fact, _ in _checked(survey):
        yield from ((part, subject, each) for each in value_of(fact) or ())


def _checked(survey: Survey) -> Iterator[tuple[int, str, Fact[tuple[Check, ...]] | None, tuple[str, ...]]]:
    """What may have checks, with its part, its own, and the endpoints that depend on them."""
    for resource in survey.graph.resources.values():
        yield 2, resource.name, resource.check, survey.reaching(resource.name)
    for name in survey.contract.machines:
        machine = survey.contract.machine(name)
        for transition in (value_of(machine.transitions) or ()) if machine is not None else ():
            called = f"{transition.name} {name}"
            yield 3, called, transition.check, survey.taking(called)
    for endpoint in survey.endpoints:
        yield 4, endpoint.key, endpoint.check, (endpoint.key,)


def _undeclared(survey: Survey) -> Iterator[OpenQuestion]:
    """The codes that something answers with and part 7 does not have."""
    fact = survey.contract.errors.codes
    stated_codes = value_of(fact) or ()
    if not isinstance(fact, Shown | StatedNone):
        return  # which there are is asked already
    known = {each.name for each in stated_codes}
    used = {code.text: code.span for code in reversed([*_used(survey)]) if code.text not in known}
    for name, span in sorted(used.items(), key=lambda each: each[1]):
        text = f"{STATUS.about(name)}, which part 7 does not have"
        if meant := nearest(name, known):
            text += f" (did you mean `{meant}`?)"
        yield leaving_out(STATUS, name, At(span), STATUS.left_out.replace("{}", f"`{name}`"), text)


def _used(survey: Survey) -> Iterator[Name]:
    yield from (check.code for _, _, check in _checks(survey) if check.code is not None)
    for endpoint in survey.endpoints:
        yield from (code for _, code in value_of(endpoint.errors) or ())
    for function in value_of(survey.contract.endpoints.functions) or ():
        yield from value_of(function.refuses) or ()


def _codes(survey: Survey, place: Span, without: tuple[Arising, ...]) -> Iterator[OpenQuestion]:
    codes = survey.contract.errors.codes
    if isinstance(codes, StatedNone):
        return
    at = unanswered(codes, place) or At(codes.span if codes is not None else place)
    if without:
        yield _question(without, arising(survey), at)


def _question(without: tuple[Arising, ...], every: tuple[Arising, ...], at: At) -> OpenQuestion:
    listed = in_short(without, every)
    text = f"the code of each condition that can arise here: {', '.join(f'`{name}`' for name in listed)}"
    return leaving_out(CODES, ", ".join(listed), at, "codes: these conditions are bare statuses", text)


def _proposed(survey: Survey, uncoded: Iterable[Arising]) -> Iterator[tuple[ErrorCode, tuple[Arising, ...]]]:
    """The codes that are proposed for conditions without one, beside others that are shown."""
    without = dict.fromkeys(uncoded)
    for code in value_of(survey.contract.errors.codes) or ():
        match code.conditions:
            case Proposal(Shown(names)):
                coded = {(name.condition, name.subject) for name in names}
                conditions = tuple(each for each in without if _has_code(each, coded))
                without = dict.fromkeys(each for each in without if each not in conditions)
                if conditions:
                    yield code, conditions


def conditions_without_code(survey: Survey) -> tuple[str, ...]:
    """The conditions of the closed list that can arise here about something of which no code is stated."""
    if isinstance(survey.contract.errors.codes, StatedNone):
        return ()
    return tuple(dict.fromkeys(each.condition for each in without_code(survey)))


def without_code(survey: Survey) -> tuple[Arising, ...]:
    codes = value_of(survey.contract.errors.codes) or ()
    coded = {(name.condition, name.subject) for code in codes for name in value_of(code.conditions) or ()}
    own = {
        (endpoint.key, endpoint.called): {condition.text for condition, _ in value_of(endpoint.errors) or ()}
        for endpoint in survey.endpoints
    }
    return tuple(
        each
        for each in arising(survey)
        if not _has_code(each, coded)
        and own.get((each.endpoint or "", each.case), set()).isdisjoint({each.condition, each.text})
    )


def in_short(without: Iterable[Arising], every: Iterable[Arising]) -> tuple[str, ...]:
    """The conditions without a code by name; narrowed where another of the same condition has one."""
    without = dict.fromkeys(without)
    coded = {each.condition for each in every if each not in without}
    return tuple(dict.fromkeys(each.text if each.condition in coded else each.condition for each in without))


def _has_code(each: Arising, coded: set[tuple[str, str | None]]) -> bool:
    """Whether a code is for the condition, or for the resource or the field that it is about."""
    about = each.about
    resource = about.partition(".")[0] if about else None
    return any((each.condition, subject) in coded for subject in (None, about, resource))


@dataclass(frozen=True, slots=True)
class Arising:
    """A condition of the closed list that can arise at an endpoint (at any, where it is `None`), in one of its cases
    if it has some, about a resource (`order`), a field (`user.email`) or nothing in particular."""

    condition: str
    about: str | None = None
    endpoint: str | None = None
    case: str | None = None

    @property
    def text(self) -> str:
        return f"{self.condition} {self.about}" if self.about else self.condition


def arising(survey: Survey) -> tuple[Arising, ...]:
    """All conditions that can arise and have no code of their own where they are stated, in the order of the closed
    list. `precondition required` is among them nowhere: no contract can state yet that a request must carry a
    condition."""
    order = tuple(STATUSES)
    return tuple(sorted(dict.fromkeys(_found(survey)), key=lambda each: order.index(each.condition)))


def _found(survey: Survey) -> Iterator[Arising]:
    if survey.endpoints:
        whatever_it_asks = (*stated.of_any(survey), *stated.of_older(survey))
        yield from (Arising(each.condition) for each in whatever_it_asks)
    for endpoint, found in survey.once(stated.of_cases):
        for each in found:
            if each.code is None and _is_asked(each):
                of_all = each.step in (Step.RATES, Step.ANY)
                where = () if of_all else (endpoint.key, endpoint.called)
                yield Arising(each.condition, _about(each), *where)


def _is_asked(refusal: Refusal) -> bool:
    """A check names its own error. Where no size is stated a bound holds all the same, and so do a request's conditions
    where there are no entity tags; no contract is asked for their codes, nor for one of a parameter alone."""
    if refusal.condition in ("invalid", CHECK):
        return refusal.condition == "invalid"
    of_parameter = narrowing_of(refusal.condition, refusal.subject) in PLACES
    of_http = refusal.condition in ("too large", "precondition failed") and refusal.fact is None
    return not (of_parameter or of_http)


def _about(refusal: Refusal) -> str | None:
    """What a code is asked for. One for all that is `invalid` will do, and for every credential that is not good."""
    of_grants = refusal.subject in CONDITIONS_OF_GRANTS
    if refusal.condition == "unauthenticated" or (refusal.condition == "invalid" and not of_grants):
        return None
    return refusal.subject
