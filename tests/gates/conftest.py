"""A small tree of planted files for a gate to look at."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gates.tree import Tree, tracked

Plant = Callable[[dict[str, str]], Tree]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    def planted(files: dict[str, str]) -> Tree:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return tracked(tmp_path)

    return planted
