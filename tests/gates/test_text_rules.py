"""Names, sizes, markers, places: the rules on files as text."""

from collections.abc import Callable

import pytest

from gates import markers, names, places, sizes
from gates.tree import Tree

Plant = Callable[[dict[str, str]], Tree]


@pytest.mark.parametrize(
    "path",
    [
        "boardreadyops/utils.py",
        "boardreadyops/web/helpers/forms.py",
        "boardreadyops/db/run_manager.py",
        "tests/common/x.py",
        "tests/test_base.py",
        "docs/misc.md",
    ],
)
def test_a_drawer_is_found_by_its_name(plant: Plant, path: str) -> None:
    assert [finding.path for finding in names.check(plant({path: ""}))] == [path]


def test_a_name_that_says_what_is_inside_is_left_alone(plant: Plant) -> None:
    tree = plant(
        {"boardreadyops/db/baseline.py": "", "boardreadyops/web/service_hours.py": "", "vendor/utils.js": ""}
    )
    assert list(names.check(tree)) == []


def test_a_file_one_line_too_long_is_found_and_the_longest_allowed_is_not(plant: Plant) -> None:
    line = "x = 1\n"
    tree = plant(
        {
            "boardreadyops/long.py": line * 351,
            "boardreadyops/most.py": line * 350,
            **{f"boardreadyops/short{number}.py": line for number in range(3)},
            "boardreadyops/sql/migrations/0023.sql": "--\n" * 900,
            "boardreadyops/web/static/vendor/htmx.js": ";\n" * 900,
        }
    )
    assert [finding.path for finding in sizes.check(tree)] == ["boardreadyops/long.py"]


def test_a_median_that_grew_is_found(plant: Plant) -> None:
    findings = list(
        sizes.check(plant({f"boardreadyops/f{number}.py": "x = 1\n" * 151 for number in range(3)}))
    )
    assert [finding.path for finding in findings] == ["boardreadyops"]


def test_a_function_one_line_too_long_is_found_and_the_longest_allowed_is_not(plant: Plant) -> None:
    most = "def most():\n" + "    x = 1\n" * 49
    long = "async def long():\n" + "    x = 1\n" * 50
    findings = list(sizes.check(plant({"boardreadyops/f.py": most + long, "tests/test_f.py": long})))
    assert [(finding.path, finding.line) for finding in findings] == [("boardreadyops/f.py", 51)]


def test_a_sql_function_is_measured_without_its_header(plant: Plant) -> None:
    folder = "boardreadyops/sql/functions"
    header = "-- Purpose: much to say.\n" * 30
    tree = plant(
        {
            f"{folder}/long.sql": header + "CREATE FUNCTION long()\n" + "--\n" * 70,
            f"{folder}/most.sql": header + "CREATE FUNCTION most()\n" + "--\n" * 69,
        }
    )
    assert [finding.path for finding in sizes.check(tree)] == [f"{folder}/long.sql"]


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "HACK"])
def test_a_marker_of_unfinished_work_is_found(plant: Plant, word: str) -> None:
    tree = plant({"boardreadyops/a.py": f"x = 1\n# {word}: later\n", "docs/a.md": "mktemp /tmp/a.XXXXXX\n"})
    assert [(finding.path, finding.line) for finding in markers.check(tree)] == [("boardreadyops/a.py", 2)]


def registry(*labels: str) -> str:
    """A host name put together here, so that this file names none."""
    return ".".join((*labels, "org"))


def folder(*names: str) -> str:
    return "/" + "/".join(names)


@pytest.mark.parametrize(
    "text",
    [
        f"--index-url https://{registry('pypi')}/simple",
        f"https://{registry('files', 'pythonhosted')}/packages/x.whl",
        f'"resolved": "https://{registry("registry", "npmjs")}/x"',
        f"deb http://{registry('deb', 'debian')}/debian bookworm main",
        f"cd {folder('work', 'main')} && make",
        f"path = '{folder('root', 'data')}'",
        "see file:/home/anna/boards/x",
        "/Users/anna/x",
    ],
)
def test_a_registry_or_a_place_on_one_machine_is_found(plant: Plant, text: str) -> None:
    assert len(list(places.check(plant({"Makefile": f"{text}\n"})))) == 1


@pytest.mark.parametrize(
    "text", ["/var/lib/boardreadyops", "https://example.org/work/1", "tmp_path / 'root'", "$HOME/x"]
)
def test_a_place_every_machine_has_is_left_alone(plant: Plant, text: str) -> None:
    assert list(places.check(plant({"README.md": f"{text}\n"}))) == []
