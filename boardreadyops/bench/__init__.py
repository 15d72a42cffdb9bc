"""Measurements: what the guarded functions cost on this machine, against targets that are written down."""
