"""A control plane that gives every KiCad pull request one trustworthy answer.

Start reading at `domain/lifecycle.py` (states and edges) and `sql/functions/` (who decides).
"""

__version__ = "0.1.0"
