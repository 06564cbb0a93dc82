"""SQL as data: texts that carry their binds, and expressions as such. Knows tables and dialects, and no contract."""
