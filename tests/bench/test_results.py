"""What a measurement says, to machines and to people."""

from __future__ import annotations

import pytest

from boardreadyops.bench.results import compared, document, heading, measured, row

KEYS = {"id", "metric", "value", "unit", "baseline", "ratio", "target", "passed", "samples"}


def test_a_figure_is_the_median_of_its_samples() -> None:
    result = measured("claim", "claims", "1/s", [1.0, 900.0, 2_500.0], target=1_000)
    assert (result.value, result.passed) == (900.0, False)


def test_a_figure_that_must_stay_small_passes_when_it_is_small() -> None:
    assert measured("sweep", "sweep", "ms", [1.0, 2.0, 9.0], target=2, bound="at_most").passed
    assert not measured("sweep", "sweep", "ms", [1.0, 2.1, 9.0], target=2, bound="at_most").passed


def test_a_comparison_is_judged_by_the_median_of_its_pairs_and_not_by_the_pair_of_medians() -> None:
    result = compared("pool", "pool", "1/s", [(80, 100), (70, 100), (300, 200)], target=0.75)
    assert (result.value, result.baseline, result.ratio, result.passed) == (80, 100, 0.8, True)


def test_a_figure_without_a_target_is_neither_passed_nor_missed() -> None:
    assert measured("storm", "storm", "1/s", [1.0]).passed is None


def test_the_document_has_the_keys_of_the_contract_and_no_others() -> None:
    told = document(7, {"cpus": 2}, [measured("storm", "storm", "1/s", [1.0])])
    assert (set(told), told["schema"], told["seed"]) == ({"schema", "seed", "machine", "results"}, 1, 7)
    assert [set(result) for result in told["results"]] == [KEYS]


@pytest.mark.parametrize(
    ("passed_target", "bound", "said"),
    [(1.0, "at_most", "≤"), (9.0, "at_most", "≤"), (1.0, "at_least", "≥"), (9.0, "at_least", "≥")],
)
def test_a_row_says_which_way_its_target_bounds(passed_target: float, bound: str, said: str) -> None:
    result = measured(
        "x", "x", "ms", [5.0], target=passed_target, bound="at_most" if bound == "at_most" else "at_least"
    )
    assert said in row(result)


def test_the_table_fits_eighty_columns() -> None:
    widest = compared("heartbeat.unchanged_images", "", "bytes", [(123_456, 1_234_567)] * 3, target=0.75)
    assert max(len(heading()), len(row(widest))) <= 80
