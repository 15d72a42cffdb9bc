import pytest

from boardreadyops.kicad.messages import clean, item_layer, message


@pytest.mark.parametrize(
    ("description", "items", "says"),
    [
        (
            "Clearance violation ( clearance 0.2000 mm; actual 0.0500 mm)",
            ["Pad 1 [VIN] of C1 on F.Cu", "Track [GND] on F.Cu, length 3.2000 mm"],
            "Clearance violation: 0.05 mm, rule 0.2 mm — pad 1 [VIN] of C1 on F.Cu, track [GND] on F.Cu",
        ),
        (
            "Clearance violation (netclass 'HV' clearance 1.0000 mm; actual 0.2500 mm)",
            [],
            "Clearance violation: 0.25 mm, rule 1 mm (netclass 'HV')",
        ),
        (
            "Clearance violation (rule 'wide' clearance 0.3000 mm; actual -0.0100 mm)",
            [],
            "Clearance violation: -0.01 mm, rule 0.3 mm (rule 'wide')",
        ),
        ("Missing footprint H1 (M3)", [], "Missing footprint H1 (M3)"),
        ("Track has unconnected end", ["NPTH pad of H1"], "Track has unconnected end — NPTH pad of H1"),
    ],
)
def test_a_message_names_measure_rule_and_items(description: str, items: list[str], says: str) -> None:
    assert message(description, items) == says


def test_many_items_are_counted_not_listed() -> None:
    assert message("Overlap", [f"Pad {n}" for n in range(9)]).endswith("pad 5, 3 more")


def test_text_from_a_board_is_one_bounded_line() -> None:
    assert clean("a\x00b\x1b[31m\n c\ud800\u202e") == "a b [31m c?"
    assert len(message("x" * 10_000, ["y" * 10_000])) == 2_000


def test_the_layer_is_read_from_the_items_words() -> None:
    assert item_layer("Via [VBUS] on F.Cu - B.Cu") == "F.Cu"
    assert item_layer("Track [N] on In1.Cu, length 1 mm") == "In1.Cu"
    assert item_layer("Footprint C1") is None
