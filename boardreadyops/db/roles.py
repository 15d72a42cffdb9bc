"""The three roles: an owner that nobody logs in as, the working login, the reading login.

Passwords never travel: the server gets SCRAM verifiers that are made here.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import random
import secrets
from contextlib import suppress
from typing import LiteralString

import asyncpg

from boardreadyops.config import Secret
from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement

OWNER = "boardreadyops_owner"
APP = "boardreadyops_app"
READER = "boardreadyops_reader"
# Written by guarded functions only: the gate reads the code for it, and `serve` refuses a login that could do otherwise.
GUARDED_TABLES = frozenset(
    {
        "release_runs",
        "release_run_attempts",
        "release_run_transition_events",
        "lifecycle_edges",
        "runner_leases",
        "runner_results",
        "runner_result_audit",
        "runner_registrations",
        "runner_enrollments",
        "reconciliation_findings",
        "publications",
        "outbox",
        "refs",
    }
)
SCRAM_ITERATIONS = 4_096
SCRAM_SALT_BYTES = 16
RACE_ATTEMPTS = 20
RACE_PAUSE_SECONDS = 0.02

_CREATE: dict[str, LiteralString] = {
    OWNER: "role_create_owner",
    APP: "role_create_app",
    READER: "role_create_reader",
}
# Roles are shared by all databases of a cluster, advisory locks are not: another migrator may be just as far.
_LOST_RACE = (
    asyncpg.DuplicateObjectError,
    asyncpg.UniqueViolationError,
    asyncpg.InternalServerError,  # XX000 "tuple concurrently updated"
)


class RolesRefused(RuntimeError):
    """The roles cannot be what they must be. The text is one line and says what to do."""


class LoginRefused(RuntimeError):
    """This login could write lifecycle rows behind the guarded functions, so nothing is served with it."""


def login_password(secret_key: Secret, role: str) -> Secret:
    """The password of a login under this deployment's key: HMAC-SHA-256 of the role's name, in hex."""
    return Secret(hmac.new(secret_key.reveal().encode(), role.encode(), hashlib.sha256).hexdigest())


def scram_verifier(password: Secret, salt: bytes | None = None, iterations: int = SCRAM_ITERATIONS) -> Secret:
    """What PostgreSQL stores for this (ASCII) password, RFC 5803; with a new salt unless one is given."""
    salt = secrets.token_bytes(SCRAM_SALT_BYTES) if salt is None else salt
    salted = hashlib.pbkdf2_hmac("sha256", password.reveal().encode("ascii"), salt, iterations)
    client_key = hmac.new(salted, b"Client Key", hashlib.sha256).digest()
    stored_key = hashlib.sha256(client_key).digest()
    server_key = hmac.new(salted, b"Server Key", hashlib.sha256).digest()
    parts = [base64.b64encode(part).decode("ascii") for part in (salt, stored_key, server_key)]
    return Secret(f"SCRAM-SHA-256${iterations}:{parts[0]}${parts[1]}:{parts[2]}")


def verifies(verifier: str, password: Secret) -> bool:
    """Whether this stored verifier was made from this password; False for any other kind of text."""
    try:
        kind, parameters, _keys = verifier.split("$")
        iterations, salt = parameters.split(":")
        made = scram_verifier(password, base64.b64decode(salt, validate=True), int(iterations))
    except ValueError:
        return False
    return kind == "SCRAM-SHA-256" and hmac.compare_digest(made.reveal(), verifier)


async def ensure_roles(connection: Connection, *, secret_key: Secret | None) -> None:
    """Make roles, passwords and database rights as they must be; nothing when they are. RolesRefused.

    Works for a superuser and for a CREATEROLE login that owns the database. Without `secret_key` the passwords
    are left alone: somebody else sets them.
    """
    try:
        await _create_missing(connection)
        await _refuse_wrong_attributes(connection)
        if secret_key is not None:
            for role in (APP, READER):
                await _set_password(connection, role, login_password(secret_key, role))
        await _let_login_act_as_owner(connection)
        if not await connection.fetchval(statement("role_database_state")):
            await _execute_in_race(connection, await connection.fetchval(statement("role_database_rights")))
            if not await connection.fetchval(statement("role_database_state")):
                raise RolesRefused("the migrating login must own the database, or be a superuser")
    except asyncpg.InsufficientPrivilegeError as error:
        raise RolesRefused(
            f"the migrating login may not prepare the roles ({error.message}): use a superuser, or a login with"
            " CREATEROLE that owns the database and made the roles"
        ) from None


async def become_owner(connection: Connection) -> None:
    """Act as the owner until this transaction ends."""
    await connection.execute(statement("role_become_owner"))


async def assert_login_cannot_write(connection: Connection) -> None:
    """LoginRefused unless this login needs the guarded functions for every lifecycle change."""
    reasons = [
        row["reason"]
        for row in await connection.fetch(statement("login_lifecycle_rights"), sorted(GUARDED_TABLES))
    ]
    if reasons:
        raise LoginRefused(
            f"this database login {', '.join(reasons)}: serve with {APP} (DATABASE_URL alone arranges that),"
            " or take these rights away"
        )


async def _create_missing(connection: Connection) -> None:
    present = {row["name"] for row in await connection.fetch(statement("role_state"), list(_CREATE))}
    for role, name in _CREATE.items():
        if role not in present:
            with suppress(asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
                await connection.execute(statement(name))


async def _refuse_wrong_attributes(connection: Connection) -> None:
    for row in await connection.fetch(statement("role_state"), list(_CREATE)):
        if row["wrong_attributes"]:
            wrong = " ".join(row["wrong_attributes"])
            raise RolesRefused(
                f"role {row['name']} is {wrong}, which it must not be: change or drop that role"
            )


async def _set_password(connection: Connection, role: str, password: Secret) -> None:
    if await connection.fetchval(statement("role_is_superuser")):
        stored = await connection.fetchval(statement("role_stored_verifier"), role)
        if stored is not None and verifies(stored, password):
            return
    verifier = scram_verifier(password).reveal()
    await _execute_in_race(
        connection, await connection.fetchval(statement("role_set_verifier"), role, verifier)
    )


async def _let_login_act_as_owner(connection: Connection) -> None:
    # Tried, not looked up: what a membership allows differs between PostgreSQL 15 and 16.
    try:
        async with connection.transaction():
            await become_owner(connection)
    except asyncpg.InsufficientPrivilegeError:
        await _execute_in_race(connection, statement("role_grant_owner"))


async def _execute_in_race(connection: Connection, sql: str) -> None:
    for attempt in range(1, RACE_ATTEMPTS + 1):
        try:
            await connection.execute(sql)
            return
        except _LOST_RACE:
            if attempt == RACE_ATTEMPTS:
                raise
            await asyncio.sleep(random.uniform(0, RACE_PAUSE_SECONDS * attempt))
