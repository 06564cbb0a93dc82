"""What caused a response: `identifier` is what a response carries of it, `attribution` what that comes to.

Nothing is stored. The identifier names nodes of the plan; each node carries the places of the facts that made it.
"""
