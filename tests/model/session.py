"""Two logins on a real database for the model's adapter, and the time they are told."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Coroutine
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4, uuid5

from boardreadyops.config import Secret
from boardreadyops.db.metadata import note_installation, put_repository
from boardreadyops.db.pool import Connection, Record, connect
from boardreadyops.domain.identity import RepositoryFacts
from tests.model.reading import TABLES, Picture, read_picture

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
NO_ID = UUID(int=0)
_EMPTIED = (
    *reversed(TABLES),
    "claim_marks",
    "runner_enrollments",
    "webhook_deliveries",
)
Answer = TypeVar("Answer")


def request_id(word: str) -> UUID:
    """A request id that the same word always gives."""
    return uuid5(NO_ID, word)


def digest(word: str) -> bytes:
    """The SHA-256 of a body that consists of this word."""
    return hashlib.sha256(word.encode()).digest()


class Session:
    """Two connections on an event loop of their own: the working login's, and the owner's that looks behind."""

    picture: Picture

    def __init__(self, app: Secret, owner: Secret) -> None:
        self._loop = asyncio.Runner()
        self._app: Connection = self._loop.run(connect(app, application_name="model app"))
        self._owner: Connection = self._loop.run(connect(owner, application_name="model owner"))
        self._registrations: dict[str, UUID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run(self._app.close())
        self._loop.run(self._owner.close())
        self._loop.close()

    def start_over(
        self, tenants: dict[int, list[int]], runners: dict[str, int | None], actions: Collection[int]
    ) -> None:
        """An empty world: installations with their repositories, some on GitHub Actions, and registered runners."""
        self._loop.run(self._start_over(tenants, runners, actions))

    async def _start_over(
        self, tenants: dict[int, list[int]], runners: dict[str, int | None], actions: Collection[int]
    ) -> None:
        # A superuser's replica role passes by triggers, the append-only one too. Nobody else can do this.
        await self._owner.execute("SET session_replication_role = replica")
        for table in _EMPTIED:
            await self._owner.execute(f"DELETE FROM {table}")
        await self._owner.execute("SET session_replication_role = DEFAULT")
        # Steps of the model's clock are no outage of ours, after which leases would get a grace.
        await self._owner.execute("UPDATE sweep_marks SET swept_at = 'infinity', grace_until = NULL")
        for installation_id, repositories in tenants.items():
            await note_installation(
                self._app, installation_id=installation_id, account_login="acme", account_id=installation_id
            )
            for repository_id in repositories:
                facts = RepositoryFacts(
                    repository_id=repository_id,
                    owner="acme",
                    name=f"board-{repository_id}",
                    private=True,
                    default_branch="main",
                )
                await put_repository(
                    self._app, installation_id, facts, observed_at=datetime(2026, 1, 1, tzinfo=UTC)
                )
        await self._owner.execute(
            "UPDATE installations SET execution_backend = 'actions' WHERE id = ANY($1)", list(actions)
        )
        for name, owner in runners.items():
            await self._register(name, owner)
        self.picture = await read_picture(self._owner, EPOCH)

    async def _register(self, name: str, installation_id: int | None) -> None:
        enrolment = uuid4().bytes * 2
        await self._app.fetchrow(
            "SELECT * FROM boardreadyops_issue_runner_enrollment($1, NULL, $2, $3, 900)",
            installation_id,
            name,
            enrolment,
        )
        self._registrations[name] = await self._app.fetchval(
            "SELECT registration_id FROM boardreadyops_register_runner($1, $2, $3, '1')",
            enrolment,
            uuid4().bytes * 2,
            name,
        )

    def read(self) -> Picture:
        """The database as it is now; also kept, to find ids for keys."""
        self.picture = self._loop.run(read_picture(self._owner, EPOCH))
        return self.picture

    def _row(self, sql: str, *arguments: Any) -> Record:
        row: Record | None = self._loop.run(self._call(self._app.fetchrow(sql, *arguments)))
        assert row is not None
        return row

    def _rows(self, sql: str, *arguments: Any) -> list[Record]:
        return self._loop.run(self._call(self._app.fetch(sql, *arguments)))

    @staticmethod
    async def _call(answer: Coroutine[Any, Any, Answer]) -> Answer:
        return await answer


def at(second: int) -> datetime:
    """A second of the model as a time of the database."""
    return EPOCH + timedelta(seconds=second)
