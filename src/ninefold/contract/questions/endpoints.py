"""Part 4: what each endpoint does, reads and answers; media types; what no fact names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ninefold.contract.questions.open import missing, open_in
from ninefold.contract.questions.question import At, blocking, unanswered
from ninefold.contract.questions.resources import unsaid
from ninefold.contract.survey import (
    Survey,
    actions,
)
from ninefold.contract.writes import given
from ninefold.diagnostics.source import Span
from ninefold.language.endpoints import (
    BODY,
    ENDED,
    ENDPOINTS,
    PATCH,
    PRODUCES,
    Endpoint,
    reads_content,
    shows_content,
)
from ninefold.language.fact import Fact, Gap, Proposal, Shown, StatedNone, value_of, within
from ninefold.language.parameters import Parameter
from ninefold.language.question import OpenQuestion, Question
from ninefold.language.requests import DOES, ORDER, REQUEST_MEDIA_TYPE, UNKNOWN_MEMBERS, UNKNOWN_PARAMETERS, Requests
from ninefold.language.responses import RESPONSES
from ninefold.language.routes import WITHOUT_CONTENT, PathName
from ninefold.language.verbs import instead_of, kind_of


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    endpoints = survey.contract.endpoints
    place = survey.contract.document.part("endpoints").place
    if at := unanswered(endpoints.endpoints, place):
        yield blocking(ENDPOINTS, "endpoints", at, survey.keys)
    elif not survey.endpoints and not isinstance(endpoints.endpoints, StatedNone):
        yield blocking(ENDPOINTS, "endpoints", At(place), ())
    yield from _of_all(survey, place)
    for endpoint in survey.endpoints:
        yield from _of_endpoint(survey, endpoint)


def _of_all(survey: Survey, part: Span) -> Iterator[OpenQuestion]:
    facts = survey.contract.endpoints
    enclosing = facts.requests.span if facts.requests is not None else part
    asked: tuple[tuple[Question, Callable[[Requests], Fact[Any] | None], Callable[[Endpoint], bool]], ...] = (
        (
            REQUEST_MEDIA_TYPE,
            lambda requests: requests.media_types,
            lambda endpoint: reads_content(endpoint, facts.requests_of(endpoint).unknown_members),
        ),
        (UNKNOWN_MEMBERS, lambda requests: requests.unknown_members, _states_a_body),
        (UNKNOWN_PARAMETERS, lambda requests: requests.unknown_parameters, lambda _: True),
    )
    for question, said, wanted in asked:
        asking = {each.key: each for each in survey.endpoints if wanted(each)}
        of_all = tuple(key for key, each in asking.items() if within(each.requests, said) is None)
        if of_all and (at := unanswered(within(facts.requests, said), enclosing)):
            yield blocking(question, "requests", at, of_all)
        for key, each in asking.items():
            own = within(each.requests, said)
            if own is not None and (at := unanswered(own, each.span)):
                yield blocking(question, key, at, (key,), f"{question.text}, of `{key}`")
    showing = _keys(survey, shows_content)
    if showing and (at := unanswered(facts.produces, part)):
        yield blocking(PRODUCES, "produces", at, showing)
    if (cors := value_of(facts.cors)) is not None and facts.cors is not None:
        yield from open_in(cors, facts.cors.span, {})


def _keys(survey: Survey, wanted: Callable[[Endpoint], bool]) -> tuple[str, ...]:
    return tuple(endpoint.key for endpoint in survey.endpoints if wanted(endpoint))


def _states_a_body(endpoint: Endpoint) -> bool:
    """Whether members that no fact names can come: `none` is stated of bodies too, and says no member."""
    return isinstance(endpoint.body, Shown | StatedNone)


def takes_values(endpoint: Endpoint) -> bool:
    """Whether a body is asked for: by the verb, and by the method (RFC 9110 gives the content of GET and DELETE no
    meaning)."""
    if endpoint.method in WITHOUT_CONTENT:
        return False
    return any(kind_of(action.verb).takes_values for action in actions(endpoint))


def _of_endpoint(survey: Survey, endpoint: Endpoint) -> Iterator[OpenQuestion]:
    key, own = endpoint.key, (endpoint.key,)
    if at := unanswered(endpoint.does, _asked_of(survey, endpoint)):
        yield blocking(DOES, key, at, own)
        if endpoint.body is None and endpoint.responses is None:
            return  # it shows nothing; the rest is asked once it does
    elif at := _without_row(survey, endpoint):
        yield blocking(DOES, key, at, own, f"which row `{key}` acts on")
    if endpoint.case is not None and (at := unanswered(endpoint.case.by, endpoint.case.among)):
        yield blocking(DOES, key, at, own, f"by what the case of `{key}` is chosen")
        if not endpoint.case.all and not endpoint.case.has_rest:
            return  # which cases there are is not shown; the rest is asked once it is
    for at, words in _called(survey, endpoint):
        yield blocking(DOES, key, at, own, words)
    for parameter in endpoint.declared:
        called = f"the parameter `{parameter.name}` of `{key}`"
        for effect in parameter.effects:
            if at := unanswered(getattr(parameter, effect), parameter.span):
                yield blocking(DOES, key, at, own, f"what {called} does")
        if (parameter.says_type or not parameter.effects) and (at := unsaid(parameter.schema, At(parameter.span))):
            yield blocking(DOES, key, at, own, f"the type of {called}")
        if (open_ := missing(parameter, parameter.span, DOES)) is not None and not _is_of_the_path(endpoint, parameter):
            yield blocking(DOES, key, open_[1], own, f"how several values of {called} are given")
    span = endpoint.span if endpoint.case is None else endpoint.case.span
    bodied = endpoint.body is not None or takes_values(endpoint)
    if bodied and (at := unanswered(endpoint.body, span)):
        yield blocking(BODY, key, at, own)
    kinds = [kind_of(action.verb) for action in actions(endpoint)]
    patched = any(each.patches for each in kinds) and bodied and _may_give_fields(survey, endpoint)
    if patched and (at := unanswered(endpoint.patch, endpoint.span)):
        yield blocking(PATCH, key, at, own)
    signs_in = any(each.row == "found" for each in kinds)
    if signs_in and endpoint.grant is not None and (at := unanswered(endpoint.grant, endpoint.span)):
        yield blocking(DOES, key, at, own, f"by which grant clients sign in by `{key}`")
    if any(each.ends == "has to" for each in kinds) and (at := unanswered(endpoint.ends, endpoint.span)):
        yield blocking(ENDED, key, at, own)
    if (at := unanswered(endpoint.responses, span)) and not endpoint.is_refused:
        yield blocking(RESPONSES, key, at, own)
    shown = value_of(endpoint.responses) or ()
    for words in _outcomes_asked(endpoint) if shown else ():
        yield blocking(RESPONSES, key, At(shown[0].span), own, words)
    for response in shown:
        if at := unanswered(response.content, response.span):
            yield blocking(RESPONSES, key, at, own, f"what `{key}` answers with {response.status}")
    if endpoint.lists:
        if at := unanswered(endpoint.sort, endpoint.span):
            yield blocking(ORDER, key, at, own)


def _outcomes_asked(endpoint: Endpoint) -> Iterator[str]:
    """What responses have to say of the outcomes that they do not state, and that are nothing else then."""
    stated = endpoint.outcomes
    for verb, every in ((each.verb, kind_of(each.verb).outcomes) for each in actions(endpoint)):
        if every and not stated:
            yield f"which outcomes of `{endpoint.key}` are stated: {', '.join(f'`{each}`' for each in every)}"
        for outcome in sorted({*every} - stated - instead_of(verb, stated).keys()) if stated else ():
            yield f"what `{endpoint.key}` answers where it is {outcome}"


def _may_give_fields(survey: Survey, endpoint: Endpoint) -> bool:
    """Whether what a body gives may be fields of the row, and not what expressions read alone."""
    body, types = value_of(endpoint.body), survey.contract.shared_types
    if body is None or body.reference is None or body.reference.text not in types.by_name.keys() - types.open:
        return not isinstance(endpoint.body, StatedNone)
    return any(each.field in survey.graph.fields.get(each.resource, ()) for each in given(survey, endpoint))


def _asked_of(survey: Survey, endpoint: Endpoint) -> Span:
    """Where it is asked what is done: of the endpoint, or of the cases where one of them says it."""
    if endpoint.case is None or all(each.does is None for each in survey.cases(endpoint)):
        return endpoint.span
    return endpoint.case.span


def _called(survey: Survey, endpoint: Endpoint) -> Iterator[tuple[At, str]]:
    """What is missing where an endpoint calls a function."""
    if endpoint.call is None:
        return
    functions, name = survey.contract.endpoints.functions, endpoint.call.subject
    if isinstance(functions, Gap | Proposal):
        yield At(functions.span), f"what `{name}` takes and gives"
    for each in value_of(functions) or ():
        if each.name != name:
            continue
        if at := unanswered(each.takes, each.span):
            yield at, f"what `{name}` takes"
        for taken in value_of(each.takes) or ():
            if at := unsaid(taken.schema, At(taken.span)):
                yield at, f"the type of `{taken.name}`, which `{name}` takes"
        gives = value_of(each.gives)
        if at := unanswered(each.gives, each.span):
            yield at, f"what `{name}` gives"
        elif gives is not None and (at := unsaid(gives, At(each.span))):
            yield at, f"the type of what `{name}` gives"
        taken_ones = value_of(each.takes) or ()
        if (taken_ones or endpoint.called_with is not None) and (at := unanswered(endpoint.called_with, endpoint.span)):
            yield at, f"what `{endpoint.key}` calls `{name}` with"


def _is_of_the_path(endpoint: Endpoint, parameter: Parameter) -> bool:
    return parameter in (value_of(endpoint.path) or ())


def _without_row(survey: Survey, endpoint: Endpoint) -> At | None:
    """Where neither the path nor `where` says which row a verb acts on that needs one."""
    needs = any(
        kind_of(action.verb).is_of_one and not (action.all or survey.graph.is_one_row(action.subject))
        for action in actions(endpoint)[:1]  # what follows acts on the same row
    )
    if not needs or any(isinstance(segment, PathName) for segment in endpoint.segments):
        return None
    return unanswered(endpoint.where, endpoint.span)
