"""pgbench, PostgreSQL's own load: a script of `sql/bench/` run by a number of clients for a while."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from boardreadyops.bench.seed import script
from boardreadyops.config import Secret

CLIENTS = 8
THREADS = 2
MAX_COMPLAINT_CHARACTERS = 500

_PROCESSED = re.compile(r"number of transactions actually processed: (\d+)")
_RATE = re.compile(r"^tps = ([0-9.]+) \(without initial connection time\)", re.MULTILINE)


class BenchFailed(RuntimeError):
    """A measurement could not be taken. The text is one line."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a load did: how often the whole script ran, and how often a second."""

    turns: int
    turns_per_second: float


def libpq_environment(dsn: Secret) -> dict[str, str]:
    """What PostgreSQL's programs read of a URL, so that no password is among their arguments."""
    parts = urlsplit(dsn.reveal())
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    query = dict(parse_qsl(parts.query))
    return {
        "PGHOST": query["host"],
        "PGPORT": query["port"],
        "PGUSER": unquote(user),
        "PGPASSWORD": unquote(password),
        "PGDATABASE": unquote(parts.path.lstrip("/")),
    }


async def run_pgbench(
    programs: Path,
    dsn: Secret,
    name: str,
    *,
    seed: int,
    variables: Mapping[str, int],
    seconds: int | None = None,
    turns_per_client: int | None = None,
    warm_up_turns: int = 0,
) -> Load:
    """Run `sql/bench/<name>.sql` with prepared statements on 8 connections, for a time or a count; BenchFailed.

    Of a count the first `warm_up_turns` of each connection are not in the rate: a new connection plans its statements
    and maps PostgreSQL's memory, and the application keeps its connections.
    """
    length: tuple[str, ...] = ("-T", str(seconds)) if seconds is not None else ("-t", str(turns_per_client))
    with tempfile.TemporaryDirectory(prefix="boardreadyops-bench-turns-") as folder:
        if warm_up_turns:
            length = (*length, "--log", f"--log-prefix={folder}/turns")
        load = await _run(programs, dsn, name, length, seed=seed, variables=variables)
        return Load(load.turns, warm_rate(Path(folder), warm_up_turns)) if warm_up_turns else load


def warm_rate(folder: Path, warm_up_turns: int) -> float:
    """Turns a second while all clients are behind their warm-up and none has ended, from pgbench's logs of all threads."""
    ends: defaultdict[str, list[float]] = defaultdict(list)
    for log in folder.iterdir():
        for line in log.read_text(encoding="ascii").splitlines():
            client, _turn, _elapsed, _script, second, microsecond = line.split()
            ends[client].append(int(second) + int(microsecond) / 1_000_000)
    begin = max(sorted(turns)[warm_up_turns - 1] for turns in ends.values())
    end = min(max(turns) for turns in ends.values())
    return sum(begin < turn <= end for turns in ends.values() for turn in turns) / (end - begin)


async def _run(
    programs: Path,
    dsn: Secret,
    name: str,
    length: tuple[str, ...],
    *,
    seed: int,
    variables: Mapping[str, int],
) -> Load:
    defined = [word for key, value in variables.items() for word in ("-D", f"{key}={value}")]
    process = await asyncio.create_subprocess_exec(
        str(programs / "pgbench"),
        *("-n", "-M", "prepared", "-c", str(CLIENTS), "-j", str(THREADS), *length),
        *(f"--random-seed={seed}", *defined, "-f", str(script(name))),
        env=libpq_environment(dsn),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    answer, complaint = (text.decode(errors="replace") for text in await process.communicate())
    processed, rate = _PROCESSED.search(answer), _RATE.search(answer)
    if process.returncode != 0 or processed is None or rate is None:
        said = " ".join((complaint or answer).split())[-MAX_COMPLAINT_CHARACTERS:]
        raise BenchFailed(f"pgbench could not run {name}: {said}")
    return Load(int(processed[1]), float(rate[1]))
