"""Part 9: older versions. Each is a contract of its own, made of the one above it by the changes that it lists.

`derive` is where to start; `way` is what is remembered between one change and the next. `fields` and `names` are what
can change, `shown` is where it is shown. Names in `changes` are those that callers of the version above know; what
stands in expressions and templates there is the document's own. An older contract is checked and planned like the
newest, over the same stored fields: what an older version calls otherwise is only *seen* otherwise
(`language.resources.Seen`).
"""
