"""The exit codes of every command."""

from typing import Final

GOOD: Final = 0
BAD_RESULT: Final = 1
USAGE: Final = 2  # a wrong argument or setting
NOT_AVAILABLE: Final = 3  # a port, a folder, a database, a program that is not there
INTERRUPTED: Final = 130  # Ctrl-C
BROKEN_PIPE: Final = 141  # nobody reads on
