"""Prove that KiCad loads a project's custom rules: one broken rule makes all of them vanish silently."""

import re
from pathlib import Path
from tempfile import mkdtemp

from boardreadyops.kicad.commands import execute
from boardreadyops.kicad.outcome import CouldNotCheck, CouldNotReason
from boardreadyops.kicad.probe import KicadCli
from boardreadyops.kicad.project import KicadProject

RULES_LIMIT_BYTES = 1024 * 1024  # a larger .kicad_dru is not checked
CONDITIONS_LIMIT = 500  # conditions of custom rules proved to be understood
SENTINEL = "boardreadyops_sentinel"
_CONDITION = re.compile(r'\(condition\s+"((?:[^"\\]|\\.)*)"\s*\)')

# The smallest board on which a rule can fail: one track, and an assertion that no track meets.
_BOARD = """(kicad_pcb (version 20221018) (generator "boardreadyops") (general (thickness 1.6)) (paper "A4")
  (layers (0 "F.Cu" signal) (31 "B.Cu" signal) (44 "Edge.Cuts" user))
  (setup (pad_to_mask_clearance 0)) (net 0 "") (net 1 "N")
  (segment (start 100 100) (end 101 100) (width 0.25) (layer "F.Cu") (net 1)))
"""


def sentinel(name: str, condition: str) -> str:
    """A rule that fails on the track if KiCad understood the condition, and everything before it."""
    return f'(rule "{name}" (condition "{condition}") (constraint assertion "A.Type == \'Nothing\'"))\n'


async def verify_rules(
    cli: KicadCli, project: KicadProject, workspace: Path, *, timeout_seconds: float
) -> CouldNotCheck | None:
    """Answer None if kicad-cli loads the project's rules file (or there is none), else why not."""
    if project.rules is None:
        return None
    name = project.relative(project.rules)
    try:
        if project.rules.stat().st_size > RULES_LIMIT_BYTES:
            return _broken(name, f"it is larger than {RULES_LIMIT_BYTES} bytes")
        text = project.rules.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return _broken(name, "it cannot be read as UTF-8 text")
    conditions = list(dict.fromkeys(_CONDITION.findall(text)))[:CONDITIONS_LIMIT]
    folder = Path(mkdtemp(prefix="rules-", dir=workspace))
    board = folder / "sentinel.kicad_pcb"
    board.write_text(_BOARD, encoding="utf-8")
    rules = text + "\n" + sentinel(SENTINEL, "A.Type == 'Track'")
    for number, condition in enumerate(conditions):
        rules += sentinel(f"{SENTINEL}_{number}", f"({condition}) || A.Type == 'Track'")
    board.with_suffix(".kicad_dru").write_text(rules, encoding="utf-8")
    command = ["pcb", "drc", "--severity-all", "--format", "json", "--units", "mm"]
    execution = await execute(cli, command, board, workspace, timeout_seconds=timeout_seconds)
    if isinstance(execution, CouldNotCheck):
        return execution
    report = (execution.report or b"").decode("utf-8", "replace")
    if f"'{SENTINEL}'" not in report:
        return _broken(name, "kicad-cli does not load it, and would silently check without any custom rule")
    for number, condition in enumerate(conditions):
        if f"'{SENTINEL}_{number}'" not in report:
            return _broken(name, f"kicad-cli does not understand the condition: {condition[:200]}")
    return None


def _broken(name: str, why: str) -> CouldNotCheck:
    return CouldNotCheck(CouldNotReason.RULES_BROKEN, f"the design rules file {name} is broken: {why}")
