"""Scores in replies that are text: strictly, where the reply is what was asked for, or else by a guess."""

from __future__ import annotations

import re

from published_judges.judgement import Reading

_WORDS = {"one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0}
_NUMBER = r"(?<![\d.])[1-5](?:\.\d+)?(?![\d.]*\d)"
_OF_FIVE = r"(?:\s*(?:/|out of)\s*(?:5|five))?"
_FINAL = re.compile(rf"\bscore\b[^\d.\n]{{0,20}}?({_NUMBER}){_OF_FIVE}[.!*\"\s]*\Z", re.IGNORECASE)
_SAID = re.compile(rf"\bscor(?:e|ing)\b[^.\n]*?({_NUMBER}|\b(?:one|two|three|four|five)\b)", re.IGNORECASE)
_ANY = re.compile(rf"({_NUMBER}){_OF_FIVE}", re.IGNORECASE)
_STARS = re.compile(rf"({_NUMBER})\s*stars?\.?", re.IGNORECASE)
_STARS_SAID = re.compile(rf"({_NUMBER}|\b(?:one|two|three|four|five)\b)[\s-]*star", re.IGNORECASE)
_LETTER = re.compile(r"\s*(?:summary\s*)?#?([A-E])\b(?!['’])", re.IGNORECASE)

Found = tuple[float | None, Reading]
"""A score, and how it was had."""


def grade_at_the_end(reply: str) -> Found:
    """The grade, 1 to 5, of a reply that was asked to end with its score.

    Strict: the word score stands once, and the reply ends with its number. A guess: the last number or word that is
    called a score; or else the last number from 1 to 5, whatever it counts.
    """
    final = _FINAL.search(reply)
    if final is not None and len(re.findall(r"\bscor(?:e|ing)\b", reply, re.IGNORECASE)) == 1:
        return _in_range(final[1], "strict")
    return _guess(reply, (_FINAL, _SAID, _ANY))


def stars(reply: str) -> Found:
    """The number of stars, 1 to 5. Strict: nothing else was said."""
    alone = _STARS.fullmatch(reply.strip())
    return _in_range(alone[1], "strict") if alone is not None else _guess(reply, (_STARS_SAID, _ANY))


def letter(reply: str, letters: str) -> tuple[str | None, Reading]:
    """One of `letters`. Strict: the reply is the letter. A guess: it begins with it."""
    if len(reply.strip()) == 1 and reply.strip() in letters:
        return reply.strip(), "strict"
    begun = _LETTER.match(reply)
    if begun is not None and begun[1].upper() in letters:
        return begun[1].upper(), "guess"
    return None, "none"


def _guess(reply: str, patterns: tuple[re.Pattern[str], ...]) -> Found:
    for pattern in patterns:
        found: list[str] = pattern.findall(reply)
        if found:
            return _in_range(found[-1], "guess")
    return None, "none"


def _in_range(said: str, reading: Reading) -> Found:
    value = _WORDS.get(said.lower()) or float(said)
    return (value, reading) if 1 <= value <= 5 else (None, "none")
