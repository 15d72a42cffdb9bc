"""Times, durations and states in the words of the pages. `static/live.js` keeps the times going with the same words."""

from __future__ import annotations

from datetime import UTC, datetime

# What a mark means when it stands in a list, where the headline would be too long.
STATE_WORDS = {
    "●": "ready",
    "■": "not ready",
    "△": "could not check",
    "◐": "checking",
    "○": "waiting",
    "◔": "timed out",
    "⊘": "cancelled",
    "⇢": "superseded",
}
MINUTE_SECONDS = 60
HOUR_SECONDS = 3_600
DAY_SECONDS = 86_400
DAYS_IN_WORDS = 30  # an older time is a date


def ago(moment: datetime, now: datetime) -> str:
    """How long ago something was, as people say it."""
    seconds = (now - moment).total_seconds()
    days = int(seconds // DAY_SECONDS)
    if seconds < 5:
        return "just now"
    if seconds < MINUTE_SECONDS:
        return f"{int(seconds)} s ago"
    if seconds < HOUR_SECONDS:
        return f"{int(seconds // MINUTE_SECONDS)} min ago"
    if seconds < DAY_SECONDS:
        return f"{int(seconds // HOUR_SECONDS)} h ago"
    if days <= DAYS_IN_WORDS:
        return "yesterday" if days == 1 else f"{days} days ago"
    return f"{moment.astimezone(UTC):%-d %b %Y}"


def lasting(seconds: float) -> str:
    """A duration in its two largest units."""
    whole = int(seconds)
    if seconds < 1:
        return "under 1 s"
    if whole < MINUTE_SECONDS:
        return f"{whole} s"
    units = (("d", DAY_SECONDS), ("h", HOUR_SECONDS), ("min", MINUTE_SECONDS), ("s", 1))
    parts: list[str] = []
    for name, size in units:
        amount, whole = divmod(whole, size)
        if amount:
            parts.append(f"{amount} {name}")
        if len(parts) == 2 or (parts and not amount):
            break
    return " ".join(parts)


def exact(moment: datetime) -> str:
    """The time to the second, UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def iso(moment: datetime) -> str:
    """The time as a machine reads it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
