"""Draw the schematic and its symbol library."""

import re
from itertools import pairwise
from pathlib import Path

from parts import LIBRARY, PARTS, TITLE, Part, identifier
from symbols import FONT, HIDDEN, PINS, all_symbols

ROOT = identifier("sheet", "root")
HEAD = '(version 20250114) (generator "eeschema") (generator_version "9.0")'
RAIL_MM = 81.28
TOKEN = re.compile(r'\(\s*[^\s()"]+|\)|"(?:[^"\\]|\\.)*"|[^\s()"]+')
INLINE = ("xy", "size", "type", "width", "hide", "justify")
Point = tuple[float, float]


def wire(start: Point, end: Point) -> str:
    """One straight wire."""
    points = f"(pts (xy {start[0]:g} {start[1]:g}) (xy {end[0]:g} {end[1]:g}))"
    return f'(wire {points} (stroke (width 0) (type default)) (uuid "{identifier("wire", points)}"))'


def path(*points: Point) -> str:
    """Wires through points."""
    return "".join(wire(start, end) for start, end in pairwise(points))


def junction(at: Point) -> str:
    """A dot."""
    place = f"(at {at[0]:g} {at[1]:g})"
    return f'(junction {place} (diameter 0) (color 0 0 0 0) (uuid "{identifier("junction", place)}"))'


def rail(*xs_mm: float) -> str:
    """A horizontal supply wire, with a dot wherever something hangs on it."""
    points = [(x, RAIL_MM) for x in xs_mm]
    return path(*points) + "".join(junction(point) for point in points[1:-1])


def label(name: str, at: Point) -> str:
    """A net's name on its wire."""
    effects = "(effects (font (size 1.27 1.27)) (justify left bottom))"
    return f'(label "{name}" (at {at[0]:g} {at[1]:g} 0) {effects} (uuid "{identifier("label", name)}"))'


def instances(reference: str) -> str:
    """Which reference the symbol has in this project."""
    return f'(instances (project "{TITLE}" (path "/{ROOT}" (reference "{reference}") (unit 1))))'


def text_field(key: str, value: str, at: Point, degrees: int = 0, effects: str = HIDDEN) -> str:
    """A property of a placed symbol; text of a rotated symbol is kept upright by its own angle."""
    return f'(property "{key}" "{value}" (at {at[0]:g} {at[1]:g} {degrees}) {effects})'


FIELD_OFFSETS = {
    "USB_C_Power": ((0, -12.7), (0, 15.24)),
    "AMS1117-3.3": ((0, -6.35), (0, -3.81)),
    "LED": ((6.35, -1.27), (6.35, 1.27)),
    "Conn_01x02": ((0, -3.81), (0, 6.35)),
    "MountingHole": ((0, -3.81), (0, 3.81)),
}
BESIDE = ((3.81, -1.27), (3.81, 1.27))


def placed(part: Part) -> str:
    """A part's symbol on the sheet."""
    x, y = part.sheet_mm
    (rx, ry), (vx, vy) = FIELD_OFFSETS.get(part.symbol, BESIDE)
    effects = FONT if part.symbol in FIELD_OFFSETS else FONT[:-1] + " (justify left))"
    angle = part.sheet_degrees
    fields = (
        text_field("Reference", part.reference, (x + rx, y + ry), angle, effects)
        + text_field("Value", part.value, (x + vx, y + vy), angle, effects)
        + text_field("Footprint", f"{LIBRARY}:{part.footprint}", (x, y))
        + text_field("Datasheet", "", (x, y))
        + text_field("Description", part.description, (x, y))
    )
    pins = "".join(
        f'(pin "{pin.number}" (uuid "{identifier("pin", part.reference, pin.number)}"))'
        for pin in PINS[part.symbol]
    )
    in_bom = "no" if part.symbol == "MountingHole" else "yes"
    return (
        f'(symbol (lib_id "{LIBRARY}:{part.symbol}") (at {x:g} {y:g} {angle}) (unit 1)'
        f' (exclude_from_sim no) (in_bom {in_bom}) (on_board yes) (dnp no) (uuid "{part.uuid}")'
        f" {fields} {pins} {instances(part.reference)})"
    )


