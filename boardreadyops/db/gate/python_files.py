"""The rules on Python: statements are named, never written, joined or formatted; the retired store stays retired."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from boardreadyops.db.gate import intent
from boardreadyops.db.gate.finding import Finding, Package
from boardreadyops.db.gate.grammar import SqlUnreadable
from boardreadyops.db.gate.python_calls import calls, retired
from boardreadyops.db.gate.python_text import HOLE, Text, Texts
from boardreadyops.db.gate.query_files import judged
from boardreadyops.db.gate.touches import touches

_OBJECT = (
    r"(?:OR\s+REPLACE\s+)?(?:TEMP\w*\s+|UNIQUE\s+|MATERIALIZED\s+)?(?:DATABASE|ROLE|USER|SCHEMA|TABLE|INDEX|VIEW"
    r"|FUNCTION|PROCEDURE|TRIGGER|TYPE|SEQUENCE|POLICY|EXTENSION|DEFAULT\s+PRIVILEGES)"
)
_SQL = re.compile(
    r"^\s*SELECT\s|\bSELECT\b(?!\\)[\s\S]+\bFROM\b|\bINSERT\s+INTO\b|\bUPDATE\s[\s\S]+?\sSET\b|\bDELETE\s+FROM\b"
    rf"|\b(?:CREATE|ALTER|DROP)\s+{_OBJECT}\b|\b(?:GRANT|REVOKE)\s[\s\S]+\s(?:TO|FROM|ON)\b"
    r"|^\s*TRUNCATE\s|^\s*COPY\s[\s\S]+\s(?:FROM|TO)\b|\bMERGE\s+INTO\b|^\s*WITH\s+\w+\s+AS\s*\(|^\s*DO\s+\$"
    r"|^\s*(?:SET\s+(?:LOCAL|ROLE|SESSION)|LISTEN|NOTIFY|LOCK\s+TABLE|VACUUM|ANALYZE|CALL|EXECUTE)\s"
)
# In lower case these are English too, so there they count at the beginning only, and with their second word.
_LOWER = re.compile(
    r"^\s*(?:select\s[\s\S]+\sfrom\s|select\s+\w+\(|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|merge\s+into\s"
    rf"|(?:create|alter|drop)\s+{_OBJECT.lower()}\s|truncate\s+table\s|do\s+\$)"
)
_VERB = re.compile(
    r"\b(?:insert|update|delete|merge|copy|truncate|do|execute|prepare|create|alter|drop|grant|lock|into|for|set|select)\b",
    re.IGNORECASE,
)
# Names that no English sentence holds.
_GUARDED_NAME = re.compile(
    r"\b(?:" + "|".join(sorted(name for name in intent.GUARDED if "_" in name)) + r")\b", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"%\(\w+\)s|%s|(?<!:):[a-z_]\w*|\?")
_VERBS_IN_A_HOLE = ("UPDATE", "DELETE", "TRUNCATE")
_NAMES_SQL = "put it into sql/queries/<name>.sql and call statement(<name>)"


def check(package: Package) -> Iterator[Finding]:
    """Find SQL in Python, statements put together at run time, and the retired store."""
    for path, text in package.python():
        named, own = package.named(path), path.relative_to(package.root).as_posix()
        try:
            module = ast.parse(text, filename=named)
        except SyntaxError as error:
            yield Finding(named, error.lineno or 1, "unreadable", "no Python; mend it")
            continue
        yield from retired(named, module)
        for said in Texts(module):
            yield from (Finding(named, said.line, rule, says) for rule, says in _text(said))
        if not own.startswith(intent.WITHOUT_DATABASE):
            yield from calls(named, own, module)


def _text(said: Text) -> Iterator[tuple[str, str]]:
    """What is wrong with one text; the gravest only."""
    broken = [found for text in _readings(said) for found in _judged(text)]
    is_sql = _SQL.search(said.text) or _LOWER.search(said.text) or any(map(_changes_rows, _readings(said)))
    if not broken and HOLE in said.text:
        verbs = [said.text.replace(HOLE, verb, 1).replace(HOLE, "hole") for verb in _VERBS_IN_A_HOLE]
        broken = [found for text in verbs for found in _judged(text) if found[0] == "direct_writer"]
        is_sql = is_sql or _changes_rows(verbs[0])  # `… SET x = y` is no English, `… from x` may be
    if said.built and (broken or is_sql or _GUARDED_NAME.search(said.text)):
        yield "built_sql", f"SQL, or a guarded table's name, in a text put together at run time; {_NAMES_SQL}"
    elif broken:
        rule, says = next((found for found in broken if found[0] == "direct_writer"), broken[0])
        yield rule, f"{says}; {_NAMES_SQL}"
    elif is_sql:
        yield "sql_in_python", f"SQL in Python; {_NAMES_SQL}"


def _readings(said: Text) -> Iterator[str]:
    """The text as the grammar may read it: a hole is a name, `%s`, `?` and `:name` are values."""
    if _VERB.search(said.text):
        text = said.text.replace(HOLE, "hole")
        yield text
        yield _PLACEHOLDER.sub("NULL", text)


def _judged(text: str) -> list[tuple[str, str]]:
    try:
        return [broken for touch in touches(text) for broken in judged(touch)]
    except SqlUnreadable:
        return []


def _changes_rows(text: str) -> bool:
    try:
        return any(touch.changes_rows for touch in touches(text))
    except SqlUnreadable:
        return False
