"""Whether there is something new to claim: one small look for all runners that wait."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement


async def newest_claimable(connection: Connection) -> tuple[datetime, UUID] | None:
    """When (UTC) the run that became claimable last did so, and which; None when there is none. Claims nothing."""
    row = await connection.fetchrow(statement("newest_claimable"))
    return None if row is None else (row["queued_at"], row["id"])
