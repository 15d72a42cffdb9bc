"""What became of each mutant, kept so that a run that was broken off goes on where it stood."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.mutate.mutants import Mutant
from tools.mutate.trial import Outcome


@dataclass(frozen=True, slots=True)
class Result:
    """`proof` is the hash of what the outcome rests on: the killer's file, or for a survivor every test it met."""

    id: str
    sha: str
    outcome: Outcome
    killer: str
    proof: str
    seconds: float


class Results:
    """A file of one JSON object a line; the last word on a mutant counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_sha: dict[str, Result] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                result = Result(**json.loads(line))
                self._by_sha[result.sha] = result

    def add(self, result: Result) -> None:
        """Keep a result."""
        self._by_sha[result.sha] = result
        with self._path.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")

    def known(self, mutant: Mutant, tests: Sequence[str], files: dict[str, str]) -> Result | None:
        """A result that still stands: its killer, or all the tests it survived, are what they were."""
        result = self._by_sha.get(mutant.sha)
        if result is None or result.outcome == "broken":
            return None
        rests_on = [result.killer] if result.outcome == "killed" else tests
        return result if result.proof == proof(rests_on, files) else None


def proof(tests: Sequence[str], files: dict[str, str]) -> str:
    """One hash over the files of these tests, and over the tests' names where there are several."""
    told = sorted({files.get(test.partition("::")[0], "") for test in tests})
    return hashlib.sha256(
        "\n".join(told if len(tests) == 1 else [*told, *sorted(tests)]).encode()
    ).hexdigest()


def table(results: Sequence[tuple[Mutant, Result]]) -> str:
    """Killed of all, by kind and by function."""
    return "\n".join(
        [
            *_part("kind", [(mutant.kind, result) for mutant, result in results]),
            *_part("function", [(mutant.function, result) for mutant, result in results]),
        ]
    )


def _part(title: str, results: Sequence[tuple[str, Result]]) -> list[str]:
    every = Counter(name for name, _ in results)
    dead = Counter(name for name, result in results if result.outcome in {"killed", "timeout"})
    rows = [f"{name:<36}{dead[name]:>6}{every[name]:>6}" for name in sorted(every)]
    return [f"\n{title:<36}killed    of", *rows]


def report(results: Sequence[tuple[Mutant, Result]], explained: frozenset[str]) -> dict[str, object]:
    """The whole run as one JSON object."""
    outcomes = Counter(result.outcome for _, result in results)
    dead = outcomes["killed"] + outcomes["timeout"]
    return {
        "mutants": len(results),
        "outcomes": dict(sorted(outcomes.items())),
        "kill_rate": round(dead / len(results), 4) if results else None,
        "survivors": [
            {"id": mutant.id, "explained": mutant.id in explained, "diff": mutant.diff}
            for mutant, result in results
            if result.outcome == "survived"
        ],
        "trials": {
            mutant.id: {"outcome": result.outcome, "killer": result.killer, "seconds": result.seconds}
            for mutant, result in results
        },
    }
