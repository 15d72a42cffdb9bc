"""A measurement and its target; as JSON for machines, as a table for people."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

SCHEMA = 1

Bound = Literal["at_least", "at_most"]


@dataclass(frozen=True, slots=True)
class Result:
    """One figure: the median of its samples. With a baseline, `ratio` is the median over pairs of sample and baseline.

    `target` bounds the ratio where there is one, else the value; without a target `passed` is None.
    """

    id: str
    metric: str
    value: float
    unit: str
    baseline: float | None
    ratio: float | None
    target: float | None
    passed: bool | None
    samples: tuple[float | tuple[float, float], ...]
    bound: Bound = "at_least"

    def as_json(self) -> dict[str, Any]:
        """The same for machines; a paired sample is [value, baseline]."""
        return {name: value for name, value in asdict(self).items() if name != "bound"}


def measured(
    result_id: str,
    metric: str,
    unit: str,
    samples: Sequence[float],
    *,
    target: float | None = None,
    bound: Bound = "at_least",
) -> Result:
    """A figure that stands alone."""
    value = statistics.median(samples)
    passed = None if target is None else value >= target if bound == "at_least" else value <= target
    rounded = tuple(_short(sample) for sample in samples)
    return Result(result_id, metric, _short(value), unit, None, None, target, passed, rounded, bound)


def compared(
    result_id: str, metric: str, unit: str, pairs: Sequence[tuple[float, float]], *, target: float
) -> Result:
    """A figure against its baseline, measured in turns; the target bounds the median of the ratios."""
    ratio = statistics.median(value / baseline for value, baseline in pairs)
    return Result(
        result_id,
        metric,
        _short(statistics.median(value for value, _ in pairs)),
        unit,
        _short(statistics.median(baseline for _, baseline in pairs)),
        round(ratio, 3),
        target,
        ratio >= target,
        tuple((_short(value), _short(baseline)) for value, baseline in pairs),
    )


def machine(postgres_version: str) -> dict[str, Any]:
    """What was measured on; `load_average` is that of the last minute, others' work included."""
    return {
        "system": platform.platform(terse=True),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
        "processor": _processor(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "python": platform.python_version(),
        "postgresql": postgres_version,
        "load_average": round(os.getloadavg()[0], 2),
    }


def document(seed: int, about: dict[str, Any], results: Sequence[Result]) -> dict[str, Any]:
    """What `bench --json` prints."""
    return {
        "schema": SCHEMA,
        "seed": seed,
        "machine": about,
        "results": [result.as_json() for result in results],
    }


def row(result: Result) -> str:
    """One line of the table."""
    target, mark = "", ""
    if result.target is not None:
        target = f"{'≥' if result.bound == 'at_least' else '≤'} {_number(result.target)}"
        mark = "ok" if result.passed else "MISSED"
    cells = (
        result.id,
        f"{_number(result.value)} {result.unit}",
        "" if result.baseline is None else _number(result.baseline),
        "" if result.ratio is None else f"{result.ratio:.2f}",
        target,
    )
    fitted = (
        f"{cell:{'<' if n == 0 else '>'}{width}}"
        for n, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=True))
    )
    return f"{' '.join(fitted)} {mark}".rstrip()


def heading() -> str:
    """The line above the rows."""
    names = ("id", "median", "baseline", "ratio", "target")
    return " ".join(
        f"{name:{'<' if n == 0 else '>'}{width}}"
        for n, (name, width) in enumerate(zip(names, _WIDTHS, strict=True))
    )


_WIDTHS = (26, 14, 9, 6, 9)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}"


def _short(value: float) -> float:
    return round(value, 1 if abs(value) >= 100 else 3)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
