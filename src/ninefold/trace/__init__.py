"""Because of what: `refusals` is what may refuse a request, `identifier` what a response carries of its causes, and
`attribution` what that comes to.

Nothing is stored. The identifier names nodes of the plan; each node carries the places of the facts that made it.
"""
