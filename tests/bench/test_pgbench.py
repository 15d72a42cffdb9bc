"""What is read from pgbench's logs."""

from __future__ import annotations

from pathlib import Path

from boardreadyops.bench.pgbench import warm_rate


def _log(path: Path, client: int, *ends: float) -> None:
    lines = (
        f"{client} {turn} 1000 0 {int(end)} {round(end % 1 * 1_000_000)}" for turn, end in enumerate(ends)
    )
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def test_a_rate_counts_only_what_every_warm_client_did_at_once(tmp_path: Path) -> None:
    _log(tmp_path / "turns.1", 0, 10.0, 11.0, 12.0, 13.0, 14.0)  # warm at 11, ends at 14
    _log(tmp_path / "turns.2", 1, 11.5, 12.0, 12.5, 13.0, 13.5)  # warm at 12, ends at 13.5
    # From 12 to 13.5: client 0 at 13, client 1 at 12.5, 13 and 13.5.
    assert warm_rate(tmp_path, 2) == 4 / 1.5
