"""The stand-in as tests and the demo hold it: serve it, let people act on it, look at what happened."""

import contextlib
import copy
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from boardreadyops.standin.app import Front, Served, Violation
from boardreadyops.standin.checks import Checks, CompletedChecks
from boardreadyops.standin.faults import Faults
from boardreadyops.standin.people import People
from boardreadyops.standin.server import listening_socket, serving
from boardreadyops.standin.shapes import Shapes
from boardreadyops.standin.signals import Signals
from boardreadyops.standin.state import Clock, World, iso
from boardreadyops.standin.tokens import TokenDesk
from boardreadyops.standin.webhooks import Delivery, Webhooks

APP_SLUG = "boardreadyops-demo"


def system_clock() -> datetime:
    """Return the machine's time in UTC."""
    return datetime.now(UTC)


class StandIn(People):
    """GitHub on loopback. Make it with `serve`; everything is in memory and one temporary folder, gone afterwards."""

    @classmethod
    @contextlib.asynccontextmanager
    async def serve(
        cls,
        *,
        app_id: int,
        public_key_pem: str,
        webhook_secret: str,
        webhook_url: str | None = None,
        clock: Clock = system_clock,
        validate: bool = True,
        completed_checks: CompletedChecks = "change",
    ) -> AsyncIterator[Self]:
        """Serve on a free port of 127.0.0.1 until the block ends.

        `validate=False` leaves out GitHub's description (some milliseconds a call) for load tests.
        `completed_checks` says whether an update of a completed check run changes it.
        """
        world = World(app_id, clock)
        listener = listening_socket()
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        shapes = Shapes(world, origin, APP_SLUG, iso(clock()))
        checks = Checks(world, shapes, Signals(), completed_checks)
        front = Front(world, shapes, TokenDesk(world, public_key_pem), checks, Faults(), validate)
        webhooks = Webhooks(secret=webhook_secret, url=webhook_url, app_id=app_id, clock=clock)
        with tempfile.TemporaryDirectory(prefix="github-stand-in-") as folder:
            async with serving(front.application(), listener):
                try:
                    yield cls(front, webhooks, Path(folder))
                finally:
                    front.faults.clear()

    @property
    def faults(self) -> Faults:
        """Return the faults on order: order more here."""
        return self._front.faults

    @property
    def api_url(self) -> str:
        """Return the API's base URL, without a final slash."""
        return self._front.shapes.origin

    @property
    def web_url(self) -> str:
        """Return the base URL of pages and clone URLs: the API's own origin."""
        return self._front.shapes.origin

    @property
    def webhook_url(self) -> str | None:
        """Return where deliveries go; it can be set later, when the receiver has its port."""
        return self._webhooks.url

    @webhook_url.setter
    def webhook_url(self, url: str | None) -> None:
        self._webhooks.url = url

    @property
    def violations(self) -> list[Violation]:
        """Return what GitHub's description forbids and was seen: empty in a healthy run."""
        return list(self._front.violations)

    @property
    def served(self) -> list[Served]:
        """Return the requests served so far (the first 10,000), faults included."""
        return list(self._front.served)

    @property
    def deliveries(self) -> list[Delivery]:
        """Return the deliveries so far, each sending its own entry."""
        return list(self._webhooks.deliveries)

    @property
    def check_runs(self) -> list[dict[str, Any]]:
        """Return every check run as the API shows it, with `repository`, `annotations`, `actions` and `history`."""
        return [
            {
                **self._front.shapes.check_run(one),
                "repository": one.repository.full_name,
                "annotations": copy.deepcopy(one.annotations),
                "actions": copy.deepcopy(one.actions),
                "history": copy.deepcopy(one.history),
            }
            for one in self._world.check_runs.values()
        ]

    async def check_run(
        self, predicate: Callable[[Mapping[str, Any]], bool], *, timeout_seconds: float
    ) -> dict[str, Any]:
        """Return the first check run that satisfies the predicate, waiting for it; TimeoutError says what there was."""

        def found() -> dict[str, Any] | None:
            return next((one for one in self.check_runs if predicate(one)), None)

        try:
            return await self._front.checks.signals.first(found, timeout_seconds=timeout_seconds)
        except TimeoutError as error:
            seen = [
                (one["name"], one["head_sha"][:7], one["status"], one["conclusion"])
                for one in self.check_runs
            ]
            raise TimeoutError(f"no such check run within {timeout_seconds} s; there are {seen}") from error
