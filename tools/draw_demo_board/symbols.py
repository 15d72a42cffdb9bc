"""The symbol library as text: KiCad has no Python API for schematics."""

from dataclasses import dataclass

from parts import PARTS, Part

FONT = "(effects (font (size 1.27 1.27)))"
HIDDEN = "(effects (font (size 1.27 1.27)) (hide yes))"


@dataclass(frozen=True)
class Pin:
    """A pin: number, name, electrical kind, place of its free end (Y up) and the way it points."""

    number: str
    name: str
    kind: str
    x_mm: float
    y_mm: float
    degrees: int
    length_mm: float = 2.54
    hidden: bool = False


USB_PINS = (
    Pin("A9", "VBUS", "power_out", 12.7, 7.62, 180),
    Pin("B9", "VBUS", "passive", 12.7, 7.62, 180, hidden=True),
    Pin("A5", "CC1", "bidirectional", 12.7, 2.54, 180),
    Pin("B5", "CC2", "bidirectional", 12.7, -2.54, 180),
    Pin("A12", "GND", "passive", 12.7, -7.62, 180),
    Pin("B12", "GND", "passive", 12.7, -7.62, 180, hidden=True),
    Pin("S1", "SHIELD", "passive", 12.7, -10.16, 180),
)
LDO_PINS = (
    Pin("3", "VI", "power_in", -10.16, 0, 0),
    Pin("2", "VO", "power_out", 10.16, 0, 180),
    Pin("1", "GND", "power_in", 0, -7.62, 90),
)
UPRIGHT = (Pin("1", "~", "passive", 0, 3.81, 270, 1.27), Pin("2", "~", "passive", 0, -3.81, 90, 1.27))
LYING = (Pin("1", "K", "passive", -3.81, 0, 0), Pin("2", "A", "passive", 3.81, 0, 180))
HEADER = (Pin("1", "Pin_1", "passive", -5.08, 0, 0), Pin("2", "Pin_2", "passive", -5.08, -2.54, 0))

PINS = {
    "USB_C_Power": USB_PINS, "AMS1117-3.3": LDO_PINS, "R": UPRIGHT, "C": UPRIGHT, "LED": LYING,
    "Conn_01x02": HEADER, "MountingHole": (),
}  # fmt: skip
POWER = ("VBUS", "+3V3", "GND")


def polyline(*points: tuple[float, float], width_mm: float = 0.254, fill: str = "none") -> str:
    """A stroke through points."""
    xys = " ".join(f"(xy {x:g} {y:g})" for x, y in points)
    return f"(polyline (pts {xys}) (stroke (width {width_mm:g}) (type default)) (fill (type {fill})))"


def rectangle(x_mm: float, y_mm: float, x2_mm: float, y2_mm: float, *, fill: str = "background") -> str:
    """A body."""
    corners = f"(start {x_mm:g} {y_mm:g}) (end {x2_mm:g} {y2_mm:g})"
    return f"(rectangle {corners} (stroke (width 0.254) (type default)) (fill (type {fill})))"


BODIES = {
    "USB_C_Power": rectangle(-10.16, 10.16, 10.16, -12.7),
    "AMS1117-3.3": rectangle(-7.62, 2.54, 7.62, -5.08),
    "R": rectangle(-1.016, 2.54, 1.016, -2.54, fill="none"),
    "C": polyline((-2.032, 0.762), (2.032, 0.762), width_mm=0.508)
    + polyline((-2.032, -0.762), (2.032, -0.762), width_mm=0.508)
    + polyline((0, 2.54), (0, 0.762), width_mm=0)
    + polyline((0, -2.54), (0, -0.762), width_mm=0),
    "LED": polyline((-1.27, -1.27), (-1.27, 1.27))
    + polyline((-1.27, 0), (1.27, 0), width_mm=0)
    + polyline((1.27, -1.27), (1.27, 1.27), (-1.27, 0), (1.27, -1.27))
    + polyline((-2.2, 1.6), (-3.3, 2.7))
    + polyline((-1, 1.9), (-2.1, 3)),
    "Conn_01x02": rectangle(-2.54, 1.27, 1.27, -3.81),
    "MountingHole": "(circle (center 0 0) (radius 1.27) (stroke (width 1.27) (type default)) (fill (type none)))",
}
ARROW = polyline((0, 0), (0, 1.27), width_mm=0) + polyline(
    (-0.762, 1.27), (0, 2.54), (0.762, 1.27), width_mm=0
)
EARTH = polyline((0, 0), (0, -1.27), (1.27, -1.27), (0, -2.54), (-1.27, -1.27), (0, -1.27), width_mm=0)
FLAG = polyline((0, 0), (0, 1.27), (-1.016, 1.905), (0, 2.54), (1.016, 1.905), (0, 1.27), width_mm=0)


