"""What a change of a contract does to those who rely on it: `compare.diff` is the way into this package."""
