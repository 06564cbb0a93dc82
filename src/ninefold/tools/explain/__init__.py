"""What decides an endpoint, and what a service is, each fact with its line: facts first, then how they look.

`explanation` is the data, `grounds` where it is drawn from. The files named after the parts of a contract tell the
facts of their part; `requests`, `writes`, `responses` and `refusals` what these come to at one endpoint; `endpoint`
and `service` put a page together; `render` writes it. The way in is `explain_endpoint` and `explain_service`.
"""
