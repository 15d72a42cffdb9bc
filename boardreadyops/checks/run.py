"""Check a repository: every project in turn, one deadline for all, one report."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from time import monotonic
from typing import Protocol

from boardreadyops.checks.ignored import checks_disabled, ignored_rule_findings
from boardreadyops.checks.policy import decide
from boardreadyops.checks.projects import FoundProjects, find_projects, stray_schematics
from boardreadyops.checks.report import FINDINGS_LIMIT, BoardReport, CheckedProject, CheckState
from boardreadyops.kicad.findings import Finding, ranked
from boardreadyops.kicad.outcome import CheckName, CouldNotCheck, CouldNotReason, Report
from boardreadyops.kicad.project import KicadProject, Unusable, read_severities, shown_path
from boardreadyops.kicad.runner import KicadRunner

CHECK_NAMES: tuple[CheckName, ...] = ("drc", "schematic_parity", "erc")
NO_PROJECT = "no KiCad project found. Commit the .kicad_pro, .kicad_pcb and .kicad_sch files of your board"


class Check(Protocol):
    """One of the two questions to a `KicadRunner`."""

    async def __call__(
        self, project: KicadProject, workspace: Path, *, timeout_seconds: float
    ) -> Report | CouldNotCheck:
        """Ask."""
        ...


@dataclass(slots=True)
class _Gathered:
    """What has been learned so far, and the deadline that all checks share."""

    deadline: float
    findings: list[Finding] = field(default_factory=list)
    checks: list[CheckState] = field(default_factory=list)

    def could_not(self, name: CheckName, project: KicadProject, why: CouldNotCheck) -> None:
        self.checks.append(CheckState(name, "could_not_run", project.id, why.detail, why.reason))

    def not_run(self, name: CheckName, project: KicadProject, reason: str) -> None:
        self.checks.append(CheckState(name, "not_run", project.id, reason))

    def absent(self, name: CheckName, project: KicadProject, why: CouldNotCheck | str) -> None:
        if isinstance(why, str):
            self.not_run(name, project, why)
        else:
            self.could_not(name, project, why)

    def take(
        self,
        name: CheckName,
        project: KicadProject,
        answer: Report | CouldNotCheck,
        problem: CouldNotCheck | None,
    ) -> None:
        """Keep this check's findings; believe in their being all only if nothing speaks against it."""
        if isinstance(answer, CouldNotCheck):
            self.could_not(name, project, answer)
            return
        own = [finding for finding in answer.findings if finding.check == name]
        self.findings += own
        if problem is not None:
            self.could_not(name, project, problem)
            return
        failed = any(finding.severity == "error" for finding in own)
        self.checks.append(CheckState(name, "failed" if failed else "passed", project.id))


async def check_repository(
    root: Path, workspace: Path, kicad: KicadRunner, *, timeout_seconds: float
) -> BoardReport:
    """Check every KiCad project under `root`; `workspace` is a private, writable folder outside it.

    Never raises for what a repository, a board or kicad-cli does: that is in the report.
    `timeout_seconds` covers all checks together. Cancelling ends kicad-cli before it propagates.
    """
    started = monotonic()
    root = root.absolute()
    gathered = _Gathered(started + timeout_seconds)
    found = await asyncio.to_thread(find_projects, root)
    _note_repository(found, gathered)
    for project in found.projects:
        await _check_project(project, workspace.absolute(), kicad, gathered)
    findings = ranked(gathered.findings)
    verdict = decide(findings, gathered.checks, kicad.note)
    counts = {
        f"findings_{name}": sum(f.severity == name for f in findings) for name in ("error", "warning", "info")
    }
    return BoardReport(
        status=verdict.status,
        decision=verdict.decision,
        summary=verdict.summary,
        projects=tuple(CheckedProject(p.id, p.relative(p.project_file)) for p in found.projects),
        findings=findings[:FINDINGS_LIMIT],
        truncated=len(findings) > FINDINGS_LIMIT,
        checks=tuple(gathered.checks),
        tool_versions=dict(kicad.tool_versions),
        metrics={
            "duration_seconds": round(monotonic() - started, 3),
            "projects": len(found.projects),
            "findings_total": len(findings),
            **counts,
        },
    )


def _note_repository(found: FoundProjects, gathered: _Gathered) -> None:
    for problem in found.problems:
        reason = (
            CouldNotReason.TOO_MANY_PROJECTS if "more than" in problem else CouldNotReason.UNREADABLE_FILE
        )
        gathered.checks.append(CheckState("projects", "could_not_run", None, problem, reason))
    if not found.projects:
        lone = f" ({found.lone_boards[0]} has no project file beside it)" if found.lone_boards else ""
        check = CheckState("projects", "could_not_run", None, NO_PROJECT + lone, CouldNotReason.NO_PROJECT)
        gathered.checks.append(check)
        return
    for board in found.lone_boards:
        words = f"{board} has no project file of its name, so its design rules are unknown"
        gathered.checks.append(CheckState("drc", "not_run", None, words))


async def _check_project(
    project: KicadProject, workspace: Path, kicad: KicadRunner, gathered: _Gathered
) -> None:
    severities = read_severities(project)
    if isinstance(severities, Unusable):
        words = f"the project file {project.relative(project.project_file)} is unusable: {severities.detail}"
        for name in CHECK_NAMES:
            gathered.could_not(name, project, CouldNotCheck(CouldNotReason.PROJECT_FILE_BROKEN, words))
        return
    disabled = checks_disabled(severities)
    gathered.findings += ignored_rule_findings(project, severities)
    no_schematic = None if project.schematic else _no_schematic(project)
    if project.board is None:
        words = f"{project.id} has no board: commit {project.project_file.with_suffix('.kicad_pcb').name}"
        gathered.could_not("drc", project, CouldNotCheck(CouldNotReason.NO_BOARD, words))
        gathered.not_run("schematic_parity", project, "there is no board to compare")
    else:
        answer = await _in_time(gathered, kicad.drc, project, workspace)
        gathered.take("drc", project, answer, disabled.get("drc"))
        if no_schematic is None:
            problem = disabled.get("schematic_parity")
            if isinstance(answer, Report) and isinstance(answer.parity, CouldNotCheck):
                problem = answer.parity
            gathered.take("schematic_parity", project, answer, problem)
        else:
            gathered.absent("schematic_parity", project, no_schematic)
    if no_schematic is None:
        gathered.take(
            "erc", project, await _in_time(gathered, kicad.erc, project, workspace), disabled.get("erc")
        )
    else:
        gathered.absent("erc", project, no_schematic)


def _no_schematic(project: KicadProject) -> CouldNotCheck | str:
    """A board may have no schematic at all; one under another name is a slip that KiCad passes over."""
    strays = stray_schematics(project)
    if not strays:
        return "the project has no schematic"
    wanted = project.project_file.with_suffix(".kicad_sch").name
    words = f"there is no {shown_path(PurePath(wanted))} beside the project, only {', '.join(strays[:3])}"
    return CouldNotCheck(CouldNotReason.PARITY_NOT_RUN, words)


async def _in_time(
    gathered: _Gathered, check: Check, project: KicadProject, workspace: Path
) -> Report | CouldNotCheck:
    remaining_seconds = gathered.deadline - monotonic()
    if remaining_seconds <= 0:
        words = f"the deadline of all checks passed before {project.id} was done"
        return CouldNotCheck(CouldNotReason.TIMED_OUT, words)
    return await check(project, workspace, timeout_seconds=remaining_seconds)
