"""All functions take their row locks in one order; and each way to break it is noticed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.races.lock_order import FUNCTIONS, IMPOSSIBLE, UNORDERED, Checker

RUN = "SELECT * INTO v FROM release_runs WHERE id = p_id FOR NO KEY UPDATE;"
ATTEMPT = "SELECT * INTO v FROM release_run_attempts WHERE id = p_id FOR NO KEY UPDATE;"
LEASE = "UPDATE runner_leases SET stage = 'running' WHERE id = p_id;"
PUBLICATION = "UPDATE publications SET verify_at = NULL WHERE id = p_id;"
EFFECT = "INSERT INTO outbox (kind) VALUES ('x') ON CONFLICT (id) DO NOTHING;"
REF = "UPDATE refs SET open = true WHERE repository_id = 1 AND ref = 'x';"


def function(body: str, name: str = "planted", *, public: bool = True) -> str:
    rights = "SECURITY DEFINER " if public else ""
    return (
        f"CREATE OR REPLACE FUNCTION boardreadyops_{name}(p_id uuid) RETURNS void LANGUAGE plpgsql {rights}AS $$\n"
        f"DECLARE\n    v record;\nBEGIN\n{body}\nEND\n$$;\n"
    )


def found(*texts: str) -> Sequence[str]:
    return Checker.of(texts).check()


def test_every_function_takes_its_locks_in_the_one_order() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(FUNCTIONS.glob("*.sql"))]
    assert len(texts) > 50
    assert found(*texts) == []


def test_every_exception_names_functions_that_exist_and_argues() -> None:
    names = {f"boardreadyops_{path.stem}" for path in FUNCTIONS.glob("*.sql")}
    for exceptions in (IMPOSSIBLE, UNORDERED):
        for (way, _), reason in exceptions.items():
            assert set(way.split(" -> ")) <= names
            assert len(reason) > 20


def test_the_order_of_the_design_is_accepted() -> None:
    assert found(function("\n".join([REF, RUN, ATTEMPT, LEASE, EFFECT, PUBLICATION, RUN]))) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (RUN + REF, "planted: refs after release_runs"),
        (ATTEMPT + RUN, "planted: release_runs after release_run_attempts"),
        (LEASE + ATTEMPT, "planted: release_run_attempts after runner_leases"),
        (PUBLICATION + RUN, "planted: release_runs after outbox"),
        (EFFECT + LEASE, "planted: runner_leases after outbox"),
        (
            RUN + "PERFORM FROM installations WHERE id = 1 FOR SHARE;",
            "planted: installations after release_runs",
        ),
        (RUN + "DELETE FROM refs WHERE repository_id = 1 AND ref = 'x';", "planted: refs after release_runs"),
        (
            RUN + "MERGE INTO refs USING release_runs AS r ON true WHEN MATCHED THEN DO NOTHING;",
            "planted: refs after release_runs",
        ),
        (
            LEASE
            + "WITH x AS (UPDATE release_runs SET needs = '{}' WHERE id = p_id RETURNING 1) SELECT * INTO v FROM x;",
            "planted: release_runs after runner_leases",
        ),
        (
            LEASE
            + "SELECT a.* INTO v FROM release_run_attempts AS a JOIN refs AS r ON true WHERE a.id = p_id FOR UPDATE OF a;",
            "planted: release_run_attempts after runner_leases",
        ),
        (
            f"IF p_id IS NULL THEN {LEASE} END IF; {RUN}",
            "planted: release_runs after runner_leases",
        ),
        (
            f"LOOP {RUN} {LEASE} EXIT WHEN true; END LOOP; {REF}",
            "planted: refs after runner_leases",
        ),
        (
            f"FOR v IN SELECT * FROM refs LOOP {RUN} {PUBLICATION} END LOOP;",
            "planted: release_runs again in a loop, under later locks of the round before",
        ),
        (
            "PERFORM FROM release_runs WHERE ref = 'x' FOR UPDATE;",
            "planted: several release_runs in no order",
        ),
        (
            "PERFORM FROM release_runs WHERE ref = 'x' ORDER BY due_at FOR UPDATE;",
            "planted: several release_runs in no order",
        ),
        (
            "PERFORM FROM release_runs WHERE id = p_id OR ref = 'x' FOR UPDATE;",
            "planted: several release_runs in no order",
        ),
        (
            "UPDATE runner_leases SET stage = 'running' WHERE state = 'active';",
            "planted: several runner_leases in no order",
        ),
    ],
)
def test_a_planted_violation_is_found(body: str, says: str) -> None:
    assert says in found(function(body))


@pytest.mark.parametrize(
    "body",
    [
        f"IF p_id IS NULL THEN {LEASE} RETURN; END IF; {RUN}",
        f"IF p_id IS NULL THEN {LEASE} ELSE {RUN} END IF;",
        f"FOR v IN SELECT * FROM release_runs WHERE ref = 'x' ORDER BY id FOR UPDATE LOOP {RUN} {PUBLICATION} END LOOP;",
        "PERFORM FROM release_runs WHERE ref = 'x' FOR UPDATE SKIP LOCKED;",
        RUN + "UPDATE publications SET verify_at = NULL WHERE release_run_id = p_id;",
        LEASE + "INSERT INTO release_runs (id) VALUES (p_id);",
        LEASE + "SELECT * INTO v FROM release_runs WHERE id = p_id;",
    ],
)
def test_what_is_in_order_is_not_reported(body: str) -> None:
    assert found(function(body)) == []


def test_a_lock_in_a_called_function_counts_where_it_is_called() -> None:
    inner = function(RUN, "inner", public=False)
    assert found(inner) == []
    assert found(inner, function(f"{LEASE} PERFORM boardreadyops_inner(p_id);")) == [
        "planted -> inner: release_runs after runner_leases"
    ]
    sql = "CREATE FUNCTION boardreadyops_inner(p_id uuid) RETURNS void LANGUAGE sql AS $$ UPDATE release_runs SET needs = '{}' WHERE id = p_id $$;"
    assert found(
        sql, function(f"{LEASE} UPDATE outbox SET kind = boardreadyops_inner(p_id) WHERE id = 1;")
    ) == ["planted -> inner: release_runs after runner_leases"]


def test_a_loop_that_locks_run_by_run_without_an_order_is_found_in_a_called_function_too() -> None:
    inner = function(RUN + PUBLICATION, "inner", public=False)
    assert found(
        inner, function("FOR v IN SELECT * FROM refs LOOP PERFORM boardreadyops_inner(v.id); END LOOP;")
    ) == ["planted -> inner: release_runs again in a loop, under later locks of the round before"]
