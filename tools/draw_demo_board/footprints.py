"""Draw the footprint library with pcbnew."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pcbnew

LINE_MM = 0.12


def mm(x: float, y: float) -> pcbnew.VECTOR2I:
    """Millimetres to KiCad's nanometres."""
    return pcbnew.VECTOR2I(pcbnew.FromMM(x), pcbnew.FromMM(y))


@dataclass(frozen=True)
class Pad:
    """A pad: number, centre, size; with a drill it goes through the board."""

    number: str
    x_mm: float
    y_mm: float
    width_mm: float
    height_mm: float
    drill_mm: tuple[float, float] | None = None
    square: bool = False


def add_pad(footprint: pcbnew.FOOTPRINT, pad: Pad) -> None:
    """Add one pad."""
    made = pcbnew.PAD(footprint)
    made.SetNumber(pad.number)
    made.SetSize(mm(pad.width_mm, pad.height_mm))
    made.SetPosition(mm(pad.x_mm, pad.y_mm))
    if pad.drill_mm is None:
        made.SetAttribute(pcbnew.PAD_ATTRIB_SMD)
        made.SetShape(pcbnew.PAD_SHAPE_ROUNDRECT)
        made.SetRoundRectRadiusRatio(0.2)
        made.SetLayerSet(pcbnew.PAD.SMDMask())
    else:
        made.SetAttribute(pcbnew.PAD_ATTRIB_PTH if pad.number else pcbnew.PAD_ATTRIB_NPTH)
        made.SetShape(pcbnew.PAD_SHAPE_RECT if pad.square else pcbnew.PAD_SHAPE_OVAL)
        slot = pad.drill_mm[0] != pad.drill_mm[1]
        made.SetDrillShape(pcbnew.PAD_DRILL_SHAPE_OBLONG if slot else pcbnew.PAD_DRILL_SHAPE_CIRCLE)
        made.SetDrillSize(mm(*pad.drill_mm))
        made.SetLayerSet(pcbnew.PAD.PTHMask() if pad.number else pcbnew.PAD.UnplatedHoleMask())
    footprint.Add(made)


def add_shape(footprint: pcbnew.FOOTPRINT, kind: int, layer: int, start: tuple[float, float],
              end: tuple[float, float], width_mm: float = LINE_MM) -> None:  # fmt: skip
    """Add a line, rectangle or circle."""
    shape = pcbnew.PCB_SHAPE(footprint, kind)
    shape.SetLayer(layer)
    shape.SetStart(mm(*start))
    shape.SetEnd(mm(*end))
    shape.SetWidth(pcbnew.FromMM(width_mm))
    footprint.Add(shape)


def lines(footprint: pcbnew.FOOTPRINT, *strokes: tuple[float, float, float, float]) -> None:
    """Add silkscreen strokes."""
    for x, y, x2, y2 in strokes:
        add_shape(footprint, pcbnew.SHAPE_T_SEGMENT, pcbnew.F_SilkS, (x, y), (x2, y2))


def bodies(footprint: pcbnew.FOOTPRINT, body: tuple[float, float, float, float],
           courtyard: tuple[float, float, float, float]) -> None:  # fmt: skip
    """Add the outline of the body and the courtyard around everything."""
    add_shape(footprint, pcbnew.SHAPE_T_RECT, pcbnew.F_Fab, body[:2], body[2:], 0.1)
    add_shape(footprint, pcbnew.SHAPE_T_RECT, pcbnew.F_CrtYd, courtyard[:2], courtyard[2:], 0.05)


def chip(
    length_mm: float, height_mm: float, pad_mm: float, pitch_mm: float
) -> Callable[[pcbnew.FOOTPRINT], None]:
    """A two-pad chip: resistor, capacitor or LED."""

    def fill(footprint: pcbnew.FOOTPRINT) -> None:
        half = pitch_mm / 2
        for number, x in (("1", -half), ("2", half)):
            add_pad(footprint, Pad(number, x, 0, pad_mm, height_mm + 0.15))
        edge = half + pad_mm / 2 + 0.25
        top = height_mm / 2 + 0.33
        bodies(
            footprint,
            (-length_mm / 2, -height_mm / 2, length_mm / 2, height_mm / 2),
            (-edge, -top, edge, top),
        )
        silk_x, silk_y = half - pad_mm / 2 - 0.16, height_mm / 2 + 0.1
        lines(footprint, (-silk_x, -silk_y, silk_x, -silk_y), (-silk_x, silk_y, silk_x, silk_y))

    return fill


def led(footprint: pcbnew.FOOTPRINT) -> None:
    """A 0603 LED: a bar marks the cathode, pad 1."""
    chip(1.6, 0.8, 0.8, 1.6)(footprint)
    lines(footprint, (-1.4, -0.55, -1.4, 0.55))


def regulator(footprint: pcbnew.FOOTPRINT) -> None:
    """SOT-223: three pins and a tab that is pin 2."""
    for number, y in (("1", -2.3), ("2", 0.0), ("3", 2.3)):
        add_pad(footprint, Pad(number, -3.15, y, 2, 1.5))
    add_pad(footprint, Pad("2", 3.15, 0, 2, 3.8))
    bodies(footprint, (-1.75, -3.25, 1.75, 3.25), (-4.4, -3.6, 4.4, 3.6))
    lines(footprint, (-1.85, -3.4, 1.85, -3.4), (1.85, -3.4, 1.85, -2.2), (-1.85, 3.4, 1.85, 3.4),
          (1.85, 3.4, 1.85, 2.2), (-3.9, -3.3, -2.6, -3.3))  # fmt: skip


