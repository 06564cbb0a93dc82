"""Plants one defect into ninefold for a run of the tests (`-p tests.planted.planting`): NINEFOLD_PLANTED says which."""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Final

from tests.planted.operators import Defect, planted

PLANTED: Final = Defect(**json.loads(os.environ["NINEFOLD_PLANTED"]))


class _Wrong(SourceFileLoader):
    """Loads the module with the defect in it; its compiled form is kept nowhere."""

    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(self.get_data(self.path))
        return compile(planted(tree, PLANTED), self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("ninefold."):
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.origin is not None and found.origin.endswith(f"/{PLANTED.module}"):
            found.loader = _Wrong(fullname, found.origin)
        return found


assert not any(name.startswith("ninefold.") for name in sys.modules), "what is imported already has no defect"
sys.meta_path.insert(0, _Finder())
