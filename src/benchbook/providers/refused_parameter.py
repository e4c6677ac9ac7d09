"""Which of the parameters that were sent a server refuses (SPEC R3.6a)."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from benchbook.canonical import decode_json
from benchbook.providers.error_body import Told

__all__ = ["refused_parameter"]

_request = msgspec.json.Decoder(dict[str, Any])
_NEVER = frozenset({"model", "messages"})  # what is asked, and whom: no parameters
# One of these stands in every refusal of a parameter, beside its name.
_REFUSAL = re.compile(
    r"""unsupported|not\ supported|n't\ support|not\ support|unknown|unrecogni[sz]ed|unexpected|not\ (?:be\ )?permitted
    |not\ (?:be\ )?allowed|forbidden|only\ one\ of|use\ only\ one|cannot|can't|can\ not|deprecated|must\ be|should\ be
    |instead|invalid|not\ valid|extra|exclusive|incompatible|not\ available|not\ accepted|out\ of\ range|no\ such
    |remove|too\ (?:large|high|low|big)|at\ (?:most|least)|less\ than|greater\ than|not\ implemented
    |does\ not\ exist""",
    re.IGNORECASE | re.VERBOSE,
)
# The item's own text is too long: other items may pass, whatever parameter counts against the same window.
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|prompt is too long|input (?:is )?too long"
    r"|too many (?:input )?tokens|string_above_max_length|got -[0-9]",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"\b(?:both|only one|together|exclusive|one of)\b", re.IGNORECASE)
# Names that are words too: in prose they are a parameter only where the sentence says so.
_WORDS = frozenset({"n", "stop", "seed", "user", "store", "stream", "tools", "metadata", "temperature", "functions"})


def refused_parameter(told: Told, request: bytes) -> str | None:
    """Its name; None where the refusal is about something else."""
    try:
        sent: list[str] = [name for name in decode_json(request, _request) if name not in _NEVER]
    except msgspec.DecodeError:
        return None
    if not sent or _TOO_LONG.search(told.text):
        return None
    for place in told.places:
        if place in sent:
            return place
        if place in _NEVER:
            return None
    if not _REFUSAL.search(told.text):
        return None
    named = sorted((found.start(), name) for name in sent if (found := _mention(name).search(told.message)))
    if not named:
        return None
    if len(named) > 1 and _TOGETHER.search(told.message):
        names = [name for _, name in named]
        return "top_p" if "top_p" in names else names[-1]  # of two that exclude each other, the one of less weight
    return named[0][1]


def _mention(name: str) -> re.Pattern[str]:
    """The name as a parameter: quoted, or beside the words that make it one."""
    word = re.escape(name)
    if name not in _WORDS:
        return re.compile(rf"(?<![\w-]){word}(?![\w-])")
    return re.compile(
        rf"""(?:[`'"]|\b(?:parameters?|arguments?|fields?|names?|propert(?:y|ies)|options?|keys?|supplied)\b[^.\n]{{0,20}}?)
        (?<!\w){word}(?!\w)
        |(?<!\w){word}[`'"]?\ (?:is\ (?:not|un|dep|no\ |only|in)|isn't|must|should|cannot|can't|does\ not|doesn't)
        |(?:\A|\.){word}:
        |(?<!\w){word}[`'"]?\ (?:may\ not|parameter|value|field)
        |(?:\band|\bor|\bboth)\ [`'"]?{word}(?!\w)
        |\b(?:unsupported|unknown|unrecognized|unexpected|invalid)\ (?:value\ for\ )?{word}(?!\w)""",
        re.IGNORECASE | re.VERBOSE,
    )