def header(footprint: pcbnew.FOOTPRINT) -> None:
    """A 1 × 2 pin header."""
    add_pad(footprint, Pad("1", 0, 0, 1.7, 1.7, (1, 1), square=True))
    add_pad(footprint, Pad("2", 0, 2.54, 1.7, 1.7, (1, 1)))
    bodies(footprint, (-1.27, -1.27, 1.27, 3.81), (-1.8, -1.8, 1.8, 4.34))
    lines(footprint, (-1.38, -1.38, 1.38, -1.38), (1.38, -1.38, 1.38, 3.92), (1.38, 3.92, -1.38, 3.92),
          (-1.38, 3.92, -1.38, -1.38))  # fmt: skip


def receptacle(footprint: pcbnew.FOOTPRINT) -> None:
    """A USB-C receptacle for power only; it opens towards +Y."""
    for number, x, width in (("A12", -2.75, 0.8), ("B9", -1.52, 0.76), ("A5", -0.5, 0.7), ("B5", 0.5, 0.7),
                             ("A9", 1.52, 0.76), ("B12", 2.75, 0.8)):  # fmt: skip
        add_pad(footprint, Pad(number, x, -3.6, width, 1.2))
    for x in (-4.32, 4.32):
        add_pad(footprint, Pad("S1", x, -2.6, 1.1, 2.0, (0.6, 1.5)))
        add_pad(footprint, Pad("S1", x, 1.2, 1.1, 1.8, (0.6, 1.3)))
    bodies(footprint, (-4.47, -3.1, 4.47, 3.7), (-5.2, -4.5, 5.2, 4.2))
    lines(footprint, (-4.6, -1.3, -4.6, 0.0), (4.6, -1.3, 4.6, 0.0))


def mounting_hole(footprint: pcbnew.FOOTPRINT) -> None:
    """An unplated M3 hole that keeps copper away from the screw's head."""
    add_pad(footprint, Pad("", 0, 0, 3.2, 3.2, (3.2, 3.2)))
    add_shape(footprint, pcbnew.SHAPE_T_CIRCLE, pcbnew.F_CrtYd, (0, 0), (3.2, 0), 0.05)
    add_shape(footprint, pcbnew.SHAPE_T_CIRCLE, pcbnew.F_SilkS, (0, 0), (2.9, 0))


@dataclass(frozen=True)
class Outline:
    """A footprint of the library; texts stand above and below it."""

    description: str
    fill: Callable[[pcbnew.FOOTPRINT], None]
    reference_mm: tuple[float, float]
    surface: bool = True


OUTLINES = {
    "USB_C_Receptacle_Power": Outline("USB-C receptacle, power only", receptacle, (0, -5.2), surface=False),
    "R_0603": Outline("Resistor 0603 (1608 metric)", chip(1.6, 0.8, 0.8, 1.6), (0, -1.43)),
    "C_0805": Outline("Capacitor 0805 (2012 metric)", chip(2.0, 1.25, 1.0, 1.9), (0, -1.68)),
    "LED_0603": Outline("LED 0603 (1608 metric)", led, (0, -1.43)),
    "SOT-223": Outline("SOT-223, tab is pin 2", regulator, (0, -4.4)),
    "PinHeader_1x02": Outline("Pin header 1 × 2, 2.54 mm", header, (0, -2.3), surface=False),
    "MountingHole_M3": Outline("Mounting hole 3.2 mm, M3", mounting_hole, (0, -4.1)),
}


def make(name: str, outline: Outline) -> pcbnew.FOOTPRINT:
    """Draw one footprint."""
    footprint = pcbnew.FOOTPRINT(None)
    footprint.SetFPID(pcbnew.LIB_ID("", name))
    footprint.SetLibDescription(outline.description)
    footprint.SetReference("REF**")
    footprint.SetValue(name)
    attributes = pcbnew.FP_SMD if outline.surface else pcbnew.FP_THROUGH_HOLE
    if name.startswith("MountingHole"):
        attributes = pcbnew.FP_EXCLUDE_FROM_POS_FILES | pcbnew.FP_EXCLUDE_FROM_BOM
    footprint.SetAttributes(attributes)
    x, y = outline.reference_mm
    for text, layer, place in (
        (footprint.Reference(), pcbnew.F_SilkS, (x, y)),
        (footprint.Value(), pcbnew.F_Fab, (x, -y)),
    ):
        text.SetLayer(layer)
        text.SetPosition(mm(*place))
        text.SetTextSize(mm(0.8, 0.8))
        text.SetTextThickness(pcbnew.FromMM(0.12))
    if name.startswith("MountingHole"):
        footprint.Reference().SetVisible(False)
    outline.fill(footprint)
    return footprint


def write_library(folder: Path) -> None:
    """Write every footprint into a `.pretty` folder."""
    folder.mkdir(parents=True)
    plugin = pcbnew.PCB_IO_KICAD_SEXPR()
    for name, outline in sorted(OUTLINES.items()):
        plugin.FootprintSave(str(folder), make(name, outline))
