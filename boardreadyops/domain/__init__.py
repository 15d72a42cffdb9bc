"""The lifecycle described for pages, documents and tests. Standard library only, no clock, no I/O; PostgreSQL decides."""
