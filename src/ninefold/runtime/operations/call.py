"""Functions of the operator's, made ready to be called: what each is called with and what it gives is held to the
contract."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

import msgspec

from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.plan.calls import Call
from ninefold.plan.held import CANNOT_BE_MADE
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.messages.schemas import validator
from ninefold.runtime.messages.violations import MOST, Path
from ninefold.runtime.operations.constraints import Held, Refusal
from ninefold.runtime.operations.flow import Failed, Gave, Invoke
from ninefold.values import Value, json_reader, to_json

Function = Callable[..., Any]


class Refused(Exception):
    """A function refuses the request, with one of the contract's own codes that it `refuses` with. `detail` is what
    `error.detail` says; without it, what the code says."""

    def __init__(self, code: str, detail: str | None = None) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


class NotAsStated(Exception):
    """What a function does is not as the contract says: a fault of the service."""


def unfit(plan: ServicePlan, functions: Mapping[str, Function]) -> str | None:
    """Why functions cannot be used: one of them is none, or cannot be called with what it takes. None: they can."""
    for name, (call, _) in plan.calls().items():
        function = functions.get(name)
        if function is None:
            continue
        if not callable(function):
            return f"{name} is not a function"
        taken = [each.name for each in call.arguments]
        try:
            inspect.signature(function).bind(**dict.fromkeys(taken))
        except TypeError as error:
            listed = ", ".join(taken) or "nothing"
            return f"the function {name} cannot be called with what the contract gives it ({listed}): {error}"
        except ValueError:
            continue  # a function that does not say what it takes
    return None


class Calling:
    """A call made ready."""

    def __init__(self, call: Call, function: Function) -> None:
        self._call = call
        self._function = function
        self._awaited = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - whether it is a coroutine function, not whether it is there
        )
        self._arguments = tuple(
            (each, compile(each.value), None if each.held is None else Held(each.held)) for each in call.arguments
        )
        self._gives = validator(dict(call.gives))
        self._read = json_reader(call.type)

    def invoked(self, env: Env, body: Mapping[str, Value] | None) -> Invoke:
        """The call for a request. `body`: what it gives to fields. Raises Refusal for what the function does not
        take."""
        inside = self._with_fields(env, body or {})
        arguments: dict[str, Any] = {}
        wrong: dict[Failure, None] = {}
        for argument, evaluate, held in self._arguments:
            plain = None
            rules: Iterable[tuple[Path, str]] = ()
            try:
                value = evaluate(inside)
                plain = None if value is None else to_json(argument.type, value)
                if held is not None:
                    absent = plain is None and not argument.nullable
                    rules = [((), "required")] if absent else islice(held.broken(plain), MOST + 1)
            except EvaluationError:
                rules = [((), CANNOT_BE_MADE)]
            if held is not None:
                wrong |= dict.fromkeys(held.failure(path, rule, env, argument.copied) for path, rule in rules)
            arguments[argument.name] = plain
        if wrong:
            raise Refusal([*wrong])
        return Invoke(self._function, arguments, self._awaited)

    def result(self, outcome: Gave | Failed) -> dict[str, Value]:
        """The root `result`. Raises Refusal where the function refuses, and whatever else it raised; NotAsStated where
        it gives what the contract does not say."""
        if isinstance(outcome, Failed):
            error = outcome.error
            if not isinstance(error, Refused):
                raise NotAsStated(f"{self._call.function} failed") from error
            if error.code not in self._call.refuses:
                raise NotAsStated(f"{self._call.function} refuses with {error.code!r}, which is not among its codes")
            details = {} if error.detail is None else {error.code: str(error.detail)}
            raise Refusal([Failure("check", code=error.code, trace=self._call.trace)], details)
        try:
            plain = msgspec.json.decode(msgspec.json.encode(outcome.value))
            if self._gives.is_valid(plain):
                return {self._call.function: None if plain is None else self._read(plain)}
        except (TypeError, ValueError) as error:
            raise NotAsStated(f"what {self._call.function} gives is not as the contract says") from error
        raise NotAsStated(f"what {self._call.function} gives is not as the contract says")

    def _with_fields(self, env: Env, body: Mapping[str, Value]) -> Env:
        if not self._call.fields:
            return env
        request = env["request"]
        members: dict[str, Any] = dict(request.get("body", {}))
        for field, pointer in self._call.fields:
            if field in body:
                at = members
                for name in pointer[:-1]:
                    at = at.setdefault(name, {})
                at[pointer[-1]] = body[field]
        return {**env, "request": {**request, "body": members}}
