"""What the board is made of: one table that the schematic and the board both draw from."""

from dataclasses import dataclass, field
from uuid import UUID, uuid5

NAMESPACE = UUID("b0a2dced-0b0a-5eed-9000-706f77657262")
LIBRARY = "power-board"
TITLE = "power-board"


def identifier(*words: str) -> str:
    """The same words give the same UUID."""
    return str(uuid5(NAMESPACE, "/".join(words)))


@dataclass(frozen=True)
class Part:
    """One part: where it stands on both drawings, and which net each of its pins is on."""

    reference: str
    symbol: str
    value: str
    footprint: str
    description: str
    sheet_mm: tuple[float, float]
    board_mm: tuple[float, float]
    board_degrees: float = 0
    sheet_degrees: int = 0
    nets: dict[str, str] = field(default_factory=dict)

    @property
    def uuid(self) -> str:
        """Identifier of the symbol; the footprint's path names it."""
        return identifier("symbol", self.reference)


def hole(number: int, x_mm: float, y_mm: float) -> Part:
    """A mounting hole in one of the corners."""
    at = (55.88 + 12.7 * number, 139.7)
    return Part(f"H{number}", "MountingHole", "M3", "MountingHole_M3", "Mounting hole M3", at, (x_mm, y_mm))


USB_NETS = {
    "A9": "VBUS", "B9": "VBUS", "A5": "/CC1", "B5": "/CC2", "A12": "GND", "B12": "GND", "S1": "GND",
}  # fmt: skip

PARTS = (
    Part("J1", "USB_C_Power", "USB-C 5V", "USB_C_Receptacle_Power", "USB-C receptacle, power only",
         (50.8, 88.9), (3.7, 15), -90, nets=USB_NETS),
    Part("R1", "R", "5.1k", "R_0603", "Resistor", (81.28, 97.79), (12.2, 13.9),
         nets={"1": "/CC1", "2": "GND"}),
    Part("R2", "R", "5.1k", "R_0603", "Resistor", (71.12, 97.79), (12.2, 16.1),
         nets={"1": "/CC2", "2": "GND"}),
    Part("C1", "C", "10u", "C_0805", "Capacitor", (93.98, 88.9), (14.5, 20.5), -90,
         nets={"1": "VBUS", "2": "GND"}),
    Part("U1", "AMS1117-3.3", "AMS1117-3.3", "SOT-223", "LDO regulator 3.3 V", (114.3, 81.28), (22, 16),
         nets={"1": "GND", "2": "+3V3", "3": "VBUS"}),
    Part("C2", "C", "22u", "C_0805", "Capacitor", (132.08, 88.9), (29.5, 16.95), -90,
         nets={"1": "+3V3", "2": "GND"}),
    Part("R3", "R", "1k", "R_0603", "Resistor", (147.32, 88.9), (33.5, 12.8), 90,
         nets={"1": "+3V3", "2": "/LED_A"}),
    Part("D1", "LED", "green", "LED_0603", "Light-emitting diode", (147.32, 100.33), (33.5, 9.2), -90, 90,
         nets={"1": "GND", "2": "/LED_A"}),
    Part("J2", "Conn_01x02", "3V3 out", "PinHeader_1x02", "Pin header, 2.54 mm", (167.64, 81.28), (39.5, 16),
         nets={"1": "+3V3", "2": "GND"}),
    hole(1, 3.5, 3.5),
    hole(2, 40.5, 3.5),
    hole(3, 3.5, 26.5),
    hole(4, 40.5, 26.5),
)  # fmt: skip
