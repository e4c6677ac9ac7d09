"""`answer_correctness@v1` for one item: its correctness, and the reason for a miss (SPEC A1 to A3, A7).

The reference. `columns` computes the same over whole columns.
"""

from __future__ import annotations

from typing import Literal, get_args

from benchbook.errors import UsageError
from benchbook.evaluators.exact import same_number

SPEC_ID = "answer_correctness@v1"

AnswerFormat = Literal["answer_prefix"]
MissReason = Literal["no_prediction", "expected_inside_longer_text", "numerically_equal", "different"]
REASONS: tuple[MissReason, ...] = get_args(MissReason)

_PREFIX = "answer:"


def normalize(text: str) -> str:
    """White space at both ends stripped, then case folded; nothing else (SPEC A1)."""
    return text.strip().casefold()


def compared_text(predicted: str | None, answer_format: AnswerFormat | None = None) -> str | None:
    """The part of a prediction that is compared (SPEC A2); None where there is no prediction.

    Under `answer_prefix` it is what follows the last `Answer:` that opens a line, up to that line's end. Without such
    a line, and without a format, it is the whole text.
    """
    if predicted is None or answer_format is None:
        return predicted
    for line in reversed(predicted.splitlines()):
        start = line.lstrip()
        if start[: len(_PREFIX)].casefold() == _PREFIX:
            return start[len(_PREFIX) :]
    return predicted


def correctness(expected: str | None, predicted: str | None, answer_format: AnswerFormat | None = None) -> float:
    """1.0 where the compared text equals `expected`, both normalized, else 0.0 (SPEC A1). No prediction is 0.0 (A3).

    Raises: UsageError where `expected` is missing or blank: an error in the eval set, not a score.
    """
    wanted = _wanted(expected)
    text = compared_text(predicted, answer_format)
    return 1.0 if text is not None and normalize(text) == wanted else 0.0


def reason(expected: str | None, predicted: str | None, answer_format: AnswerFormat | None = None) -> MissReason | None:
    """The first reason that fits why an item is not correct (SPEC A7); None for one that is.

    Raises: UsageError where `expected` is missing or blank.
    """
    wanted = _wanted(expected)
    found = normalize(compared_text(predicted, answer_format) or "")
    if found == wanted:
        return None
    if not found:
        return "no_prediction"
    if wanted in found:
        return "expected_inside_longer_text"
    return "numerically_equal" if same_number(wanted, found) else "different"


def has_prediction(why: MissReason | None) -> bool:
    """True if an item has a prediction (A4), by its reason: one whose compared text is blank has none (A7)."""
    return why != "no_prediction"


def _wanted(expected: str | None) -> str:
    """`expected`, normalized.

    Raises: UsageError. Scoring a blank one would make every silent model right.
    """
    wanted = normalize(expected or "")
    if not wanted:
        raise UsageError("the expected answer is missing: an error in the eval set, not a score")
    return wanted
