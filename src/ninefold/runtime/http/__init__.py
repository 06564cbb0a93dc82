"""Connections and what is said over them: our own protocol, ASGI, and the loop that does what a request waits for."""
