"""OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1): what a contract's service takes and answers, for other tools.

The document says what is served, in OpenAPI's words where it has them. What it has no words for (states, guards, row
rules, events, gaps) stands under `x-ninefold`, each with the line of the contract. Nothing is added for the sake of
being complete: a description is the contract's own text, or there is none.
"""
