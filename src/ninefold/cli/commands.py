"""The commands, in the order in which they are listed: `ninefold.cli.NAME` has the function NAME."""

from __future__ import annotations

COMMANDS = {
    "new": "Write a blank contract.",
    "check": "Say what is wrong with a contract.",
    "gaps": "Show what a contract leaves open.",
    "propose": "Propose what conventions say to its open questions.",
    "accept": "Turn proposals into facts.",
    "dev": "Serve a contract while it is written.",
    "serve": "Serve a contract.",
    "rows": "Look at the rows of a resource.",
    "add": "Add rows under the contract's own rules.",
    "events": "Look at events, and have them delivered again.",
    "plan": "Show what would be served, statements included.",
    "export": "Write what is served as an OpenAPI document.",
    "explain": "Explain an endpoint, a service, or a diagnostic.",
    "permissions": "Show who may do what.",
    "ablate": "Take away each fact, and see what is left of the service.",
    "schema": "Print a JSON Schema for editors.",
}
