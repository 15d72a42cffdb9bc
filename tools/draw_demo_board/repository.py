"""The texts around the board: README, .gitignore, library tables."""

from pathlib import Path

README = """# power-board

A small 5 V → 3.3 V supply: USB-C in, LDO, power LED, two-pin header out. Two layers, 44 × 30 mm.

| part | what |
|---|---|
| J1 | USB-C receptacle, power only; R1 and R2 (5.1 kΩ) ask the source for 5 V |
| U1 | AMS1117-3.3, SOT-223, up to 800 mA with the copper around its tab |
| C1, C2 | 10 µF in, 22 µF out |
| R3, D1 | power LED |
| J2 | 3.3 V and GND, 2.54 mm pitch |

Open `power-board.kicad_pro` with KiCad 9. Symbols and footprints come from `lib/`; no other library is needed.
Design rules: 0.2 mm clearance, 0.2 mm tracks, 0.5 mm copper to edge, 0.3 mm drill.

Licence: CERN-OHL-P-2.0
"""

GITIGNORE = """# KiCad's own leavings
*.kicad_prl
*.lck
*-backups/
fp-info-cache
_autosave-*
~*.lck

# made, not drawn
fabrication/
"""

FOOTPRINT_TABLE = """(fp_lib_table
  (version 7)
  (lib (name "power-board")(type "KiCad")(uri "${KIPRJMOD}/lib/power-board.pretty")(options "")\
(descr "Footprints of this board"))
)
"""

SYMBOL_TABLE = """(sym_lib_table
  (version 7)
  (lib (name "power-board")(type "KiCad")(uri "${KIPRJMOD}/lib/power-board.kicad_sym")(options "")\
(descr "Symbols of this board"))
)
"""


def write_texts(folder: Path) -> None:
    """Write what is not drawn; every stage has the same."""
    (folder / "README.md").write_text(README, encoding="utf-8")
    (folder / ".gitignore").write_text(GITIGNORE, encoding="utf-8")
    (folder / "fp-lib-table").write_text(FOOTPRINT_TABLE, encoding="utf-8")
    (folder / "sym-lib-table").write_text(SYMBOL_TABLE, encoding="utf-8")
