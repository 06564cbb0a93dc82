"""Document to Contract: shape becomes meaning. One file a part; `names` holds what refers to what."""

from ninefold.resolve.contract import resolve

__all__ = ["resolve"]
