"""The demo meets the same kicad-cli as the checks do."""

from tests.kicad.boards import kicad_cli

__all__ = ["kicad_cli"]
