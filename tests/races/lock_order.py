"""The order in which functions take row locks, read from their text with PostgreSQL's own grammar.

Each function is followed along every path: IF and ELSE, loops run twice, RETURN ends, called functions are walked in
place. A path holds a set of classes of rows; its first lock of a class must not come after a lock of a later class.

What counts: SELECT … FOR UPDATE/NO KEY UPDATE/SHARE, UPDATE, DELETE, MERGE, and INSERT … ON CONFLICT, which may wait for the
row that is there. A plain INSERT makes a row that nobody else can hold; the KEY SHARE that foreign keys take on its parents
conflicts with none of these locks, since no key is ever updated.

Several rows of one class are fine when they are taken in ascending id, or skipped when locked. Judged so:
* A statement that may lock several rows from refs to run says ORDER BY id (refs: their key), SKIP LOCKED, or locks rows that
  an inner SELECT of the same statement has locked so. Attempts, leases, outbox rows and publications hang on one run and
  are reached under its lock; a statement that takes them without it says SKIP LOCKED.
* In a loop, whose next round comes after the locks of the one before, a lock from installation to run must be skipped when
  locked, or be the loop's own cursor in ascending id; everything below a run is the run's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import postgast

from boardreadyops.db.gate.bodies import body
from boardreadyops.db.gate.grammar import Node, inner, kind, statements, strings

FUNCTIONS = Path("boardreadyops/sql/functions")
# Registration and enrolment stand before the ref: a runner is known before any run is its own. A sweep's mark stands
# first of all: whoever holds it waits for nobody who waits for it, as it is only ever skipped when locked.
ORDER = (
    ("sweep_marks",),
    ("webhook_deliveries",),
    ("installations",),
    ("repositories",),
    ("runner_enrollments",),
    ("runner_registrations",),
    ("refs",),
    ("release_runs",),
    ("release_run_attempts",),
    ("runner_leases",),
    ("outbox", "publications", "reconciliation_findings", "runner_results", "runner_result_audit"),
)
RANK = {table: rank for rank, tables in enumerate(ORDER) for table in tables}
RUN = RANK["release_runs"]
# Several rows, and no order in the statement: why that is one holder's business.
UNORDERED = {
    ("boardreadyops_open_head_run", "release_runs"): "the SELECT at its top has locked them in ascending id",
}
# A path that no call can take, or a wait that nobody can be in the way of.
IMPOSSIBLE = {
    (
        "boardreadyops_sweep_levels -> boardreadyops_lock_tenant",
        "",
    ): "a second round holds shared locks of tenants only",
    (
        "boardreadyops_expire_runner_lease",
        "release_run_attempts",
    ): "the leases held were skipped; others wait for one under its run, or alone",
    (
        "boardreadyops_record_check_run -> boardreadyops_move_execution_attempt",
        "release_run_attempts",
    ): "only an attempt that was read under its lock is `queued`",
    (
        "boardreadyops_give_up_workflow_dispatch",
        "runner_leases",
    ): "an attempt that is dispatched never has a lease",
    (
        "boardreadyops_settle_silent_workflow",
        "runner_leases",
    ): "an attempt that a workflow executes never has a lease",
    (
        "boardreadyops_reconcile_workflow_run -> boardreadyops_retry_on_github",
        "",
    ): "only a later attempt comes here, for which ref and tenant were locked first",
}


@dataclass(frozen=True, slots=True)
class Held:
    """The classes a path holds, and those it has come by in this round of its loop, whose rows it holds."""

    classes: frozenset[int] = frozenset()
    fresh: frozenset[int] = frozenset()


Rows = Literal["one", "ordered", "skipped", "several"]


@dataclass(frozen=True, slots=True)
class Lock:
    """One row lock that a statement takes."""

    table: str
    rows: Rows


@dataclass(frozen=True, slots=True)
class Call:
    name: str


@dataclass(slots=True)
class Checker:
    """`texts` are CREATE FUNCTION texts; `findings` say function, line and what is out of order."""

    creates: dict[str, tuple[Node, str]] = field(default_factory=dict)
    findings: set[str] = field(default_factory=set)
    _stack: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Checker:
        checker = cls()
        for text in texts:
            for statement in statements(text):
                checker.creates[strings(statement.node.funcname)[-1]] = (statement.node, statement.text)
        return checker

    def check(self) -> list[str]:
        """Every function that may be called from outside, and in place those that only it may call."""
        for name, (_, text) in sorted(self.creates.items()):
            if "SECURITY DEFINER" in text:
                self._call(name, frozenset({Held()}), again=False)
        return sorted(self.findings)

    def _call(self, name: str, paths: frozenset[Held], *, again: bool) -> frozenset[Held]:
        if name not in self.creates or name in self._stack:
            return paths
        self._stack.append(name)
        node, text = self.creates[name]
        if "LANGUAGE sql" in text:
            for statement in statements(body(node)):
                paths = self._statement(statement.node, paths, again=again)
        elif "RETURNS trigger" not in text:
            (parsed,) = postgast.parse_plpgsql(text)
            walk = _Walk(self, again=again)
            paths = walk.block(parsed["PLpgSQL_function"]["action"], paths) | walk.returned
        self._stack.pop()
        return paths

    def _statement(self, node: Node, paths: frozenset[Held], *, again: bool) -> frozenset[Held]:
        for event in _events(node):
            if isinstance(event, Call):
                paths = self._call(event.name, paths, again=again)
            else:
                paths = frozenset(self._lock(event, held, again=again) for held in paths)
        return paths

    def _lock(self, lock: Lock, held: Held, *, again: bool) -> Held:
        rank, here = RANK[lock.table], self._stack[-1]
        last = max(held.classes, default=rank)
        way = " -> ".join(name.removeprefix("boardreadyops_") for name in self._stack)
        if lock.rows != "skipped" and rank < last and not self._impossible(lock.table):
            if rank not in held.classes:
                self.findings.add(f"{way}: {lock.table} after {ORDER[last][0]}")
            elif again and rank <= RUN and rank not in held.fresh:
                self.findings.add(
                    f"{way}: {lock.table} again in a loop, under later locks of the round before"
                )
        covered = rank > RUN and RUN in held.classes
        if lock.rows == "several" and not covered and (here, lock.table) not in UNORDERED:
            self.findings.add(f"{way}: several {lock.table} in no order")
        return Held(held.classes | {rank}, held.fresh | {rank})

    def _impossible(self, table: str) -> bool:
        way = " -> ".join(self._stack)
        return any(known in way and of in {"", table} for known, of in IMPOSSIBLE)


@dataclass(slots=True)
class _Walk:
    """Along one PL/pgSQL body. `again` means that a loop around it is in a later round."""

    checker: Checker
    again: bool
    returned: frozenset[Held] = frozenset()
    continued: frozenset[Held] = frozenset()

    def block(self, node: Mapping[str, Any], paths: frozenset[Held]) -> frozenset[Held]:
        return self.statements(node["PLpgSQL_stmt_block"].get("body", []), paths)

    def statements(self, nodes: Iterable[Mapping[str, Any]], paths: frozenset[Held]) -> frozenset[Held]:
        for node in nodes:
            ((word, value),) = node.items()
            paths = self.one(word.removeprefix("PLpgSQL_stmt_"), value, paths)
        return paths

    def one(self, word: str, value: Mapping[str, Any], paths: frozenset[Held]) -> frozenset[Held]:
        match word:
            case "block":
                return self.statements(value.get("body", []), paths)
            case "if":
                return self.branches(value, paths)
            case "fors" | "fori" | "loop" | "while" | "foreach_a":
                return self.loop(value, paths)
            case "return":
                paths = self.expressions(value, paths)
                self.returned |= paths
                return frozenset()
            case "exit":
                self.continued |= paths
                return paths if "cond" in value else frozenset()
            case "assign" | "perform" | "execsql" | "return_query" | "return_next" | "getdiag" | "null":
                return self.expressions(value, paths)
            case _:
                raise NotImplementedError(word)

    def branches(self, value: Mapping[str, Any], paths: frozenset[Held]) -> frozenset[Held]:
        paths = self.expressions({"cond": value["cond"]}, paths)
        ends = self.statements(value.get("then_body", []), paths)
        for elsif in value.get("elsif_list", []):
            branch = elsif["PLpgSQL_if_elsif"]
            paths = self.expressions({"cond": branch["cond"]}, paths)
            ends |= self.statements(branch.get("stmts", []), paths)
        return ends | self.statements(value.get("else_body", []), paths)

    def loop(self, value: Mapping[str, Any], paths: frozenset[Held]) -> frozenset[Held]:
        outer, self.continued = self.continued, frozenset()
        heads = {
            name: part for name, part in value.items() if name in {"query", "cond", "lower", "upper", "expr"}
        }
        rounds = ends = self.expressions(heads, paths)
        before = frozenset(rank for held in rounds for rank in held.classes)
        for again in (self.again, True):
            if again and rounds is not ends:
                # What was locked before the loop, or is by its own cursor, are the rows that its rounds go through.
                rounds = frozenset(Held(held.classes, before) for held in rounds)
            outside, self.again = self.again, again
            rounds = self.statements(value.get("body", []), rounds) | self.continued
            self.again = outside
            ends |= rounds
        self.continued = outer
        return ends

    def expressions(self, value: Mapping[str, Any], paths: frozenset[Held]) -> frozenset[Held]:
        for expression in _expressions(value):
            sql = expression["query"]
            if expression.get("parseMode", 0) == 2:
                sql = f"VALUES ({sql})"
            elif expression.get("parseMode", 0) > 2:
                sql = f"VALUES ({sql.split('=', 1)[1]})"
            for statement in statements(sql):
                paths = self.checker._statement(statement.node, paths, again=self.again)
        return paths


def _expressions(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, list):
        for item in node:
            yield from _expressions(item)
    elif isinstance(node, dict):
        for name, value in node.items():
            if name == "PLpgSQL_expr":
                yield value
            else:
                yield from _expressions(value)


def _events(node: Node) -> Iterator[Lock | Call]:
    """What a statement locks and calls, what is inside it first."""
    fields = sorted(node.ListFields(), key=lambda found: found[0].name != "with_clause")
    for _, value in fields:
        children = [value] if hasattr(value, "ListFields") else value
        if not isinstance(children, str | bytes | int | float | bool):
            for child in children:
                if hasattr(child, "ListFields"):
                    yield from _events(inner(child))
    match kind(node):
        case "FuncCall":
            yield Call(strings(node.funcname)[-1])
        case "SelectStmt" if node.locking_clause:
            yield from _select_locks(node)
        case "InsertStmt" if node.HasField("on_conflict_clause"):
            yield from _locks(node.relation.relname, "one")
        case "UpdateStmt" | "DeleteStmt" | "MergeStmt":
            yield from _locks(node.relation.relname, _rows_written(node))
        case _:
            pass


def _locks(table: str, rows: Rows) -> Iterator[Lock]:
    if table in RANK:
        yield Lock(table, rows)


def _select_locks(select: Node) -> Iterator[Lock]:
    tables = {
        (found.alias.aliasname or found.relname): found.relname
        for found in _walk(list(map(inner, select.from_clause)))
        if kind(found) == "RangeVar"
    }
    for clause in map(inner, select.locking_clause):
        named = [inner(found).relname for found in clause.locked_rels] or list(tables)
        for name in named:
            yield from _locks(tables[name], _rows_selected(select, clause))


def _rows_selected(select: Node, clause: Node) -> Rows:
    if clause.wait_policy == postgast.pg_query_pb2.LockWaitSkip:
        return "skipped"
    if _names_one(select.where_clause if select.HasField("where_clause") else None):
        return "one"
    keys = [_column(inner(sort).node) for sort in select.sort_clause]
    return "ordered" if keys[:1] == ["id"] or keys[:2] == ["repository_id", "ref"] else "several"


def _rows_written(write: Node) -> Rows:
    if kind(write) == "MergeStmt":
        return "several"
    if _names_one(write.where_clause if write.HasField("where_clause") else None):
        return "one"
    locking = [found for found in _walk([write]) if kind(found) == "SelectStmt" and found.locking_clause]
    return (
        "ordered"
        if any(lock.rows != "several" for found in locking for lock in _select_locks(found))
        else "several"
    )


def _names_one(where: Node | None) -> bool:
    """Whether one row is named by its key: `id = …`, or a ref's, or a mark's; only by conditions that must all hold."""
    columns = set(_equal_columns(inner(where))) if where is not None else set()
    return bool(columns & {"id", "token_digest", "sweep"}) or {"repository_id", "ref"} <= columns


def _equal_columns(node: Node) -> Iterator[str]:
    match kind(node):
        case "BoolExpr" if node.boolop == postgast.pg_query_pb2.AND_EXPR:
            for part in node.args:
                yield from _equal_columns(inner(part))
        case "A_Expr" if node.kind == postgast.pg_query_pb2.AEXPR_OP and strings(node.name) == ["="]:
            yield from filter(None, (_column(node.lexpr), _column(node.rexpr)))
        case _:
            pass


def _column(node: Node) -> str:
    node = inner(node)
    return strings(node.fields)[-1] if kind(node) == "ColumnRef" and strings(node.fields) else ""


def _walk(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for _, value in node.ListFields():
            children = [value] if hasattr(value, "ListFields") else value
            if not isinstance(children, str | bytes | int | float | bool):
                yield from _walk(inner(child) for child in children if hasattr(child, "ListFields"))
