"""The only place with connections."""
