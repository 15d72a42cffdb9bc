"""`.ci/install` takes the address of Debian's backports from the machine, in whatever form it keeps it."""

import subprocess
from pathlib import Path

import pytest

INSTALL = Path(__file__).parents[2] / ".ci" / "install"
DEB822 = """\
# where this machine's packages come from
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""
ONE_LINE = """\
deb-src http://mirror.example/debian bookworm main
deb http://mirror.example/debian-security bookworm-security main
deb [arch=amd64 signed-by=/key.gpg] http://mirror.example/debian bookworm main contrib
"""


def _add_backports(sources: Path) -> subprocess.CompletedProcess[str]:
    script = 'export SOURCES="$2"; source "$1"; add_backports'
    command = ["bash", "-c", script, "bash", str(INSTALL), str(sources)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_a_deb822_entry_is_copied_with_its_key_and_another_suite(sources: Path) -> None:
    (sources / "sources.list.d" / "debian.sources").write_text(DEB822)
    assert _add_backports(sources).returncode == 0
    assert (sources / "sources.list.d" / "boardreadyops-backports.sources").read_text() == (
        "Types: deb\n"
        "URIs: http://mirror.example/debian\n"
        "Suites: bookworm-backports\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )


def test_a_one_line_entry_is_copied_with_its_options(sources: Path) -> None:
    (sources / "sources.list").write_text(ONE_LINE)
    assert _add_backports(sources).returncode == 0
    assert (sources / "sources.list.d" / "boardreadyops-backports.list").read_text() == (
        "deb [arch=amd64 signed-by=/key.gpg] http://mirror.example/debian bookworm-backports main\n"
    )


def test_a_machine_that_knows_backports_is_left_alone(sources: Path) -> None:
    (sources / "sources.list").write_text(
        ONE_LINE + "deb http://mirror.example/debian bookworm-backports main\n"
    )
    assert _add_backports(sources).returncode == 0
    assert list((sources / "sources.list.d").iterdir()) == []


def test_a_machine_without_a_debian_entry_is_told_so(sources: Path) -> None:
    (sources / "sources.list").write_text("# deb http://mirror.example/debian bookworm main\n")
    done = _add_backports(sources)
    assert done.returncode == 1
    assert "no Debian bookworm entry" in done.stderr
