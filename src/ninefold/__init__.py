"""ninefold: a service contract in, a running service out, and nothing invented in between."""

__version__ = "0.1.0"
