"""A design rules file that KiCad drops must not pass for one that it checked."""

from pathlib import Path

import pytest

from boardreadyops.kicad.outcome import CouldNotCheck, CouldNotReason, Report
from boardreadyops.kicad.probe import KicadCli
from boardreadyops.kicad.runner import InstalledKicad
from tests.kicad.boards import only_project

pytestmark = pytest.mark.kicad
HEAD = "(version 1)\n"
GOOD = (
    "(rule \"wide\" (condition \"A.NetClass == 'HV' && B.Type == 'Pad'\") (constraint clearance (min 1mm)))\n"
)
STRICT = '(rule "strict" (constraint clearance (min 0.3mm)))\n'


async def answer(cli: KicadCli, checkout: Path, workspace: Path) -> Report | CouldNotCheck:
    return await InstalledKicad(cli).drc(only_project(checkout), workspace, timeout_seconds=60)


@pytest.mark.parametrize(
    "text",
    [
        "rubbish {{{",
        "(version 1) (rule x (constraint clearance (min 0.3mm",
        HEAD + GOOD + "(rule typo (constraint clearanc (min 0.3mm)))",
        GOOD,
        HEAD + GOOD + '(rule x (condition "A.Foo == &&& 1") (constraint clearance (min 1mm)))',
        "<<<<<<< HEAD\n" + HEAD + GOOD,
    ],
)
async def test_a_damaged_rules_file_is_noticed(
    kicad_cli: KicadCli, checkout: Path, workspace: Path, text: str
) -> None:
    (checkout / "power-board.kicad_dru").write_text(text)
    refused = await answer(kicad_cli, checkout, workspace)
    assert isinstance(refused, CouldNotCheck)
    assert refused.reason == CouldNotReason.RULES_BROKEN
    assert "power-board.kicad_dru" in refused.detail


@pytest.mark.parametrize(
    "condition",
    [
        "A.NetClass == 'HV' && B.Type == 'Pad'",
        "A.insideArea('x') || A.intersectsCourtyard('U1')",
        "A.memberOfFootprint('R*') && AB.isCoupledDiffPair()",
        "A.Reference == 'U1' && A.Layer == 'F.Cu'",
        "A.inDiffPair('*') && !AB.isCoupledDiffPair()",
        "A.Via_Type == 'Through' && A.hasNetclass('Power')",
    ],
)
async def test_a_sound_rules_file_is_believed(
    kicad_cli: KicadCli, checkout: Path, workspace: Path, condition: str
) -> None:
    text = f'{HEAD}# a comment\n(rule "x" (layer outer) (condition "{condition}") (constraint clearance (min 0.21mm)))'
    (checkout / "power-board.kicad_dru").write_text(text + "\n# last line is a comment")
    believed = await answer(kicad_cli, checkout, workspace)
    assert isinstance(believed, Report), believed


async def test_custom_rules_are_applied(kicad_cli: KicadCli, checkout: Path, workspace: Path) -> None:
    (checkout / "power-board.kicad_dru").write_text(HEAD + STRICT)
    believed = await answer(kicad_cli, checkout, workspace)
    assert isinstance(believed, Report)
    assert any("rule 'strict'" in finding.message for finding in believed.findings)
