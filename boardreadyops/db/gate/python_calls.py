"""The rules on calls in Python: what runs is a named statement, nothing copies rows in, the retired store stays away."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from boardreadyops.db.gate import intent
from boardreadyops.db.gate.finding import Finding

_RUNS_SQL = frozenset(
    {
        *("execute", "executemany", "fetch", "fetchrow", "fetchval", "fetchmany", "cursor", "prepare"),
        "copy_from_query",
    }
)
_COPIES_IN = frozenset({"copy_to_table", "copy_records_to_table"})


def calls(named: str, own: str, module: ast.Module) -> Iterator[Finding]:
    """Find calls of the driver that run anything but `statement("<name>")`, or write without a statement."""
    trusted = _takes_statement(own, module)
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        method, first = node.func.attr, node.args[0]
        if method in _COPIES_IN:
            says = f"{method}() writes rows without a statement; call a guarded function"
            yield Finding(named, node.lineno, "direct_writer", says)
        elif method in _RUNS_SQL and _is_built(first):
            says = f"{method}() of a text put together at run time; pass values as $1, $2, …"
            yield Finding(named, node.lineno, "built_sql", says)
        elif (
            method in _RUNS_SQL and own not in intent.RUNS_OTHER_TEXTS and not (trusted and _is_named(first))
        ):
            says = f'{method}() of something else than statement("<name>"); name what it runs'
            yield Finding(named, node.lineno, "unnamed_statement", says)


def retired(named: str, module: ast.Module) -> Iterator[Finding]:
    """Find the names of the store that once wrote the lifecycle from Python."""
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                line = node.lineno
            case ast.Name(id=name, lineno=line) | ast.Attribute(attr=name, lineno=line):
                pass
            case ast.alias(name=name, lineno=line):
                name = name.rpartition(".")[2]
            case _:
                continue
        if name in intent.RETIRED:
            says = f"{name} was retired: the guarded functions in db/ are the only writers"
            yield Finding(named, line, "retired_factory", says)


def _takes_statement(own: str, module: ast.Module) -> bool:
    """Whether `statement` is ours here: imported from where it may come from, and defined by nobody else."""
    sources = set()
    for node in ast.walk(module):
        match node:
            case ast.ImportFrom(module=source, names=names):
                sources |= {source for name in names if (name.asname or name.name) == "statement"}
            case (
                ast.FunctionDef(name="statement")
                | ast.AsyncFunctionDef(name="statement")
                | ast.ClassDef(name="statement")
                | ast.Name(id="statement", ctx=ast.Store())
                | ast.arg(arg="statement")
            ):
                return False
            case _:
                pass
    allowed = {source for source, room in intent.STATEMENTS_FROM.items() if own.startswith(room)}
    return bool(sources) and sources <= allowed


def _is_named(argument: ast.expr) -> bool:
    match argument:
        case ast.Call(func=ast.Name(id="statement")):
            return True
        case _:
            return False


def _is_built(argument: ast.expr) -> bool:
    match argument:
        case ast.JoinedStr() | ast.BinOp():
            return True
        case ast.Call(func=ast.Attribute(attr="format" | "format_map" | "join" | "replace")):
            return True
        case _:
            return False
