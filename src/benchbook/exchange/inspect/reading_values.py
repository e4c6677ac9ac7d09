"""Inspect's values as numbers, under the names under which the results claim them.

A value is a number, a truth value, a text, or several of them by name or in a row: each of several is then a score of
its own.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from benchbook.exchange.inspect.reading_forms import InspectScore, InspectScores
from benchbook.exchange.inspect.reading_judges import InspectJudges
from benchbook.exchange.json_text import NOT_A_NUMBER
from benchbook.exchange.log import LogScore
from benchbook.text import shorten

_NUMBERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_OF_PARTS = "a value of several parts"
_REASON = msgspec.json.Decoder(dict[str, msgspec.Raw])


def as_number(value: Any) -> float | None:
    """The number that Inspect's metrics take a value for; None where it is none, or no finite one."""
    if isinstance(value, str):
        number = _NUMBERS.get(value)
        if number is None:
            number = _WORDS.get(value.lower())
        if number is not None:
            return number
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


class ScoreNames:
    """Names of scores. The part of a value has its own, as in the results, or is `scorer.part` where that is taken."""

    def __init__(self, results: Sequence[InspectScores]) -> None:
        owners: dict[str, set[str]] = defaultdict(set)
        for one in results:
            owners[one.name].add(one.scorer or one.name)
        self._plain = {(scorer, name) for name, scorers in owners.items() for scorer in scorers if len(scorers) == 1}
        self._whole = {name for name, scorers in owners.items() if name in scorers}
        self.only = results[0].name if results else "score"  # of version 1, where a sample does not name it

    def of(self, scorer: str, part: str) -> str:
        """The name of a value's part, or of the whole where both are the same."""
        return part if part == scorer or (scorer, part) in self._plain else f"{scorer}.{part}"

    def claims_whole(self, scorer: str) -> bool:
        """True if the results have numbers of a scorer's whole values."""
        return scorer in self._whole


def scores_of(
    scorer: str, score: InspectScore, names: ScoreNames, judged: InspectJudges, seen: Counter[str]
) -> Iterator[tuple[str, LogScore]]:
    """A scorer's word on a sample, under one name or several. What is to be noted of it is counted in `seen`."""
    history = score.history or ()
    if len(history) > 1 or any(b'"provenance"' in one for one in map(bytes, history)):
        seen["edited_score"] += 1
    value = score.value
    if isinstance(value, Mapping | list):
        named = value.items() if isinstance(value, Mapping) else ((str(n), one) for n, one in enumerate(value, start=1))
        for part, one in named:
            if one is None:
                seen["null_part"] += 1
            yield names.of(scorer, str(part)), _scored(score, one, seen)
        if names.claims_whole(scorer):
            yield scorer, _with_words(LogScore(value=None, unscored=_OF_PARTS), score)
        return
    made = _scored(score, value, seen)
    if made.value is not None:
        made.guessed = judged.doubt(scorer, score, made.said)
    yield scorer, made


def _scored(score: InspectScore, value: Any, seen: Counter[str]) -> LogScore:
    number = as_number(value)
    if number is not None:
        return _with_words(LogScore(value=number, said=value if isinstance(value, str) else None), score)
    if isinstance(value, str) and value.lower().lstrip("-") not in ("nan", "infinity", "inf", "+inf"):
        seen["no_number"] += 1
        return _with_words(LogScore(value=0.0, said=value), score)
    return _with_words(LogScore(value=None, unscored=_reason(score, value)), score)


def _with_words(made: LogScore, score: InspectScore) -> LogScore:
    made.answer, made.explanation = as_text(score.answer), as_text(score.explanation)
    return made


def _reason(score: InspectScore, value: Any) -> str:
    """Why nothing was scored, in a word or a few."""
    if isinstance(score.reason, str) and score.reason:
        return shorten(score.reason, 80)
    if b'"unscored_reason"' in bytes(score.metadata):
        reason = as_text(msgspec.json.decode(_REASON.decode(score.metadata)["unscored_reason"]))
        if reason:
            return shorten(reason, 80)
    if value is None:
        return "null"
    return (
        NOT_A_NUMBER if not isinstance(value, str | float | int) or str(value).lower() == "nan" else "no finite number"
    )


def as_text(value: Any) -> str | None:
    """A text as it is, and another JSON value as JSON."""
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()
