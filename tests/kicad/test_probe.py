from pathlib import Path

import pytest

from boardreadyops.kicad.outcome import CouldNotReason
from boardreadyops.kicad.probe import KicadCli, Unavailable, probe
from tests.kicad.boards import fake_cli


async def test_the_version_is_what_the_program_says(tmp_path: Path) -> None:
    cli = fake_cli(tmp_path, "", version="9.0.8~rc1+dfsg")
    assert await probe(cli.path) == KicadCli(cli.path, "9.0.8")


async def test_the_search_path_is_looked_through_in_order(tmp_path: Path) -> None:
    for name, version in (("one", "8.0.1"), ("two", "9.0.8")):
        (tmp_path / name).mkdir()
        fake_cli(tmp_path / name, "", version).path.rename(tmp_path / name / "kicad-cli")
    found = await probe(search_path=f"{tmp_path}/none:{tmp_path}/one:{tmp_path}/two")
    assert found == KicadCli(tmp_path / "one" / "kicad-cli", "8.0.1")


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("7.0.11", CouldNotReason.TOOL_TOO_OLD),
        ("5.1.9", CouldNotReason.TOOL_TOO_OLD),
        ("nonsense", CouldNotReason.UNEXPECTED_EXIT),
    ],
)
async def test_an_old_or_odd_program_is_unavailable(
    tmp_path: Path, version: str, reason: CouldNotReason
) -> None:
    found = await probe(fake_cli(tmp_path, "", version).path)
    assert isinstance(found, Unavailable)
    assert found.reason == reason


async def test_a_missing_program_is_unavailable(tmp_path: Path) -> None:
    for found in (await probe(tmp_path / "kicad-cli"), await probe(search_path=str(tmp_path))):
        assert isinstance(found, Unavailable)
        assert found.reason == CouldNotReason.MISSING_TOOL
