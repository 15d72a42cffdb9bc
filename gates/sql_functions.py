"""One SQL function per file, readable alone, and safe to run with its owner's rights."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from gates.tree import Finding, Tree

FOLDER = "boardreadyops/sql/functions/"
PREFIX = "boardreadyops_"
CREATES = re.compile(
    r"^\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\s+(?:public\.)?(\w+)",
    re.IGNORECASE | re.MULTILINE,
)
HEADER = re.compile(r"\A(?:--[^\n]*\n)+")
SECTIONS = ("Purpose", "Outcomes", "Locks", "Writes")
SEARCH_PATH = re.compile(
    r"SET\s+search_path\s*(?:=|TO)\s*pg_catalog\s*,\s*public\s*,\s*pg_temp\b", re.IGNORECASE
)
DYNAMIC = re.compile(r"(?<!GRANT )(?<!REVOKE )\bEXECUTE\b(?!\s+(?:FUNCTION|PROCEDURE|ON)\b)", re.IGNORECASE)
COMMENT = re.compile(r"--[^\n]*|/\*[\s\S]*?\*/")


def check(tree: Tree) -> Iterator[Finding]:
    """Find function files that are not what their name says, or that open a door."""
    for path in tree.under(FOLDER, suffix=".sql"):
        text = tree.text(path)
        code = COMMENT.sub("", text)
        for says in (*_name(path, code), *_header(text), *_rights(text, code), *_body(code)):
            yield Finding(path, 1, "sql_functions", says)


def _name(path: str, code: str) -> Iterator[str]:
    stem = PurePosixPath(path).stem
    names = [name.removeprefix(PREFIX) for name in CREATES.findall(code)]
    if names != [stem]:
        yield f"holds {names or 'no function'}; exactly one, `{PREFIX}{stem}`, belongs here"


def _header(text: str) -> Iterator[str]:
    header = HEADER.match(text)
    for section in SECTIONS:
        if not re.search(rf"\b{section}\b[^:\n]*:", header[0] if header else ""):
            yield f"the header has no `{section}:`; say it, `none` included"


def _rights(text: str, code: str) -> Iterator[str]:
    header = HEADER.match(text)
    internal = header is not None and re.search(r"\bInternal:", header[0]) is not None
    definer = re.search(r"\bSECURITY\s+DEFINER\b", code, re.IGNORECASE) is not None
    if not (definer or internal):
        yield "neither SECURITY DEFINER nor `Internal:` in the header; say who may call it"
    if definer and not SEARCH_PATH.search(code):
        yield "a definer function without SET search_path = pg_catalog, public, pg_temp; a caller could lend it tables"


def _body(code: str) -> Iterator[str]:
    if DYNAMIC.search(code):
        yield "EXECUTE; write the statement out, so that the gate on writers can read it"
    if re.search(r"\bWHEN\s+OTHERS\b", code, re.IGNORECASE):
        yield "WHEN OTHERS; name the condition you expect"
