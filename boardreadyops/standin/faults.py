"""Faults on order: what GitHub and the network do to a request once in a while."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from boardreadyops.standin.calls import Answer, Json


@dataclass(slots=True)
class Fault:
    """One ordered fault for the next `remaining` requests of a method and a path pattern (`*` crosses slashes).

    `answer`: answered with it, not executed. `drop`: executed, then the connection is closed without an answer.
    `hold`: not executed before `release` is set. `struck` is set when a request has met the fault.
    """

    kind: Literal["answer", "drop", "hold"]
    method: str
    path: str
    remaining: int
    answer: Answer | None = None
    release: asyncio.Event = field(default_factory=asyncio.Event)
    struck: asyncio.Event = field(default_factory=asyncio.Event)


class Faults:
    """The faults on order; each matching request meets the oldest that still has requests to meet."""

    def __init__(self) -> None:
        """Start without faults."""
        self._ordered: list[Fault] = []

    def answer(
        self,
        method: str,
        path: str,
        *,
        status: int,
        headers: Mapping[str, str] | None = None,
        body: Json = None,
        count: int = 1,
    ) -> Fault:
        """Answer the next `count` requests with this status, headers and JSON body instead of executing them."""
        message = {"message": f"Planned answer {status}"} if body is None else body
        return self._order(Fault("answer", method, path, count, Answer(status, message, headers or {})))

    def drop(self, method: str, path: str, *, count: int = 1) -> Fault:
        """Execute the next `count` requests, then close their connections without an answer."""
        return self._order(Fault("drop", method, path, count))

    def hold(self, method: str, path: str, *, count: int = 1) -> Fault:
        """Keep the next `count` requests waiting, unexecuted, until the fault's `release` is set."""
        return self._order(Fault("hold", method, path, count))

    def take(self, method: str, path: str) -> Fault | None:
        """Return the fault that this request meets, counted down."""
        for fault in self._ordered:
            if fault.remaining > 0 and fault.method in ("*", method) and fnmatchcase(path, fault.path):
                fault.remaining -= 1
                fault.struck.set()
                return fault
        return None

    def clear(self) -> None:
        """Forget all faults and release what they hold. Idempotent."""
        for fault in self._ordered:
            fault.remaining = 0
            fault.release.set()
        self._ordered.clear()

    def _order(self, fault: Fault) -> Fault:
        self._ordered.append(fault)
        return fault
