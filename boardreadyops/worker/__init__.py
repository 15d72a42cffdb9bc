"""Loops that carry what PostgreSQL owes the world: they meet the web only in the database."""
