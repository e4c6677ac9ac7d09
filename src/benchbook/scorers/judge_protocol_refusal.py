"""Tells a judge that declines from one that judges (SPEC P4, JUDGE_REFUSAL_OR_EVASION)."""

from __future__ import annotations

import re
from functools import cache

from benchbook.scorers.judge_protocol_spec import SPEC_ID, protocol
from benchbook.specs import load_spec

__all__ = ["declines", "has_scores", "opens_json"]

_JSON_OPENINGS = ("{", "[", "```")
_QUOTED = re.compile(r'"[^"]*"')
# A refusal is said at once; a megabyte is not searched for one.
_MAX_READ = 20_000


def declines(text: str) -> bool:
    """The text says in the first person that it does not judge what it was given.

    Only the act as a whole counts: "I can't evaluate this text", not "I can't evaluate the accuracy of its dates",
    which is a judge that says how far it went. What stands in double quotes is somebody else's word.
    """
    plain = text[:_MAX_READ].casefold().replace("’", "'").replace("“", '"').replace("”", '"')
    return _refusal_pattern().search(" ".join(_QUOTED.sub(" ", plain).split())) is not None


def has_scores(text: str) -> bool:
    """A dimension is given a number somewhere in a text that could not be read as an object."""
    return _scored_pattern().search(text) is not None


def opens_json(text: str) -> bool:
    """The text sets out to be JSON, if only behind a fence."""
    return text.lstrip("\ufeff \t\r\n").startswith(_JSON_OPENINGS)


@cache
def _scored_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(protocol().dimensions)})[\"'*`]{{0,3}}\s*[:=]\s*[\"'*`]{{0,3}}\s*\d")


@cache
def _refusal_pattern() -> re.Pattern[str]:
    words = load_spec(SPEC_ID).settings["refusal"]
    openings, acts, things, phrases = ("|".join(map(re.escape, words[name])) for name in _WORD_LISTS)
    judged_text = rf"(?: (?:it|this|that|(?:(?:this|that|the|your|given|provided|above) )+(?:{things})))?"
    return re.compile(rf"\b(?:{openings}) (?:{acts}){judged_text}(?=[.,;:!?]|$| because\b| as\b| since\b)|{phrases}")


_WORD_LISTS = ("openings", "acts", "things", "phrases")
