"""What a runner declares against what a run needs."""

from __future__ import annotations

from tests.sql.conftest import World

CASES: tuple[tuple[list[str], list[str], bool], ...] = (
    ([], [], True),
    (["kicad=9.0.8"], [], True),
    ([], ["gpu"], False),
    (["gpu"], ["gpu"], True),
    (["gpu=a100"], ["gpu"], True),
    (["gpus=2"], ["gpu"], False),
    (["arch=x86_64"], ["arch=x86_64"], True),
    (["arch=aarch64"], ["arch=x86_64"], False),
    (["kicad=9.0.8"], ["kicad=9"], False),
    (["kicad=9.0.8"], ["kicad>=9"], True),
    (["kicad=9.0.8"], ["kicad>=9.0.8"], True),
    (["kicad=9.0.8"], ["kicad>=9.0.9"], False),
    (["kicad=9.0.8"], ["kicad>=9.0.10"], False),
    (["kicad=10"], ["kicad>=9.9"], True),
    (["kicad=8.99"], ["kicad>=9"], False),
    (["tool=9.0.8"], ["kicad>=9"], False),
    (["kicad=nightly"], ["kicad>=9"], False),
    (["kicad=9.0-rc1"], ["kicad>=9"], False),
    (["kicad=9.0.8"], ["kicad>=nine"], False),
    (["kicad=9.0.8"], ["kicad>="], False),
    (["kicad="], ["kicad>=9"], False),
    (["kicad=99999999999999999999"], ["kicad>=9"], False),
    (["kicad=9.0.8"], ["kicad>=99999999999999999999"], False),
    (["kicad=8", "kicad=9"], ["kicad>=9"], True),
    (["kicad=9", "arch=x86_64"], ["kicad>=9", "arch=x86_64"], True),
    (["kicad=9"], ["kicad>=9", "arch=x86_64"], False),
    (["KiCad=9"], ["kicad>=9"], False),
    (["kicad=9"], ["kicad>=9.0"], True),
    (["kicad=9.0"], ["kicad>=9.0.0.0"], True),
    (["kicad=9"], ["kicad>=9.0.1"], False),
    (["kicad=0"], ["kicad>=0.0"], True),
    (["kicad=10"], ["kicad>=10"], True),
    (["kicad=1"], ["kicad>=10"], False),
)

# A need that names nothing asks for nothing.
NOTHING: tuple[list[str | None], ...] = ([""], [None], ["", None])


async def test_every_need_must_be_met(world: World) -> None:
    met = "SELECT boardreadyops_capabilities_meet($1, $2)"
    answers = [(has, needs, await world.owner.fetchval(met, has, needs)) for has, needs, _ in CASES]
    assert answers == list(CASES)


async def test_a_null_or_empty_need_is_met_by_every_runner(world: World) -> None:
    met = "SELECT boardreadyops_capabilities_meet($1, $2)"
    for needs in NOTHING:
        assert await world.owner.fetchval(met, [], needs) is True
        assert await world.owner.fetchval(met, ["kicad=9"], [*needs, "kicad>=9"]) is True
        assert await world.owner.fetchval(met, [], [*needs, "gpu"]) is False
