"""Judges of Inspect's evals: who judged, and whether their reply says the verdict that was taken from it.

`model_graded_qa` and `model_graded_fact` search the reply for `GRADE: C` and its like, in whatever case and place. Only
a reply with one such verdict, a single capital letter which is the score's value, says it beyond doubt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from benchbook.exchange.inspect.reading_forms import InspectHeader, InspectScore, InspectScores
from benchbook.text import quoted, shorten

_GRADERS = ("model_graded_qa", "model_graded_fact")
_ROLE = "grader"
_VERDICT = re.compile(r"(?<!\w)(GRADE)(?!\w)\s*:\s*(\w*)", re.IGNORECASE)
_NOT_FOUND = "Grade not found in model output"
_MOST_SHOWN = 5


class InspectJudges:
    """The scorers of a log that are judges."""

    def __init__(self, header: InspectHeader, results: list[InspectScores]) -> None:
        self._header = header
        self._params: dict[str, Any] = {}
        for one in results:
            if isinstance(one.params, Mapping):
                self._params[one.scorer or one.name] = one.params
        scorers = header.eval.scorers if isinstance(header.eval.scorers, list) else []
        for told in scorers:
            if isinstance(told, Mapping) and isinstance(told.get("options"), Mapping):
                self._params.setdefault(str(told.get("name")), told["options"])

    def judge(self, scorer: str) -> str | None:
        """The model that judges under a scorer's name: the one it was given, or that of its role, or the evaluated one.

        None for one that is no judge.
        """
        params = self._params.get(scorer, {})
        if not self._is_judge(scorer):
            return None
        roles = self._header.eval.model_roles
        role = params.get("model_role") or _ROLE
        bound = roles.get(role if isinstance(role, str) else _ROLE) if isinstance(roles, Mapping) else None
        return _models(params.get("model")) or _models(bound) or self._header.eval.model

    def doubt(self, scorer: str, score: InspectScore, said: str | None) -> str | None:
        """Why a verdict can only be read by guess from the judge's reply; None where it can't be doubted.

        Nor is it where nobody judged, or where a person changed the score since.
        """
        if score.history or not (self._is_judge(scorer) or b'"grading"' in bytes(score.metadata)):
            return None
        pattern = self._params.get(scorer, {}).get("grade_pattern")
        if isinstance(pattern, str):
            return f"its verdict is found by a pattern of its own, {quoted(pattern)}"
        if not isinstance(score.explanation, str):
            return "the judge's reply is not in the log"
        return doubt_of(score.explanation, said)

    def _is_judge(self, scorer: str) -> bool:
        return scorer.startswith(_GRADERS)


def doubt_of(reply: str, said: str | None) -> str | None:
    """Why a reply does not say a verdict beyond doubt."""
    if reply.startswith(_NOT_FOUND):
        return "no verdict was found in the judge's reply, which counts as a wrong answer"
    verdicts = _VERDICT.findall(reply)
    if not verdicts:
        return "the judge's reply has no `GRADE:`"
    if len(verdicts) > 1:
        shown = ", ".join(quoted(verdict, 20) for _, verdict in verdicts[:_MOST_SHOWN])
        return f"the judge's reply has several verdicts: {shown}{', …' if len(verdicts) > _MOST_SHOWN else ''}"
    ((word, verdict),) = verdicts
    if len(verdict) != 1:
        return f"the judge's verdict is {quoted(verdict, 20)}, and no single letter"
    if word != word.upper() or verdict != verdict.upper():
        return "the judge's verdict is in lower case"
    return None if verdict == said else f"the judge's verdict is {verdict}, and the value {shorten(str(said), 20)}"


def _models(given: Any) -> str | None:
    """The names of models: of one, of one with its settings, or of several."""
    if isinstance(given, Mapping):
        given = given.get("model")
    if isinstance(given, list):
        return ", ".join(filter(None, map(_models, given))) or None
    return given if isinstance(given, str) and given else None
