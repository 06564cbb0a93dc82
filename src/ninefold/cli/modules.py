"""Modules found with half the work: a command imports some six hundred, and Python asks of each three times whether it
is there, in Python, before it reads it. That was a twentieth of a start.

What is taken here is a source beside nothing else of its name, in a package that is one folder, with the bytecode that
Python has kept of just this source. Whatever else there may be, Python finds and reads as it always does.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, spec_from_file_location
from types import CodeType, ModuleType
from typing import Final


def find_quickly() -> None:
    """For the rest of this process, which is a program of ours."""
    sys.meta_path.insert(0, _Finder())


class _Finder:
    def __init__(self) -> None:
        self._folders: dict[str, _Folder] = {}

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not path or len(path) != 1:
            return None
        where = path[0]
        folder = self._folders.get(where)
        if folder is None:
            folder = self._folders[where] = _Folder(where)
        last = name.rpartition(".")[2]
        if folder.files.get(last) != f"{last}.py":
            return None
        source = f"{where}{os.sep}{last}.py"
        loader = _Loader(name, source)
        loader.kept = folder.kept.replace(_ANY, last)
        return spec_from_file_location(name, source, loader=loader, submodule_search_locations=None)


class _Folder:
    """What is in a folder, as it was first found. `files`: the only one that begins with a name, by it. `kept`: where
    the bytecode of a module is."""

    def __init__(self, where: str) -> None:
        self.files: Mapping[str, str] = {}
        self.kept = cache_from_source(f"{where}{os.sep}{_ANY}.py")
        try:
            found = os.listdir(where)
        except OSError:
            return
        several = dict[str, str]()
        for each in found:
            name = each.partition(".")[0]
            several[name] = "" if name in several else each
        self.files = several


_ANY: Final = "any-module"  # which is no name of one


class _Loader(SourceFileLoader):
    kept: str

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            source = os.stat(self.path)
            kept = os.open(self.kept, os.O_RDONLY | os.O_CLOEXEC)
            try:
                data = os.read(kept, os.fstat(kept).st_size)
            finally:
                os.close(kept)
        except OSError:
            return super().get_code(fullname)
        if data[:_HEAD] != _head(source):
            return super().get_code(fullname)
        code: CodeType = marshal.loads(memoryview(data)[_HEAD:])
        return code


_HEAD: Final = 16


def _head(source: os.stat_result) -> bytes:
    """What bytecode begins with that is of a source, by its time and size (PEP 552)."""
    said = (0, int(source.st_mtime), source.st_size)
    return MAGIC_NUMBER + b"".join((each & 0xFFFF_FFFF).to_bytes(4, "little") for each in said)
