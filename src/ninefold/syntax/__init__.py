"""The shape of a document, without its meaning: Markdown and YAML with exact places."""
