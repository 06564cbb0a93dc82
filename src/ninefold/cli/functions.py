"""Where the functions are that a contract calls: `--functions MODULE_OR_FILE`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ninefold.cli.terminal import Unusable
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operations.call import unfit


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
