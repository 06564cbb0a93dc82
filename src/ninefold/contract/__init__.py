"""A whole contract, and what is worked out of it before anything has a type."""
