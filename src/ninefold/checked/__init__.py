"""What is served, and what is not: a contract after all that could be wrong with it has been said.

`Checked` is a narrower type than `Contract`. Nothing here is a gap: what is served has plain values and typed
expressions, what is blocked stands apart with the reasons. The planner reads this and nothing before it.
"""
