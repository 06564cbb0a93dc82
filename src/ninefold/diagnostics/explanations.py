"""What a kind of diagnostic is about, with a wrong and a right example: a section in the page of its family, such as
NF05.md beside this file."""

from __future__ import annotations

from ninefold.pages import Section, sections


def explanation(code: str) -> Section:
    """The section of a code such as `NF0504`."""
    return sections(f"diagnostics/{code[:4]}.md")[code]
