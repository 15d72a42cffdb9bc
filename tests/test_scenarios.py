"""The page of scenarios and the tests named after them say the same."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "scenarios.md"
ROW = re.compile(r"^\| (?P<number>[0-9]+) \| (?P<line>[^|]{20,}) \| (?P<files>[^|]+) \|$", re.MULTILINE)


def rows() -> dict[int, set[str]]:
    """Each number of the page with the test files it names."""
    return {
        int(row["number"]): set(re.findall(r"`tests/([^`]+)`", row["files"]))
        for row in ROW.finditer(PAGE.read_text())
    }


def named_tests() -> dict[int, set[str]]:
    """Each number that tests are named after, with their files."""
    found: dict[int, set[str]] = {}
    for file in TESTS.rglob("test_*.py"):
        for number in re.findall(
            r"^(?:async )?def test_scenario_([0-9]{2})_", file.read_text(), re.MULTILINE
        ):
            found.setdefault(int(number), set()).add(file.relative_to(TESTS).as_posix())
    return found


def test_every_row_of_the_page_can_be_read_and_they_are_in_order() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if re.match(r"\| *[0-9]", line)]
    assert len(lines) == len(rows()) > 50
    assert list(rows()) == sorted(rows())


def test_every_scenario_of_the_page_has_a_test_of_its_name_where_the_page_says() -> None:
    named = named_tests()
    assert {
        number: files
        for number, files in rows().items()
        if not files or not files <= named.get(number, set())
    } == {}


def test_no_test_names_a_scenario_that_the_page_lacks() -> None:
    assert set(named_tests()) - set(rows()) == set()


def test_a_scenarios_number_has_two_digits_in_every_tests_name() -> None:
    odd = [
        f"{file.name}: {name}"
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_scenario\w*)", file.read_text(), re.MULTILINE)
        if not re.match(r"test_scenario_[0-9]{2}_[a-z]", name)
    ]
    assert odd == []
