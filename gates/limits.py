"""A limit on everything, and every limit on one page: `docs/operations.md` lists the constants as the code has them.

`python -m gates.limits --write` rewrites the table. What a limit is for is the comment beside or above it.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from gates.tree import Finding, Tree, tracked

PAGE = "docs/operations.md"
BEGIN, END = "<!-- limits: begin -->", "<!-- limits: end -->"
UNITS = "SECONDS|MILLISECONDS|BYTES|LINES|CHARACTERS|ROWS|DAYS"
LIMIT = re.compile(rf"_?(?:MAX_\w+|MAXIMUM_\w+|\w*LIMIT\w*|\w+_MAX|\w+_(?:{UNITS}))")


def check(tree: Tree) -> Iterator[Finding]:
    """Find limits that the page does not show, or shows otherwise."""
    page = tree.text(PAGE) if PAGE in tree.paths else ""
    for path, line, row in rows(tree):
        if row not in page:
            name = row.split("`")[1]
            says = f"`{name}` is not in {PAGE} as it stands here; run python -m gates.limits --write"
            yield Finding(path, line, "limits", says)


def rows(tree: Tree) -> Iterator[tuple[str, int, str]]:
    """Yield path, line and table row of each limit of the product, in the order of files."""
    for path in tree.under("boardreadyops/", suffix=".py"):
        source = tree.text(path).splitlines()
        for node in tree.module(path).body:
            name, value = _constant(node)
            if value is not None and LIMIT.fullmatch(name):
                room = path.removeprefix("boardreadyops/")
                shown = " ".join(ast.unparse(value).split()).replace("|", "\\|")
                yield path, node.lineno, f"| `{name}` | {shown} | {room} | {_meaning(source, node.lineno)} |"


def _constant(node: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def _meaning(source: list[str], line: int) -> str:
    """Return the comment on the constant's own line, else the comment lines right above it."""
    _, hash_sign, beside = source[line - 1].partition("  # ")
    if hash_sign:
        return beside.strip().replace("|", "\\|")
    above: list[str] = []
    for text in reversed(source[: line - 1]):
        if not text.startswith("# "):
            break
        above.insert(0, text[2:].strip())
    return " ".join(above).replace("|", "\\|")


def write(tree: Tree) -> None:
    """Put the table between the page's markers; raises ValueError if it has none."""
    page = (tree.root / PAGE).read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE} has no {BEGIN} … {END}")
    table = [
        "",
        "",
        "| limit | value | where | what for |",
        "|---|---|---|---|",
        *(row for _, _, row in rows(tree)),
        "",
        "",
    ]
    (tree.root / PAGE).write_text(before + begin + "\n".join(table) + end + after, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Rewrite the table with --write, else print what is missing."""
    tree = tracked(Path.cwd())
    if arguments == ["--write"]:
        write(tree)
        return 0
    missing = sorted(check(tree))
    print(*missing, sep="\n", end="\n" if missing else "")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
