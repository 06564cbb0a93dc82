"""What a client, or a database, keeps for the service and can neither read nor change: AES-SIV (RFC 5297)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV


class Seal:
    """What computes it is loaded with the first that is sealed or opened: it is 7 MB, and takes a hundredth of a
    second."""

    def __init__(self, key: bytes) -> None:
        """`key`: 64 bytes."""
        self._key = key
        self._made: AESSIV | None = None

    @property
    def _cipher(self) -> AESSIV:
        if self._made is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESSIV

            self._made = AESSIV(self._key)
        return self._made

    def sealed(self, plain: bytes, bound_to: Sequence[bytes]) -> bytes:
        return self._cipher.encrypt(plain, list(bound_to))

    def opened(self, sealed: bytes, bound_to: Sequence[bytes]) -> bytes:
        """Raises ValueError for what was not sealed so, or was bound to something else."""
        cipher = self._cipher
        from cryptography.exceptions import InvalidTag

        try:
            return cipher.decrypt(sealed, list(bound_to))
        except InvalidTag:
            raise ValueError("it was not sealed so") from None
