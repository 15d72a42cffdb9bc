"""Record what kicad-cli says about the drawn boards: `python tools/draw_demo_board/record.py [FOLDER]`.

Unlike the drawing this needs the product's own environment, and kicad-cli.
"""

import asyncio
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from boardreadyops.checks.projects import find_projects  # noqa: E402
from boardreadyops.kicad.commands import execute_drc, execute_erc  # noqa: E402
from boardreadyops.kicad.interpret import Execution  # noqa: E402
from boardreadyops.kicad.probe import KicadCli, probe  # noqa: E402
from boardreadyops.kicad.project import files_digest  # noqa: E402
from boardreadyops.kicad.recorded import Recording, write_recording  # noqa: E402

STAGES = ("first", "fixed")
TIMEOUT_SECONDS = 120.0


def placeless(execution: Execution) -> Execution:
    """Forget in which temporary folder the report was written."""
    stdout = re.sub(r"(Saved \w+ Report to ).*", r"\1report.json", execution.stdout)
    return replace(execution, stdout=stdout)


async def record(boards: Path) -> None:
    """Run both checks on each stage and keep what they leave behind."""
    cli = await probe()
    if not isinstance(cli, KicadCli):
        sys.exit(cli.detail)
    for stage in STAGES:
        (project,) = find_projects(boards / stage).projects
        with TemporaryDirectory() as workspace:
            drc = await execute_drc(cli, project, Path(workspace), timeout_seconds=TIMEOUT_SECONDS)
            erc = await execute_erc(cli, project, Path(workspace), timeout_seconds=TIMEOUT_SECONDS)
        digest = files_digest(project)
        if not isinstance(drc, Execution) or not isinstance(erc, Execution) or digest is None:
            sys.exit(f"{stage}: {drc} {erc}")
        folder = boards / "recorded" / stage
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write_recording(folder, Recording(digest, placeless(drc), placeless(erc)))
        print(f"recorded {folder}: {digest}")


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "boardreadyops" / "demo" / "boards"
    asyncio.run(record(given))
