"""KiCad's descriptions, said so that a hardware engineer knows where to look."""

import re
from collections.abc import Sequence

from boardreadyops.kicad.findings import MESSAGE_LIMIT_CHARACTERS

ITEMS_NAMED = 6
_MEASURED = re.compile(
    r"^(?P<what>.*?)\s*\(\s*(?P<rule>[^()]*?)\s*(?P<limit>-?[\d.]+) mm; actual (?P<actual>-?[\d.]+) mm\)$"
)
_LENGTH = re.compile(r", length -?[\d.]+ mm$")
_LAYER = re.compile(r"\bon ([A-Z][A-Za-z0-9]*\.[A-Za-z0-9]+)\b")
# The rule's own kind repeats what the sentence already says; only who set the limit is news.
_SETTER = re.compile(r"^(?P<who>.*?['s])\s+[a-z][a-z -]*$|^[a-z][a-z -]*$")


def clean(text: str, limit: int = MESSAGE_LIMIT_CHARACTERS) -> str:
    """One bounded line without control characters, NUL or lone surrogates."""
    valid = text[: 4 * limit].encode("utf-8", "replace").decode("utf-8")
    line = " ".join("".join(c if c.isprintable() else " " for c in valid).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def millimetres(number: str) -> str:
    """`0.2000` becomes `0.2 mm`."""
    return f"{float(number):.4f}".rstrip("0").rstrip(".") + " mm"


def item_words(description: str) -> str:
    """`Track [GND] on F.Cu, length 2.7 mm` becomes `track [GND] on F.Cu`."""
    words = _LENGTH.sub("", description)
    starts_a_sentence = words[:1].isupper() and words[1:2].islower()
    return words[:1].lower() + words[1:] if starts_a_sentence else words


def item_layer(description: str) -> str | None:
    """The first layer an item's description names."""
    found = _LAYER.search(description)
    return found.group(1) if found else None


def message(description: str, items: Sequence[str]) -> str:
    """Say the violation, then its items: `Clearance violation: 0.05 mm, rule 0.2 mm — pad 1 [VIN] of C1, …`."""
    text = description
    measured = _MEASURED.match(description)
    if measured and _is_number(measured["limit"]) and _is_number(measured["actual"]):
        setter = _SETTER.match(measured["rule"])
        who = measured["rule"] if setter is None else setter["who"]
        by = f" ({who})" if who else ""
        text = f"{measured['what']}: {millimetres(measured['actual'])}, rule {millimetres(measured['limit'])}{by}"
    named = [item_words(item) for item in items[:ITEMS_NAMED]]
    if len(items) > ITEMS_NAMED:
        named.append(f"{len(items) - ITEMS_NAMED} more")
    return clean(f"{text} — {', '.join(named)}" if named else text)


def _is_number(text: str) -> bool:
    return text.count(".") <= 1 and any(c.isdigit() for c in text)
