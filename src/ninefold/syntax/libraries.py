"""The parsers of others, which compile some sixty patterns as they are imported; a document asks a few of them."""

from __future__ import annotations

from ninefold.diagnostics import regex

with regex.when_asked():
    import yaml as yaml
    from markdown_it import MarkdownIt as MarkdownIt
    from markdown_it.token import Token as Token
    from yaml import events as events
