"""The App's own proof of identity: a short-lived JWT. No clock; the time is passed in."""

from __future__ import annotations

from functools import lru_cache

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from boardreadyops.config import Secret

# GitHub refuses an `iat` in its future and a life beyond ten minutes; both leave room for a clock that is off.
JWT_BACKDATE_SECONDS = 60
JWT_LIFE_SECONDS = 9 * 60


class PrivateKeyRefused(ValueError):
    """The App's private key cannot sign. The text is one line and holds nothing of the key."""


def app_jwt(app_id: int, private_key_pem: Secret, now_epoch_seconds: int) -> Secret:
    """A JWT for the App at this time (seconds since 1970, UTC); PrivateKeyRefused."""
    issued_at = now_epoch_seconds - JWT_BACKDATE_SECONDS
    claims = {"iat": issued_at, "exp": issued_at + JWT_LIFE_SECONDS, "iss": str(app_id)}
    return Secret(jwt.encode(claims, signing_key(private_key_pem), algorithm="RS256"))


@lru_cache(maxsize=4)
def signing_key(private_key_pem: Secret) -> RSAPrivateKey:
    """The key in this PEM, parsed once, which takes longer than signing does; PrivateKeyRefused."""
    try:
        key = load_pem_private_key(private_key_pem.reveal().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise PrivateKeyRefused(
            "the GitHub App's private key is no unencrypted PEM key: use the .pem file that GitHub made"
        ) from None
    if not isinstance(key, RSAPrivateKey):
        raise PrivateKeyRefused(
            "the GitHub App's private key is no RSA key: use the .pem file that GitHub made"
        )
    return key
