"""Probe kicad-cli, run it, read its reports. Exit code 0 proves nothing; a report must prove itself."""
