"""Runner credentials: mint, digest, derive, compare. Tokens are `Secret` here and digests in the database."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Literal
from uuid import UUID

from boardreadyops.config import Secret

TOKEN_RANDOM_BYTES = 32
MAX_TOKEN_CHARACTERS = 200  # longer text is no token of ours and is not looked at
LEASE_PREFIX = "brl_"
_LEASE_KEY_USE = b"boardreadyops runner lease v1\0"

TokenPrefix = Literal["bre_", "brr_"]


def new_token(prefix: TokenPrefix) -> Secret:
    """Make a 256-bit token: `bre_` enrols a runner once, `brr_` is a registered runner's own."""
    return Secret(prefix + secrets.token_urlsafe(TOKEN_RANDOM_BYTES))


def token_digest(token: Secret) -> bytes:
    """SHA-256 of the token's text, 32 bytes: all that is stored. 256 random bits need no salt."""
    return hashlib.sha256(token.reveal().encode("utf-8", "surrogatepass")).digest()


def lease_token(secret_key: Secret, lease_id: UUID) -> Secret:
    """The token of a lease: an HMAC of its id, so that a lost answer can be given again."""
    return Secret(f"{LEASE_PREFIX}{lease_id}_{_lease_mark(secret_key, lease_id)}")


def lease_of(secret_key: Secret, token_text: str) -> UUID | None:
    """The lease a token was made for; None for anything we did not make. Compares in constant time."""
    if len(token_text) > MAX_TOKEN_CHARACTERS or not token_text.isascii():
        return None
    name, _, mark = token_text.removeprefix(LEASE_PREFIX).partition("_")
    try:
        lease_id = UUID(name)
    except ValueError:
        return None
    if not hmac.compare_digest(mark, _lease_mark(secret_key, lease_id)):
        return None
    # Other spellings of the same id are not the token we gave out.
    return lease_id if token_text == f"{LEASE_PREFIX}{lease_id}_{mark}" else None


def _lease_mark(secret_key: Secret, lease_id: UUID) -> str:
    key = secret_key.reveal().encode("utf-8", "surrogatepass")
    return hmac.new(key, _LEASE_KEY_USE + lease_id.bytes, hashlib.sha256).hexdigest()
