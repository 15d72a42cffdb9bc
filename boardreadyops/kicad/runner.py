"""Who answers for KiCad: the installed program, nobody, or (in `recorded`) reports made earlier."""

from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Protocol

from boardreadyops.kicad.commands import run_drc, run_erc
from boardreadyops.kicad.outcome import CouldNotCheck, Report
from boardreadyops.kicad.probe import DEFAULT_SEARCH_PATH, KicadCli, Unavailable, probe
from boardreadyops.kicad.project import KicadProject
from boardreadyops.kicad.rules import verify_rules


class KicadRunner(Protocol):
    """Asks KiCad about one project. Never raises for boards, tools or reports: those are values."""

    @property
    def tool_versions(self) -> Mapping[str, str]:
        """Name and version of the tool that answers; empty without one."""
        ...

    @property
    def note(self) -> str:
        """What a reader of the result must know about the answers; empty if nothing."""
        ...

    async def drc(
        self, project: KicadProject, workspace: Path, *, timeout_seconds: float
    ) -> Report | CouldNotCheck:
        """Check the design rules and, where there is a schematic, parity."""
        ...

    async def erc(
        self, project: KicadProject, workspace: Path, *, timeout_seconds: float
    ) -> Report | CouldNotCheck:
        """Check the electrical rules."""
        ...


class InstalledKicad:
    """The kicad-cli of this machine."""

    note = ""

    def __init__(self, cli: KicadCli) -> None:
        self.cli = cli
        self.tool_versions: Mapping[str, str] = {"kicad-cli": cli.version}

    async def drc(
        self, project: KicadProject, workspace: Path, *, timeout_seconds: float
    ) -> Report | CouldNotCheck:
        """Prove that the custom rules load, then check."""
        started = monotonic()
        problem = await verify_rules(self.cli, project, workspace, timeout_seconds=timeout_seconds)
        if problem is not None:
            return problem
        remaining_seconds = timeout_seconds - (monotonic() - started)
        return await run_drc(self.cli, project, workspace, timeout_seconds=remaining_seconds)

    async def erc(
        self, project: KicadProject, workspace: Path, *, timeout_seconds: float
    ) -> Report | CouldNotCheck:
        """Check."""
        return await run_erc(self.cli, project, workspace, timeout_seconds=timeout_seconds)


class MissingKicad:
    """No usable kicad-cli: every check says so, and none is passed."""

    note = ""

    def __init__(self, unavailable: Unavailable) -> None:
        self.answer = CouldNotCheck(unavailable.reason, unavailable.detail)
        self.tool_versions: Mapping[str, str] = {}

    async def drc(self, project: KicadProject, workspace: Path, *, timeout_seconds: float) -> CouldNotCheck:
        """Say why not."""
        return self.answer

    async def erc(self, project: KicadProject, workspace: Path, *, timeout_seconds: float) -> CouldNotCheck:
        """Say why not."""
        return self.answer


async def installed_or_missing(
    path: Path | None = None, *, search_path: str = DEFAULT_SEARCH_PATH
) -> InstalledKicad | MissingKicad:
    """The machine's kicad-cli if it is usable, else a runner that says why it is not."""
    found = await probe(path, search_path=search_path)
    return MissingKicad(found) if isinstance(found, Unavailable) else InstalledKicad(found)
