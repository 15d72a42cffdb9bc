"""The contracts in pyproject.toml catch what they forbid, and let missing rooms be missing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOMS = ("cli", "web", "worker", "standin", "db", "github", "domain")


def _lint(root: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    shutil.copy(REPOSITORY / "pyproject.toml", root)
    for room in ("", *ROOMS):
        (root / "boardreadyops" / room).mkdir(parents=True, exist_ok=True)
        (root / "boardreadyops" / room / "__init__.py").touch()
    for path, text in files.items():
        (root / "boardreadyops" / path).parent.mkdir(exist_ok=True)
        (root / "boardreadyops" / path).write_text(text)
    linter = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [linter, "--no-logo", "--no-cache"], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_house_with_rooms_missing_is_in_order(tmp_path: Path) -> None:
    allowed = {
        "db/pool.py": "import asyncpg",
        "github/client.py": "import httpx",
        "web/app.py": "import fastapi",
        "web/pages.py": "import boardreadyops.db.pool",
    }
    done = _lint(tmp_path, allowed)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        ({"domain/x.py": "import boardreadyops.db"}, "imports go down only"),
        ({"worker/x.py": "import boardreadyops.web"}, "imports go down only"),
        ({"drawer/__init__.py": ""}, "imports go down only"),
        (
            {
                "web/hooks.py": "import boardreadyops.web.x",
                "web/x.py": "import boardreadyops.github.client",
                "github/client.py": "",
            },
            "a webhook cannot call GitHub",
        ),
        ({"standin/x.py": "import boardreadyops.domain"}, "the stand-in knows nothing"),
        ({"web/x.py": "import asyncpg"}, "only db/ speaks to PostgreSQL"),
        ({"db/__init__.py": "", "cli/x.py": "from asyncpg import Record"}, "only db/ speaks to PostgreSQL"),
        ({"github/auth.py": "import httpx"}, "only these open an HTTP connection"),
        ({"cli/x.py": "import fastapi.testclient"}, "only web/ and standin/"),
        ({"worker/x.py": "from starlette import requests"}, "only web/ and standin/"),
        ({"web/x.py": "import openapi_core"}, "only the stand-in carries"),
    ],
)
def test_a_planted_import_breaks_its_contract(tmp_path: Path, files: dict[str, str], broken: str) -> None:
    done = _lint(tmp_path, files)
    assert done.returncode == 1
    assert any(broken in line and "BROKEN" in line for line in done.stdout.splitlines()), done.stdout
