"""The parameters of a request for a token (RFC 6749, sections 2.3.1 and 4.4.2)."""

from __future__ import annotations

from typing import Final

CLIENT: Final = "client_id"
SECRET: Final = "client_secret"
GRANT_TYPE: Final = "grant_type"
SCOPE: Final = "scope"

PARAMETERS: Final = frozenset({CLIENT, SECRET, GRANT_TYPE, SCOPE})

CLIENT_CREDENTIALS: Final = "client_credentials"
"""The one `grant_type` that there is."""

GRANT_FIELD: Final = "$grant_type"
ASKED_FIELD: Final = "$scope"
"""What the two are called among the values of a body, beside the fields of the clients."""
