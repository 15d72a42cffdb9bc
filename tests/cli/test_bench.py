"""`boardreadyops bench sql`: its arguments, and one short run that needs no second of load on a large table."""

from __future__ import annotations

import json

import pytest

from boardreadyops.cli.main import main


@pytest.mark.parametrize(
    "wrong", [["--only", "z"], ["--only", ","], ["--seed", "-1"], ["--seed", "x"], ["--rounds", "3"]]
)
def test_a_wrong_argument_is_one_line_and_exit_code_2(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", "sql", *wrong])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_quick_run_prints_the_contract_and_fails_only_when_it_is_asked_to_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "sql", "--quick", "--only", "f", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["seed"]) == (1, 1)
    assert told["machine"]["postgresql"]
    assert [result["id"] for result in told["results"]] == [
        "supersede.thousand_refs",
        "supersede.one_deep_ref",
    ]
    assert all(len(result["samples"]) == 3 and result["value"] > 0 for result in told["results"])
