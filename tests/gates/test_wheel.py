"""What is built is what runs: the wheel carries everything under boardreadyops/, not only Python."""

import subprocess
import sys
import zipfile
from pathlib import Path

from gates.tree import tracked

REPOSITORY = Path(__file__).parents[2]


def test_the_wheel_holds_every_tracked_file_of_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    product = {path for path in tracked(REPOSITORY).paths if path.startswith("boardreadyops/")}
    assert product
    assert product <= inside
