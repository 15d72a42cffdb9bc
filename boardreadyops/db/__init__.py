"""PostgreSQL: the only package that speaks to it."""
