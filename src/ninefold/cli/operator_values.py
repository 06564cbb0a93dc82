"""What the operator gives: `operator.NAME` in a contract.

Three places, the first that has a name counts: `--set NAME=VALUE`, the secrets file, and the environment as
`NINEFOLD_SET_NAME`. A value is never printed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ninefold.cli.files import opened
from ninefold.cli.terminal import Unusable
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operations.call import unfit
from ninefold.runtime.request.issuers import unusable

ENVIRONMENT = "NINEFOLD_SET_"

LARGEST = 1024 * 1024
"""Bytes of a secrets file."""


def operator_values(
    wanted: Sequence[str], settings: Sequence[str], secrets: Path | None, environment: Mapping[str, str]
) -> dict[str, str]:
    """The values that are given of those that are wanted.

    A name that is not wanted is an error in `--set` and in the secrets file, which are for this service alone, and
    is passed over in the environment. Raises Unusable.
    """
    given = _pairs(settings, wanted, "--set")
    stored = _pairs(_lines(secrets), wanted, str(secrets)) if secrets is not None else {}
    around = dict(_from_environment(wanted, environment))
    return {name: value for name in wanted for value in [given.get(name, stored.get(name, around.get(name)))] if value}


def issuers_usable(plan: ServicePlan, given: Mapping[str, str]) -> None:
    """Raises Unusable where what is given for an issuer of tokens cannot be used."""
    for scheme in plan.schemes:
        if reason := unusable(scheme, given):
            raise Unusable(reason, f"the scheme {scheme.scheme} needs it, for example https://id.example")


def _from_environment(wanted: Iterable[str], environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names of the environment are usually in capitals: both are read, the exact one first."""
    for name in wanted:
        value = environment.get(ENVIRONMENT + name, environment.get(ENVIRONMENT + name.upper()))
        if value is not None:
            yield name, value


def _pairs(lines: Iterable[str], wanted: Sequence[str], origin: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not name:
            # What stands there may be a secret: it is not repeated.
            raise Unusable(f"{origin}: entry {number} is not NAME=VALUE")
        if name not in wanted:
            names = ", ".join(wanted) or "none"
            help = did_you_mean(name, wanted) or (f"the contract names these operator values: {names}",)
            raise Unusable(f"{origin}: the contract has no operator.{name}", *help)
        if name in pairs:
            raise Unusable(f"{origin}: {name} is given twice")
        if not value:
            raise Unusable(f"{origin}: {name} has no value")
        pairs[name] = value
    return pairs


def _lines(path: Path) -> list[str]:
    """The lines of a secrets file; empty ones and those that begin with `#` say nothing.

    Who else may read it is asked of the opened file, so that it cannot be exchanged in between.
    """
    try:
        with opened(path) as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and os.name == "posix" and status.st_mode & 0o077:
                raise Unusable(f"{path} may be read by others, and holds secrets", f"chmod 600 {path}")
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {(error.strerror or 'it is no file').lower()}") from None
    if len(data) > LARGEST:
        raise Unusable(f"{path} is larger than a secrets file may be (1 MiB)")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unusable(f"{path} is not UTF-8 text") from None
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def functions_of(plan: ServicePlan, where: str | None) -> dict[str, Callable[..., Any]]:
    """The functions that the contract calls, of those that a module or a file has. Raises Unusable where it cannot be
    imported, and where a function cannot be called as the contract says."""
    if where is None:
        return {}
    module = _imported(where)
    wanted = plan.calls()
    found = {name: getattr(module, name) for name in wanted if hasattr(module, name)}
    if reason := unfit(plan, found):
        raise Unusable(f"--functions {where}: {reason}")
    return found


def _imported(where: str) -> ModuleType:
    try:
        if where.endswith(".py"):
            path = Path(where)
            spec = importlib.util.spec_from_file_location(path.stem, path)
            if spec is None or spec.loader is None:
                raise ImportError("it is no module")
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            spec.loader.exec_module(module)
            return module
        sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(where)
    except Exception as error:
        raise Unusable(f"--functions {where} cannot be imported: {type(error).__name__}: {error}") from error