def field(key: str, value: str, *, x_mm: float = 0, y_mm: float = 0, effects: str = HIDDEN) -> str:
    """A property of a symbol."""
    return f'(property "{key}" "{value}" (at {x_mm:g} {y_mm:g} 0) {effects})'


def pin(description: Pin) -> str:
    """A pin in KiCad's words."""
    hide = " (hide yes)" if description.hidden else ""
    place = f"(at {description.x_mm:g} {description.y_mm:g} {description.degrees})"
    return (
        f"(pin {description.kind} line {place} (length {description.length_mm:g}){hide}"
        f' (name "{description.name}" {FONT}) (number "{description.number}" {FONT}))'
    )


def part_symbol(part: Part, prefix: str) -> str:
    """The library symbol a part uses; `prefix` is empty in the library and its name in a schematic."""
    name = part.symbol
    letters = part.reference.rstrip("0123456789")
    bare = "(pin_numbers (hide yes)) (pin_names (offset 0) (hide yes))"
    style = "(pin_names (offset 1.016))" if name in ("USB_C_Power", "AMS1117-3.3") else bare
    fields = (
        field("Reference", letters, y_mm=13.97, effects=FONT)
        + field("Value", name, y_mm=11.43, effects=FONT)
        + field("Footprint", f"power-board:{part.footprint}")
        + field("Datasheet", "")
        + field("Description", part.description)
    )
    pins = "".join(pin(each) for each in PINS[name])
    in_bom = "no" if name == "MountingHole" else "yes"
    return (
        f'(symbol "{prefix}{name}" {style} (exclude_from_sim no) (in_bom {in_bom}) (on_board yes) {fields}'
        f' (symbol "{name}_0_1" {BODIES[name]}) (symbol "{name}_1_1" {pins}) (embedded_fonts no))'
    )


def power_symbol(name: str, prefix: str) -> str:
    """A power port, or the flag that says a net is fed."""
    is_flag = name == "PWR_FLAG"
    body = FLAG if is_flag else EARTH if name == "GND" else ARROW
    kind, degrees = ("power_out", 90) if is_flag else ("power_in", 270 if name == "GND" else 90)
    fields = (
        field("Reference", "#FLG" if is_flag else "#PWR")
        + field("Value", name, y_mm=-3.81 if name == "GND" else 3.81, effects=FONT)
        + field("Footprint", "")
        + field("Datasheet", "")
        + field("Description", "Says that the net is fed" if is_flag else f"Power net {name}")
    )
    port = pin(Pin("1", "", kind, 0, 0, degrees, 0))
    return (
        f'(symbol "{prefix}{name}" (power) (pin_numbers (hide yes)) (pin_names (offset 0) (hide yes))'
        f" (exclude_from_sim no) (in_bom yes) (on_board yes) {fields}"
        f' (symbol "{name}_0_1" {body}) (symbol "{name}_1_1" {port}) (embedded_fonts no))'
    )


def all_symbols(prefix: str = "") -> str:
    """Every symbol once, in a fixed order."""
    first_use = {part.symbol: part for part in reversed(PARTS)}
    parts = [part_symbol(first_use[name], prefix) for name in sorted(first_use)]
    return "\n".join(parts + [power_symbol(name, prefix) for name in (*POWER, "PWR_FLAG")])
