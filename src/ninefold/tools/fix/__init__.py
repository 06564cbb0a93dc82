"""A contract of the first words, rewritten in the second ones: comments, order and layout stay."""
