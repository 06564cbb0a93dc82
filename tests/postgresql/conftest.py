"""The databases of the ordinary changes of a contract serve here too."""

from tests.upgrade.test_matrix import databases, path

__all__ = ["databases", "path"]
