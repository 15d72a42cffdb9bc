"""Limits in the code and limits on the page are the same."""

from collections.abc import Callable

from gates import limits
from gates.tree import Tree, tracked

Plant = Callable[[dict[str, str]], Tree]
PAGE = f"# Operations\n\n{limits.BEGIN}\n\n{limits.END}\n\nafter\n"
CODE = """\
# What a webhook may weigh;
# GitHub's own most.
MAX_BODY_BYTES = 25 * 1024 * 1024
LEASE_SECONDS: Final = 120  # a lost runner is noticed after this
PAGE_LIMIT = 100
NAME = "no limit"
def f(): MAX_INSIDE = 1
"""


def test_a_limit_that_the_page_does_not_show_is_found(plant: Plant) -> None:
    tree = plant({"boardreadyops/web/hooks.py": CODE, "docs/operations.md": PAGE})
    assert [finding.line for finding in limits.check(tree)] == [3, 4, 5]


def test_writing_the_page_settles_it_and_keeps_the_rest_of_the_page(plant: Plant) -> None:
    tree = plant({"boardreadyops/web/hooks.py": CODE, "docs/operations.md": PAGE})
    limits.write(tree)
    written = tracked(tree.root)
    assert list(limits.check(written)) == []
    page = written.text(limits.PAGE)
    assert (
        "| `MAX_BODY_BYTES` | 25 * 1024 * 1024 | web/hooks.py | What a webhook may weigh; GitHub's own most. |"
        in page
    )
    assert "| `LEASE_SECONDS` | 120 | web/hooks.py | a lost runner is noticed after this |" in page
    assert page.startswith("# Operations\n")
    assert page.endswith("\nafter\n")


def test_a_limit_whose_value_moved_is_found(plant: Plant) -> None:
    tree = plant({"boardreadyops/web/hooks.py": CODE, "docs/operations.md": PAGE})
    limits.write(tree)
    moved = plant({"boardreadyops/web/hooks.py": CODE.replace("120", "90")})
    assert [finding.line for finding in limits.check(moved)] == [4]
