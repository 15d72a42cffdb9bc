"""What the migrations leave behind, worked out from their text: functions, rights, triggers, policies, views."""

from __future__ import annotations

from dataclasses import dataclass, field

from boardreadyops.db.gate.shapes import Shape


@dataclass(frozen=True, slots=True)
class Definition:
    """One CREATE FUNCTION in a migration, and the fence it stands in, if any."""

    shape: Shape
    version: int
    path: str
    line: int
    fence: str | None


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """One privilege of one grantee on a table or function; `column` is empty for the whole."""

    on: str
    grantee: str
    privilege: str
    column: str = ""

    def __str__(self) -> str:
        return f"{self.privilege}{f' ({self.column})' if self.column else ''} on {self.on} to {self.grantee}"


@dataclass(frozen=True, slots=True)
class Trigger:
    """What a trigger does when; `plain` holds its whole definition, spelled one way."""

    table: str
    name: str
    function: str
    plain: str


@dataclass(slots=True)
class Schema:
    """The state after all migrations so far."""

    definitions: list[Definition] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)
    views: dict[str, bool] = field(default_factory=dict)  # whether it runs with its caller's rights
    rights: set[Right] = field(default_factory=set)
    triggers: dict[tuple[str, str], Trigger] = field(default_factory=dict)
    policies: dict[tuple[str, str], str] = field(default_factory=dict)
    row_security: set[str] = field(default_factory=set)

    @property
    def functions(self) -> dict[str, Definition]:
        """The last definition of each function."""
        return {definition.shape.name: definition for definition in self.definitions}

    @property
    def relations(self) -> set[str]:
        """Tables and views."""
        return self.tables | set(self.views)
