"""Every key of the language, as one visible table: its kind, its shape, its question, what its absence costs.

`resolve` takes the keys that may be written from here, `questions` what is asked, and the reference its rows.
"""

from ninefold.language.key import Key, Kind
from ninefold.language.shapes import describe
from ninefold.vocabulary.table import VOCABULARY, is_open, key_at, key_named, keys_under, names_under

__all__ = ["VOCABULARY", "Key", "Kind", "describe", "is_open", "key_at", "key_named", "keys_under", "names_under"]
