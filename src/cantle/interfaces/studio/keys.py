"""The secrets of one studio: the token in its address, which works once, and the cookie that a browser gets for it.

They admit a browser and touch no data, so they are drawn by Python's module `secrets`.
"""

from __future__ import annotations

import hmac
import secrets
import threading


class Keys:
    """A token that opens the studio once, and the cookie of the browser that used it."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = secrets.token_urlsafe(32)
        # Browsers share cookies between ports: two studios on one machine need two names.
        self.cookie_name = f"cantle-studio-{port}"
        self._used = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "Keys(secret)"

    def redeem(self, token: str) -> bool:
        """Whether this is the token, used for the first time."""
        right = hmac.compare_digest(token.encode(), self.token.encode())
        with self._lock:
            first = not self._used
            self._used = self._used or right
        return right and first

    def knows(self, cookie: str | None) -> bool:
        """Whether a request carries the cookie."""
        return cookie is not None and hmac.compare_digest(cookie.encode(), self.cookie.encode())


def fresh_word() -> str:
    """A random word that nobody can guess, for a form that may be sent only once."""
    return secrets.token_urlsafe(16)
