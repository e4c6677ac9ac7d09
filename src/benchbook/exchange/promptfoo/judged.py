"""How the replies of judges were read, as far as a file of promptfoo shows it.

promptfoo reads them leniently: what a reply lacks is filled in (a pass, a score of 1), texts are taken for numbers, and
a reply that can't be read is a score of 0. The replies themselves are not in its files.
"""

from __future__ import annotations

import re

from benchbook.exchange.json_text import number_of
from benchbook.exchange.promptfoo.results import Assertion, Grading

_JUDGED = frozenset(
    (
        "agent-rubric",
        "answer-relevance",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "conversation-relevance",
        "factuality",
        "g-eval",
        "llm-rubric",
        "model-graded-closedqa",
        "model-graded-factuality",
        "search-rubric",
        "select-best",
        "trajectory:goal-success",
    )
)
_OF_ATTACKS = "promptfoo:redteam:"

# Of versions that don't mark it otherwise.
_UNREADABLE = re.compile(r"Could not extract JSON from |No output$|.{0,80} produced malformed response")
_FILLED_IN = re.compile(r"Grading passed$|Score \S+ below threshold ")


def is_judged(assertion: Assertion) -> bool:
    """True if a model judges it."""
    kind = (assertion.type or "").removeprefix("not-")
    return kind in _JUDGED or kind.startswith(_OF_ATTACKS)


def is_unreadable(grading: Grading) -> bool:
    """True if a judge was asked whose reply promptfoo could not read: its score of 0 is nobody's word."""
    if grading.metadata is not None and grading.metadata.grader_error is True:
        return True
    judged = grading.assertion is not None and is_judged(grading.assertion)
    return judged and grading.score == 0 and bool(_UNREADABLE.match(_reason(grading)))


def guess(grading: Grading) -> str | None:
    """Why a judge's word can only be had by guess; None if nothing shows it, or nobody judged."""
    if grading.assertion is None or not is_judged(grading.assertion):
        return None
    if _FILLED_IN.match(_reason(grading)):
        return "the judge gave no reason; what its reply lacked was filled in"
    if isinstance(grading.passed, str) or isinstance(grading.score, str):
        return "the judge's reply has texts where a truth value and a number belong"
    if number_of(grading.assertion.weight) == 0:  # it always passes
        return None
    if grading.passed and grading.score == 0:
        return "the judge's reply passes it with a score of 0"
    if grading.passed is False and grading.score == 1:
        return "the judge's reply fails it with a score of 1"
    return None


def _reason(grading: Grading) -> str:
    return grading.reason if isinstance(grading.reason, str) else ""
