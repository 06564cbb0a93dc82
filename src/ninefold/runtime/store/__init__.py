"""The only place with connections: databases, and statements made ready for them."""
