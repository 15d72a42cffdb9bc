"""Draw the demo's KiCad project: `/usr/bin/python3 tools/draw_demo_board [FOLDER]`.

Needs the Python that KiCad's own package serves (`import pcbnew`), so it lives outside the product.
Drawing twice gives the same bytes: identifiers are seeded, and nothing reads a clock.
"""

import shutil
import subprocess
import sys
from pathlib import Path

DEFAULT_FOLDER = Path(__file__).parents[2] / "boardreadyops" / "demo" / "boards"
STAGES = ("first", "fixed")


def draw(stage: str, folder: Path) -> None:
    """Write one commit's tree of the board's repository into `folder`, replacing what is there."""
    import board
    import repository
    import schematic

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    repository.write_texts(folder)
    schematic.write(folder)
    board.write(folder, stage)


def main(arguments: list[str]) -> int:
    """Draw every stage, each in its own process: KiCad seeds its identifiers once per process."""
    if len(arguments) == 3 and arguments[0] == "--stage":
        draw(arguments[1], Path(arguments[2]))
        return 0
    folder = Path(arguments[0]) if arguments else DEFAULT_FOLDER
    for stage in STAGES:
        command = [sys.executable, str(Path(__file__).parent), "--stage", stage, str(folder / stage)]
        subprocess.run(command, check=True)
        print(f"drew {folder / stage}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
