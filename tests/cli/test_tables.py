"""Tables on terminals of any width."""

from __future__ import annotations

import pytest

from boardreadyops.cli.tables import table

ROWS = [("6fce774c-1426-4d9b-b554-e6d63b5b1e4d", "bench-1"), ("x", "基板")]


def test_columns_are_aligned_where_they_fit() -> None:
    assert table(("id", "name"), [("1", "bench"), ("22", "基板")], width=20) == [
        "ID  NAME",
        "1   bench",
        "22  基板",
    ]


def test_without_a_known_width_each_row_is_one_line() -> None:
    assert len(table(("id", "name"), ROWS, width=None)) == 3


@pytest.mark.parametrize("width", [20, 30, 40])
def test_on_a_narrow_terminal_no_line_is_too_long_and_nothing_is_lost(width: int) -> None:
    lines = table(("id", "name"), ROWS, width=width)
    assert all(len(line) <= width for line in lines)
    joined = "".join(line.strip() for line in lines)
    assert all(cell in joined for row in ROWS for cell in row)


def test_no_rows_are_headings_alone() -> None:
    assert table(("id", "name"), [], width=None) == ["ID  NAME"]
