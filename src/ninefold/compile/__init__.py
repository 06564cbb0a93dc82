"""From what is checked to a plan: one file a part, and for part 4 one file a verb."""
