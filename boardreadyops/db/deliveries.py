"""Webhook deliveries: each id is taken once, and remembered with what it led to. Bodies are not stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement

DeliveryStatus = Literal["accepted", "ignored"]
DeliveryAction = Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class StoredDelivery:
    """A delivery seen before, with the answer it got."""

    delivery_id: str
    body_sha256: bytes
    status: DeliveryStatus
    reason: str | None
    actions: tuple[DeliveryAction, ...]


async def record_delivery(
    connection: Connection,
    *,
    delivery_id: str,
    event: str,
    action: str | None,
    installation_id: int | None,
    body_sha256: bytes,
) -> StoredDelivery | None:
    """Take a delivery id; None when it is new, else what the first one led to. Waits for one being handled right now."""
    taken = await connection.fetchval(
        statement("record_delivery"), delivery_id, event, action, installation_id, body_sha256
    )
    if taken:
        return None
    row = await connection.fetchrow(statement("find_delivery"), delivery_id)
    assert row is not None
    return StoredDelivery(
        row["delivery_id"], row["body_sha256"], row["status"], row["reason"], tuple(row["actions"])
    )


async def settle_delivery(
    connection: Connection,
    *,
    delivery_id: str,
    status: DeliveryStatus,
    reason: str | None,
    actions: Sequence[DeliveryAction],
) -> None:
    """Store what a delivery led to, in the transaction that did it."""
    await connection.execute(statement("settle_delivery"), delivery_id, status, reason, list(actions))
