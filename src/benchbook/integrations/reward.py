"""The evaluators that need no judge, as a reward function (SPEC A1 to A3).

One callable serves TRL's trainers (GRPO, RLOO) and Tunix's GRPOLearner: both call it with `prompts`, `completions` and
the data set's other columns by their names, as lists, and expect a list of floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from benchbook.errors import ItemError, UsageError
from benchbook.evalsets import Item
from benchbook.evalsets.items import AnswerFormat
from benchbook.evaluators.answers.metric import Metric
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.registry import answers_metric
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.evaluators.settings import SCORE_SPEC
from benchbook.text import shorten


@dataclass(frozen=True)
class AnswerReward:
    """A completion's score, from 0.0 to 1.0, under `spec`: by default 1.0 where it is the expected answer, else 0.0;
    checks that are shipped (`contains@v1`), or a folder of your own; or a function of your own (`@bb.scorer`), whose
    faults are raised, and no reward.

    `expected_column` is the data set's column of expected answers. `answer_format` holds for all rows, but a column
    `answer_format`, where the data set has one, goes before it. It is an object and not a closure so that it can be
    pickled: Tunix hands it to worker processes.
    """

    expected_column: str = "expected_answer"
    answer_format: AnswerFormat | None = None
    spec: str | Scorer = SCORE_SPEC

    @property
    def __name__(self) -> str:
        """The reward's name in trainers' logs."""
        return self.spec.name if isinstance(self.spec, Scorer) else _metric(self.spec).name

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **kwargs: Any) -> list[float]:
        """A reward for each completion, in their order. A completion without text gets 0.0 (SPEC A3).

        Completions are texts, or lists of chat messages, of which the assistant's last one is taken.

        Raises: UsageError where the column is not there, is of another length, or lacks an answer: an error in the data
        set is not a reward.
        """
        metric, n = _metric(self.spec), len(completions)
        formats = self._formats(kwargs, n)
        lists = {name: one for name, one in kwargs.items() if isinstance(one, list | tuple) and len(one) == n}
        wants_one = metric.needs_expected_answer
        expected = self._column(kwargs, n) if wants_one else lists.get(self.expected_column, [None] * n)
        rewards = []
        for row, (wanted, one, answer_format) in enumerate(zip(expected, completions, formats, strict=True)):
            fields = {name: values[row] for name, values in lists.items()}
            item = _item(row, prompts, wanted, answer_format, fields)
            try:
                rewards.append(metric.score(item, fields, completion_text(one)).score_nano / NANO)
            except ItemError as fault:
                raise UsageError(f"row {row + 1} of the batch: {fault}") from None
        return rewards

    def _column(self, columns: Mapping[str, Any], n: int) -> list[str]:
        if self.expected_column not in columns:
            there = shorten(", ".join(sorted(columns)) or "none", 200)
            raise UsageError(
                f"the data set has no column {self.expected_column!r} of expected answers; it has: {there}"
            )
        expected = list(columns[self.expected_column])
        if len(expected) != n:
            raise UsageError(f"{self.expected_column}: found {len(expected)} answers for {n} completions")
        for row, wanted in enumerate(expected, start=1):
            if not isinstance(wanted, str) or not wanted.strip():
                found = shorten(repr(wanted), 60)
                raise UsageError(f"{self.expected_column}: found {found} in row {row} of the batch; expected a text")
        return expected

    def _formats(self, columns: Mapping[str, Any], n: int) -> list[AnswerFormat | None]:
        formats = list(columns.get("answer_format", [None] * n))
        known = get_args(AnswerFormat)
        for one in formats:
            if one is not None and one not in known:
                expected = " or ".join((*known, "nothing"))
                raise UsageError(f"answer_format: found {shorten(repr(one), 60)}; expected {expected}")
        return [one or self.answer_format for one in formats]


@cache
def _metric(spec: str | Scorer) -> Metric:
    return answers_metric(spec)


def _item(
    row: int,
    prompts: Sequence[Any],
    expected: str | None,
    answer_format: AnswerFormat | None,
    fields: Mapping[str, Any],
) -> Item:
    """A row of the data set as an item of an eval set."""
    prompt = prompts[row] if row < len(prompts) and isinstance(prompts[row], str) else ""
    known = {name: fields[name] for name in ("context", "section", "category", "difficulty") if name in fields}
    return Item(id=str(row), prompt=prompt, expected_answer=expected, answer_format=answer_format, **known)


def completion_text(completion: Any) -> str | None:
    """The text of a completion: itself, or the content of the assistant's last message; None where it has none.

    Raises: UsageError for anything else.
    """
    if completion is None or isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence) and all(isinstance(message, Mapping) for message in completion):
        said = [message for message in completion if message.get("role", "assistant") == "assistant"]
        return _content(said[-1].get("content")) if said else None
    raise UsageError(f"a completion is {type(completion).__name__}; expected a text, or a list of chat messages")


def _content(content: Any) -> str | None:
    """A message's text; where its content is in parts (text and pictures), those of text, joined."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, Sequence) and all(isinstance(part, Mapping) for part in content):
        texts = [part.get("text") for part in content if part.get("type") == "text"]
        return "".join(text for text in texts if isinstance(text, str)) if texts else None
    raise UsageError(f"a message's content is {type(content).__name__}; expected a text, or a list of parts")
