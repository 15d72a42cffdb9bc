from tests.kicad.boards import checkout, kicad_cli, workspace

__all__ = ["checkout", "kicad_cli", "workspace"]
