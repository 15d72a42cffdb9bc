"""Who may do what: App JWTs, installation tokens, permissions."""

import base64
import binascii
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeGuard

import jwt
from jwt.types import Options

from boardreadyops.standin.calls import Answer, Call, Json, not_found, refused
from boardreadyops.standin.state import Installation, Repository, World, iso

TOKEN_LIFE_SECONDS = 3_600
JWT_LIFE_SECONDS = 600
CLOCK_LEEWAY_SECONDS = 60
MAXIMUM_TOKEN_REPOSITORIES = 500
# The stand-in's clock decides, not the library's: signature and shape are all that is left to it.
OUR_OWN_CLOCK: Options = {
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_aud": False,
    "verify_iss": False,
    "verify_sub": False,
    "verify_jti": False,
}
LEVELS = ("none", "read", "write", "admin")

SUSPENDED = "This installation has been suspended"
NOT_ACCESSIBLE = "Resource not accessible by integration"


@dataclass(frozen=True, slots=True)
class Grant:
    """What an installation token allows; `repository_ids` None means every repository of the installation."""

    installation_id: int
    repository_ids: frozenset[int] | None
    permissions: Mapping[str, str]
    expires_at: datetime


@dataclass(slots=True)
class TokenDesk:
    """Checks App JWTs with the App's public key, mints installation tokens and knows the living ones."""

    world: World
    public_key_pem: str
    grants: dict[str, Grant] = field(default_factory=dict)

    def app_refusal(self, call: Call) -> Answer | None:
        """Return why the call is not the App's own; None if its JWT is good."""
        token = bearer(call.headers.get("authorization", ""))
        if token is None:
            return refused(401, "A JSON web token could not be decoded")
        try:
            claims = jwt.decode(token, self.public_key_pem, algorithms=["RS256"], options=OUR_OWN_CLOCK)
        except jwt.PyJWTError:
            return refused(401, "A JSON web token could not be decoded")
        message = self._claims_problem(claims)
        return None if message is None else refused(401, message)

    def _claims_problem(self, claims: Mapping[str, Json]) -> str | None:
        now = self.world.clock().timestamp()
        expires, issued = claims.get("exp"), claims.get("iat")
        if str(claims.get("iss")) != str(self.world.app_id):
            return "'Issuer' claim ('iss') must be the id of this App"
        if not _is_number(expires) or expires <= now:
            return (
                "'Expiration time' claim ('exp') must be a numeric value representing the future time at which "
                "the assertion expires"
            )
        if expires > now + JWT_LIFE_SECONDS:
            return "'Expiration time' claim ('exp') is too far in the future"
        if not _is_number(issued) or issued > now + CLOCK_LEEWAY_SECONDS:
            return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        return None

    def mint(self, installation: Installation, wanted: Mapping[str, Json]) -> Answer:
        """Return 201 with a new token, or 403/422 as GitHub gives for suspended installations and excess wishes."""
        if installation.suspended_at is not None:
            return refused(403, SUSPENDED)
        chosen = self._chosen_repositories(installation, wanted)
        if isinstance(chosen, Answer):
            return chosen
        asked: Mapping[str, str] = wanted.get("permissions") or installation.permissions
        if any(_level(installation.permissions.get(name)) < _level(level) for name, level in asked.items()):
            return refused(422, "The permissions requested are not granted to this installation.")
        permissions = {**asked, "metadata": "read"}
        expires_at = (self.world.clock() + timedelta(seconds=TOKEN_LIFE_SECONDS)).replace(microsecond=0)
        token = f"ghs_{secrets.token_hex(18)}"
        ids = None if chosen is None else frozenset(one.id for one in chosen)
        self.grants[token] = Grant(installation.id, ids, permissions, expires_at)
        selection = "all" if chosen is None else "selected"
        body = {"token": token, "expires_at": iso(expires_at), "permissions": permissions}
        return Answer(201, {**body, "repository_selection": selection})

    def _chosen_repositories(
        self, installation: Installation, wanted: Mapping[str, Json]
    ) -> list[Repository] | Answer | None:
        names, ids = wanted.get("repositories"), wanted.get("repository_ids")
        if not names and not ids:
            return None
        if len(names or ()) + len(ids or ()) > MAXIMUM_TOKEN_REPOSITORIES:
            return refused(422, f"You can list up to {MAXIMUM_TOKEN_REPOSITORIES} repositories.")
        own = self.world.repositories_of(installation.id)
        chosen = [one for one in own if one.id in (ids or ()) or one.name in (names or ())]
        known = {one.id for one in own}, {one.name for one in own}
        if set(ids or ()) - known[0] or set(names or ()) - known[1]:
            return refused(
                422,
                "There is at least one repository that does not exist or is not accessible to the parent installation.",
            )
        return chosen

    def repository_refusal(
        self, token: str | None, repository: Repository | None, need: tuple[str, str]
    ) -> Answer | None:
        """Return why a token may not do this (permission, level) on a repository; None if it may.

        A repository out of reach is 404 whether it exists or not; a missing permission is 403.
        """
        if token is None:
            return refused(401, "Requires authentication")
        grant = self.grants.get(token)
        installation = None if grant is None else self.world.installation(grant.installation_id)
        if grant is None or installation is None or grant.expires_at <= self.world.clock():
            return refused(401, "Bad credentials")
        if installation.suspended_at is not None:
            return refused(403, SUSPENDED)
        if repository is None or repository.installation_id != grant.installation_id:
            return not_found()
        if grant.repository_ids is not None and repository.id not in grant.repository_ids:
            return not_found()
        permission, level = need
        if _level(grant.permissions.get(permission)) < _level(level):
            return refused(403, NOT_ACCESSIBLE)
        return None

    def revoke(self, installation_id: int) -> None:
        """Make every token of an installation worthless. Idempotent."""
        self.grants = {
            token: one for token, one in self.grants.items() if one.installation_id != installation_id
        }


def bearer(header: str) -> str | None:
    """Return the token of an `Authorization: Bearer …` or `token …` header."""
    scheme, _, token = header.partition(" ")
    return token.strip() or None if scheme.lower() in ("bearer", "token") else None


def basic_password(header: str) -> str | None:
    """Return the password of HTTP Basic credentials for the user `x-access-token`, as git sends an installation token."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return password if user == "x-access-token" else None


def _level(name: str | None) -> int:
    return LEVELS.index(name) if name in LEVELS else 0


def _is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