def port(name: str, number: int, at: Point) -> str:
    """A power port or flag on the sheet."""
    reference = f"#FLG{number:02}" if name == "PWR_FLAG" else f"#PWR{number:02}"
    x, y = at
    drop = 3.81 if name == "GND" else -3.81
    fields = (
        text_field("Reference", reference, at)
        + text_field("Value", name, (x, y + drop), 0, FONT)
        + text_field("Footprint", "", at)
        + text_field("Datasheet", "", at)
    )
    words = ("port", name, str(number))
    return (
        f'(symbol (lib_id "{LIBRARY}:{name}") (at {x:g} {y:g} 0) (unit 1) (exclude_from_sim no) (in_bom yes)'
        f' (on_board yes) (dnp no) (uuid "{identifier(*words)}") {fields}'
        f' (pin "1" (uuid "{identifier("pin", *words)}")) {instances(reference)})'
    )


def wires() -> str:
    """Everything between the pins."""
    ground_ports = ((66.04, 104.14), (71.12, 104.14), (81.28, 104.14), (93.98, 95.25), (114.3, 91.44),
                    (132.08, 95.25), (147.32, 106.68), (160.02, 86.36), (165.1, 142.24))  # fmt: skip
    ports = [port("GND", number, at) for number, at in enumerate(ground_ports, 1)]
    ports += [port("VBUS", 20, (88.9, RAIL_MM)), port("+3V3", 21, (139.7, RAIL_MM))]
    ports += [port("PWR_FLAG", 1, (165.1, 139.7))]
    return "\n".join(
        [
            rail(63.5, 88.9, 93.98, 104.14),
            rail(124.46, 132.08, 139.7, 147.32, 162.56),
            path((63.5, 86.36), (81.28, 86.36), (81.28, 93.98)),
            path((63.5, 91.44), (71.12, 91.44), (71.12, 93.98)),
            path((63.5, 96.52), (66.04, 96.52), (66.04, 99.06), (66.04, 104.14)),
            path((63.5, 99.06), (66.04, 99.06)) + junction((66.04, 99.06)),
            path((71.12, 101.6), (71.12, 104.14)) + path((81.28, 101.6), (81.28, 104.14)),
            path((93.98, RAIL_MM), (93.98, 85.09)) + path((93.98, 92.71), (93.98, 95.25)),
            path((114.3, 88.9), (114.3, 91.44)),
            path((132.08, RAIL_MM), (132.08, 85.09)) + path((132.08, 92.71), (132.08, 95.25)),
            path((147.32, RAIL_MM), (147.32, 85.09)) + path((147.32, 92.71), (147.32, 96.52)),
            path((147.32, 104.14), (147.32, 106.68)),
            path((162.56, 83.82), (160.02, 83.82), (160.02, 86.36)),
            path((165.1, 139.7), (165.1, 142.24)),
            label("CC1", (66.04, 86.36)) + label("CC2", (66.04, 91.44)) + label("LED_A", (147.32, 95.25)),
            *ports,
        ]
    )


def laid_out(words: str) -> str:
    """Indent as KiCad does, so that a diff of two commits is a diff of items."""
    lines: list[str] = []
    depth = 0
    for token in TOKEN.findall(words):
        if token.startswith("("):
            inline = lines and token.split()[0].strip("(") in INLINE
            lines.append(f" {token}" if inline else "\n" + "\t" * depth + token)
            depth += 1
        elif token == ")":
            depth -= 1
            lines.append(token)
        else:
            lines.append(f" {token}")
    return "".join(lines).lstrip() + "\n"


def write(folder: Path) -> None:
    """Write the schematic and `lib/power-board.kicad_sym`."""
    library = folder / "lib" / f"{LIBRARY}.kicad_sym"
    library.parent.mkdir(exist_ok=True)
    symbols = (
        '(kicad_symbol_lib (version 20241209) (generator "kicad_symbol_editor") (generator_version "9.0")\n'
        f"{all_symbols()}\n)\n"
    )
    library.write_text(laid_out(symbols), encoding="utf-8")
    title = f'(title_block (title "{TITLE}") (rev "A") (company "Acme Hardware") (comment 1 "USB-C 5 V in, 3.3 V out"))'
    parts = "\n".join(placed(part) for part in PARTS)
    sheet = (
        f'(kicad_sch {HEAD} (uuid "{ROOT}") (paper "A4") {title}\n'
        f"(lib_symbols\n{all_symbols(LIBRARY + ':')}\n)\n{wires()}\n{parts}\n"
        '(sheet_instances (path "/" (page "1"))) (embedded_fonts no))\n'
    )
    (folder / f"{TITLE}.kicad_sch").write_text(laid_out(sheet), encoding="utf-8")
