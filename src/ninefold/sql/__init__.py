"""SQL as data: texts that carry their binds. Knows tables and dialects, and no contract."""
