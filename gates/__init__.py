"""House rules that no linter knows, each a module of its own. Run with `python -m gates`."""
