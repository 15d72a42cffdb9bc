"""The rule on the headers of SQL function files."""

from collections.abc import Callable

import pytest

from gates import sql_functions
from gates.tree import Tree

Plant = Callable[[dict[str, str]], Tree]
PATH = "boardreadyops/sql/functions/cancel_run.sql"
CLEAN = """\
-- Purpose: cancels a run; EXECUTE and WHEN OTHERS may be named in a comment.
-- Outcomes, in this order: not_found, applied.
-- Locks: run. Writes: release_runs.
CREATE OR REPLACE FUNCTION boardreadyops_cancel_run(p_id uuid) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RETURN 'applied';
END
$$;
REVOKE EXECUTE ON FUNCTION boardreadyops_cancel_run FROM PUBLIC;
"""


def _findings(plant: Plant, text: str) -> list[str]:
    return [finding.message for finding in sql_functions.check(plant({PATH: text}))]


def test_a_clean_function_file_is_left_alone(plant: Plant) -> None:
    assert _findings(plant, CLEAN) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("-- Purpose", "-- About", "Purpose"),
        ("-- Outcomes", "-- Answers", "Outcomes"),
        ("Locks: run", "run", "Locks"),
        ("Writes: ", "", "Writes"),
    ],
)
def test_a_planted_violation_is_found(plant: Plant, old: str, new: str, said: str) -> None:
    (message,) = _findings(plant, CLEAN.replace(old, new))
    assert said in message
