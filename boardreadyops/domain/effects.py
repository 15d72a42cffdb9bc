"""How a request to GitHub can fail, and what that means for trying again."""

from __future__ import annotations

from typing import Literal

# gone: never again. denied, rate_limited, transient: later. uncertain: it may have been executed, so read first.
ErrorClass = Literal["gone", "denied", "rate_limited", "transient", "uncertain"]
