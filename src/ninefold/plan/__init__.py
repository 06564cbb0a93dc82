"""The waist: a service as data. What is above it knows contracts, what is below it knows requests.

Everything here is a frozen `msgspec.Struct`, so that a plan can be dumped, compared and loaded. Expressions are
typed trees; what their roots mean at run time is the table in `ninefold.plan.environment`.
"""
