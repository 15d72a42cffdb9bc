"""What the gates look at: the tracked files under one root, read and parsed once."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

TEXT_SUFFIXES = frozenset(
    {".py", ".sql", ".md", ".sh", ".toml", ".txt", ".html", ".css", ".js", ".json", ".yml", ".yaml", ""}
)
GENERATED = frozenset({"boardreadyops/sql/schema.sql"})
MIGRATIONS = "boardreadyops/sql/migrations/"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One broken rule: where, which, and what to do about it."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


@dataclass(frozen=True, slots=True)
class Tree:
    """Files under `root`, named by their path from there, with forward slashes."""

    root: Path
    paths: tuple[str, ...]
    _texts: dict[str, str] = field(default_factory=dict, repr=False)
    _modules: dict[str, ast.Module] = field(default_factory=dict, repr=False)

    def under(self, *prefixes: str, suffix: str = "") -> Iterator[str]:
        """Yield the paths that begin with one of `prefixes`, vendored ones left out."""
        for path in self.paths:
            if path.startswith(prefixes) and path.endswith(suffix) and not is_vendored(path):
                yield path

    def texts(self) -> Iterator[str]:
        """Yield the paths of all text that we wrote."""
        return (path for path in self.under("") if PurePosixPath(path).suffix in TEXT_SUFFIXES)

    def text(self, path: str) -> str:
        """Return the text of one file."""
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._texts[path]

    def lines(self, path: str) -> Iterator[tuple[int, str]]:
        """Yield the lines of one file with their numbers, from 1."""
        return enumerate(self.text(path).splitlines(), start=1)

    def module(self, path: str) -> ast.Module:
        """Return one Python file as a syntax tree; raises SyntaxError."""
        if path not in self._modules:
            self._modules[path] = ast.parse(self.text(path), filename=path)
        return self._modules[path]

    def walk(self, *prefixes: str) -> Iterator[tuple[str, ast.AST]]:
        """Yield every syntax node of the Python files under `prefixes`, with its path."""
        for path in self.under(*prefixes, suffix=".py"):
            for node in ast.walk(self.module(path)):
                yield path, node


def is_vendored(path: str) -> bool:
    """Tell whether a file came from elsewhere and stays as it came."""
    return not {"vendor", "vendored"}.isdisjoint(PurePosixPath(path).parts)


def is_generated(path: str) -> bool:
    """Tell whether a file is made from others; migrations hold copies of the function files."""
    return path in GENERATED or path.startswith(MIGRATIONS)


def tracked(root: Path) -> Tree:
    """Read the list of files git tracks or would track, or every file where there is no git."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split(
            "\0"
        )
    else:
        listed = [path.relative_to(root).as_posix() for path in root.rglob("*")]
    return Tree(root, tuple(sorted({path for path in listed if path and (root / path).is_file()})))


def dotted(node: ast.expr) -> str:
    """Return `a.b.c` for a name or an attribute chain, else nothing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value)):
        return f"{owner}.{node.attr}"
    return ""
