"""GitHub: what it sends us and what we ask it. All but `client` is without I/O and without a clock."""
