"""What ninefold says about a document: sources, places, and diagnostics with codes."""
