"""Answers recorded earlier: what kicad-cli left behind on exactly these files, told apart by digest."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from boardreadyops.kicad.commands import parity_asked
from boardreadyops.kicad.interpret import Execution, interpret_drc, interpret_erc
from boardreadyops.kicad.outcome import CouldNotCheck, CouldNotReason, Report
from boardreadyops.kicad.project import KicadProject, files_digest

RECORDING_NAME = "recording.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Recording:
    """What both checks left behind on the files with this digest."""

    digest: str
    drc: Execution
    erc: Execution


def write_recording(folder: Path, recording: Recording) -> None:
    """Write a recording as `recording.json`, `drc.json` and `erc.json` into an existing folder."""
    document: dict[str, object] = {
        "schema": SCHEMA,
        "files_digest": recording.digest,
        "kicad_cli_version": recording.drc.tool_version,
    }
    for name, execution in (("drc", recording.drc), ("erc", recording.erc)):
        document[name] = {
            "exit_code": execution.exit_code,
            "stdout": execution.stdout,
            "stderr": execution.stderr,
            "report": f"{name}.json",
        }
        (folder / f"{name}.json").write_bytes(execution.report or b"")
    (folder / RECORDING_NAME).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def read_recording(folder: Path) -> Recording:
    """Read what `write_recording` wrote. The files are ours: damage is an error, not an outcome."""
    document = json.loads((folder / RECORDING_NAME).read_text(encoding="utf-8"))
    if document["schema"] != SCHEMA:
        raise ValueError(f"{folder / RECORDING_NAME}: unknown schema {document['schema']!r}")
    version = document["kicad_cli_version"]

    def execution(name: str) -> Execution:
        part = document[name]
        report = (folder / f"{name}.json").read_bytes()
        return Execution(version, part["exit_code"], part["stdout"], part["stderr"], report)

    return Recording(document["files_digest"], execution("drc"), execution("erc"))


class RecordedReports:
    """Replays recordings; files that differ in one byte could not be checked."""

    note = "replayed from recorded reports"

    def __init__(self, folder: Path) -> None:
        recordings = [read_recording(path.parent) for path in sorted(folder.glob(f"*/{RECORDING_NAME}"))]
        self.by_digest = {recording.digest: recording for recording in recordings}
        versions = sorted({recording.drc.tool_version for recording in recordings})
        self.tool_versions: Mapping[str, str] = (
            {"kicad-cli": f"{', '.join(versions)} (recorded)"} if versions else {}
        )

    async def drc(
        self, project: KicadProject, workspace: Path, *, timeout_seconds: float
    ) -> Report | CouldNotCheck:
        """Read the recorded design rule check."""
        recording = self._find(project)
        if isinstance(recording, CouldNotCheck):
            return recording
        return interpret_drc(recording.drc, project, parity=parity_asked(project))

    async def erc(
        self, project: KicadProject, workspace: Path, *, timeout_seconds: float
    ) -> Report | CouldNotCheck:
        """Read the recorded electrical rule check."""
        recording = self._find(project)
        return recording if isinstance(recording, CouldNotCheck) else interpret_erc(recording.erc, project)

    def _find(self, project: KicadProject) -> Recording | CouldNotCheck:
        recording = self.by_digest.get(files_digest(project) or "")
        if recording is None:
            words = f"no report was recorded of {project.id} as it is now, and kicad-cli is not used here"
            return CouldNotCheck(CouldNotReason.NOT_RECORDED, words)
        return recording
