"""What an older version shows in the place of what is stored, where that can be worked out: words that are called
otherwise now, another unit, the same value in another form. What is proposed comes back to what it was, which is tried
with values that the older schema admits; where nothing exact is known, it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from ninefold.checked.service import Checked
from ninefold.contract.service import Contract
from ninefold.development.samples import CANDIDATES, admits
from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.bounds import bounds
from ninefold.diff.sight import VALUE, Piece, Sight, as_stored, sight
from ninefold.diff.wording import Step, any_value, expression
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.tree import Constant, words
from ninefold.language.fact import value_of
from ninefold.language.resources import Field
from ninefold.pipeline import Loaded
from ninefold.values import Invalid, Text, json_reader, required

Beside: TypeAlias = tuple[tuple[str, str], ...]
"""Keys of a change with their values, as they are written."""

Called: TypeAlias = Mapping[str, str]
"""Words of the newer contract, with what the older one calls them."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """`shown`: an expression of what is stored; `stored`: one of the `value` that is given. `called`: where these are
    words. `note`: how else it may be."""

    shown: str
    stored: str
    note: str = ""
    called: tuple[tuple[str, str], ...] = ()


def conversions(path: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Conversion]:
    """The likely ones first, by two schemas; `path`: what the document calls the stored field."""
    called = called_otherwise(was.get("enum"), now.get("enum"))
    if called:
        yield in_words(path, called)
    yield from _in_numbers(path, was, now)
    before, after = form_of(was), form_of(now)
    if (before, after) == ("date", "date-time"):
        yield Conversion(f"string({path}).substring(0, 10)", "timestamp(value + 'T00:00:00Z')", "midnight, UTC")
    elif after == "array" and before == form_of(now.get("items", {})):
        yield Conversion(f"{path}[0]", "[value]", "the first alone")


def converted(subject: str, old: Field, above: Field | None, was: Beside) -> Iterator[Step]:
    """The change of a field, in several ways. `was`: its older schema, as it is written."""
    said, now = (None if each is None else value_of(each.schema) for each in (old, above))
    if above is None or said is None or now is None:
        return
    for each in conversions(f"{subject.partition('.')[0]}.{above.name}", said.json, now.json):
        shown, stored = ("is", expression(each.shown)), ("stored", expression(each.stored))
        for beside in ((*was, shown, stored), (*was, shown)):
            yield Step("change", subject, beside, note=each.note, called=each.called)
    if form_of(said.json) != form_of(now.json):
        asked = (("is", any_value(old)), ("stored", any_value(above)))
        yield Step("change", subject, was, asked, "what older clients see of it, and what is stored of theirs")


def of_states(resource: str, old: Contract, above: Contract) -> Iterator[Step]:
    """What is shown of states that are called otherwise."""
    was, now = _states(old, resource), _states(above, resource)
    if was is not None and now is not None and (called := called_otherwise(was[1], now[1])):
        found = in_words(f"{resource}.{now[0].name}", called)
        shown = (("is", expression(found.shown)),)
        yield Step("change", f"{resource}.{was[0].called}", shown, note=found.note, called=found.called)


def form_of(schema: Any) -> str | None:
    """What a value is, of one type or of one that may be null; of some texts their format."""
    said = schema.get("type") if isinstance(schema, Mapping) else None
    types = [each for each in (said if isinstance(said, list) else [said]) if each != "null"]
    if types == ["string"] and schema.get("format") in ("date", "date-time"):
        return str(schema["format"])
    return types[0] if len(types) == 1 else None


# Words


def called_otherwise(was: Sequence[Any] | None, now: Sequence[Any] | None) -> Called:
    """Words that are gone and as many that have come, in the order in which they stand."""
    gone = [each for each in was or () if each not in (now or ())]
    come = [each for each in now or () if each not in (was or ())]
    is_text = all(isinstance(each, str) for each in (*gone, *come))
    return dict(zip(come, gone, strict=True)) if is_text and was and len(gone) == len(come) else {}


def in_words(path: str, called: Called) -> Conversion:
    note = "one for the other as they stand in the list: which is which, you know" if len(called) > 1 else ""
    back = {old: new for new, old in called.items()}
    return Conversion(_chosen(path, called), _chosen("value", back), note, tuple(called.items()))


def _chosen(of: str, called: Called) -> str:
    return "".join(f"{of} == {_word(each)} ? {_word(other)} : " for each, other in called.items()) + of


def _word(text: str) -> str:
    return words(Constant(value=text, type=Text())) if "'" in text or "\\" in text else f"'{text}'"


# Numbers

_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_LEAST: Final = 2
"""Bounds of one type that have to be so many times what they were: one alone was likely raised."""


def _in_numbers(path: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Conversion]:
    old, new = form_of(was), form_of(now)
    if not ({old, new} <= {"integer", "number"}) or was == now:
        return
    ratios = list(_ratios(was, now, old == new))
    times = ratios[0] if ratios and len(set(ratios)) == 1 else Fraction(1)
    if 1 not in (times.numerator, times.denominator):
        return
    is_positive = was.get("minimum", -1) >= 0 or was.get("exclusiveMinimum", -1) >= 0
    shown = _scaled(path, new == "number", old == "number", 1 / times, is_positive)
    stored = _scaled("value", old == "number", new == "number", times, is_positive)
    if times != 1 and (old != new or len(ratios) >= _LEAST):
        yield Conversion(shown, stored, f"its bounds are {times} times what they were: a unit, or other bounds")
    elif times == 1 and old == "integer" and new == "number":
        yield Conversion(shown, stored)


def _ratios(was: Mapping[str, Any], now: Mapping[str, Any], is_alike: bool) -> Iterator[Fraction]:
    """How many times what they were bounds are that both schemas have; each integer is a multiple of 1."""
    for name in _BOUNDS:
        before, after = (
            each.get(name, 1 if name == "multipleOf" and form_of(each) == "integer" and not is_alike else None)
            for each in (was, now)
        )
        if before and after and not isinstance(before, bool) and not isinstance(after, bool):
            yield Fraction(str(after)) / Fraction(str(before))


def _scaled(of: str, is_number: bool, to_number: bool, times: Fraction, is_positive: bool) -> str:
    """An expression of so many times a number or an integer, as the one or the other."""
    by = "" if times == 1 else f" * {times.numerator}" if times.denominator == 1 else f" / {times.denominator}"
    if not is_number and not to_number:
        return f"{of}{by}"
    point = f"{by}.0" if by else ""
    if to_number:
        return f"{of if is_number else f'double({of})'}{point}"
    half = "0.5" if is_positive else f"({of} < 0.0 ? -0.5 : 0.5)"
    return f"int({of}{point} + {half})"


# Whether it comes back


def _comes_back(old: Checked | None, derived: Checked | None, resource: str, name: str) -> bool:
    """Whether each value that the older contract admits, given and stored, is shown as itself; of a state, which nobody
    gives, whether the states that are shown are those that there were."""
    if old is None or derived is None:
        return False
    was, now = old.resources[resource], derived.resources[resource]
    own = next((each for each in now.fields.values() if each.called == name and each.seen is not None), None)
    shown = None if own is None or own.seen is None else now.fields[own.seen.instead or own.name].computed
    if own is None or own.seen is None or shown is None:
        return False
    show = compile(shown)
    try:
        if was.machine is not None and now.machine is not None and now.machine.field == own.name:
            return {show({resource: {own.name: each}}) for each in now.machine.states} == {*was.machine.states}
        if own.seen.stored is None or own.seen.given is None:
            return False
        [schema] = [each.schema for each in was.fields.values() if each.called == name]
        store = compile(own.seen.stored)
        for each in _samples(schema):
            value = json_reader(required(own.seen.given))(each)
            if show({resource: {own.name: store({"value": value})}}) != value:
                return False
    except (EvaluationError, Invalid):
        return False
    return True


def _samples(schema: Mapping[str, Any]) -> list[Any]:
    made = (*bounds(schema), *CANDIDATES, 0, 1, 7, -3, 19, 1.5, 2.25, True, False)
    return [each for each in made if each is not None and admits(schema, each)]


# The same words


def shown_instead(old: Loaded, was: Sight, derived: Loaded, steps: Sequence[Step]) -> Sight | None:
    """What a derived version says where it shows something that comes back as it was, or that is asked: this is no
    difference, and it says the rest in the words of the older contract. None: something does not come back."""
    found, called = sight(derived.contract), dict[tuple[str, str], Called]()
    for each in (one for one in steps if one.verb == "change" and one.is_instead):
        resource, _, name = each.subject.partition(".")
        at = ("2", resource, "fields", name, VALUE)
        if at in was or at not in found:
            continue
        if not each.asked and not _comes_back(old.checked, derived.checked, resource, name):
            return None
        del found[at]
        called[resource, name] = dict(each.called)
    return _in_older_words(found, called)


def _in_older_words(found: Sight, called: Mapping[tuple[str, str], Called]) -> Sight:
    """In states, in what is given to the field, and where it is compared with a word; by resource and field."""
    for (resource, name), of in called.items():
        found = {at: Piece(_older(at, each.said, resource, name, of), each.span) for at, each in found.items()}
    return found


def _older(at: tuple[str, ...], said: Any, resource: str, name: str, called: Called) -> Any:
    if at[:4] == ("2", resource, "fields", name):
        return _given(said, called) if at[4:] in (("on create",), ("on change",)) else said
    compared = _compared(said, name, called)
    return _in_states(compared, called) if at[:2] == ("3", resource) else compared


def _in_states(said: Any, called: Called) -> Any:
    """What is no expression there is a name of a state, or a list of some."""
    match said:
        case str():
            return called.get(said, said)
        case list() if all(isinstance(each, str) for each in said):
            return sorted((called.get(each, each) for each in said), key=repr)
        case dict():
            return {each: _in_states(value, called) for each, value in said.items()}
        case _:
            return said


def _compared(said: Any, name: str, called: Called) -> Any:
    match said:
        case ("==" | "!=" as operator, one, other) if _reads(one, name) != _reads(other, name):
            return operator, *sorted((_side(each, name, called) for each in (one, other)), key=repr)
        case ("in", one, ("items", *items)) if _reads(one, name):
            return "in", _side(one, name, called), ("items", *(_given(each, called) for each in items))
        case (str() as field, value) if field == name:
            return field, _given(value, called)
        case tuple():
            return tuple(_compared(each, name, called) for each in said)
        case list():
            return [_compared(each, name, called) for each in said]
        case dict():
            return {each: _compared(value, name, called) for each, value in said.items()}
        case _:
            return said


def _reads(said: Any, name: str) -> bool:
    return bool(isinstance(said, tuple) and said[:1] == ("member",) and said[2] == as_stored(name))


def _side(said: Any, name: str, called: Called) -> Any:
    return ("member", said[1], name) if _reads(said, name) else _given(said, called)


def _given(said: Any, called: Called) -> Any:
    match said:
        case ("literal", "str", text):
            return "literal", "str", next((repr(old) for new, old in called.items() if repr(new) == text), text)
        case ("if", condition, yes, no):
            return "if", condition, _given(yes, called), _given(no, called)
        case _:
            return said


def _states(contract: Contract, resource: str) -> tuple[Field, tuple[str, ...]] | None:
    """The field that shows the states of a resource, and the states in written order."""
    own = contract.resources_by_name.get(resource)
    fields = () if own is None else value_of(own.fields) or ()
    field = next((each for each in fields if each.state is not None and each.called is not None), None)
    machines = (each.machine for each in value_of(contract.states.machines) or () if each.resource.text == resource)
    states = next((value_of(found.states) for each in machines if (found := value_of(each)) is not None), None)
    return None if field is None or states is None else (field, tuple(each.text for each in states))
