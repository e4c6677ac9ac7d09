"""The numbers of a `rubric@v1` run that its gates do not ask about, as lines for the terminal (R4, R7.3)."""

from __future__ import annotations

from benchbook.evaluators.rubric.rows import AggregatesFile, RepeatSummary
from benchbook.views import numbers
from benchbook.views.words import aggregate_word, plural

__all__ = ["measured_lines", "repeats_lines"]


_SHOWN = ("accuracy_mean", "faithfulness_mean", "tokens_per_correct_answer")


def measured_lines(file: AggregatesFile) -> list[str]:
    """What the judge's scores and the tokens come to, each with its n."""
    n_of = {"accuracy": sum(file.accuracy_counts.values()), "faithfulness": sum(file.faithfulness_counts.values())}
    found = []
    for name in _SHOWN:
        word = aggregate_word(name)
        unknown = "not reported" if word.kind == "tokens" else "nothing was scored"
        value = numbers.show(word.kind, getattr(file.aggregates, name), n=n_of.get(word.base), unknown=unknown)
        found.append(f"{word.label}: {value}")
    return found


def repeats_lines(file: AggregatesFile) -> list[str]:
    """Mean and standard deviation over the repeats (R7.3); nothing for a single one."""
    return [_repeats_line(one) for one in file.repeats if len(one.per_repeat) > 1]


def _repeats_line(one: RepeatSummary) -> str:
    word = aggregate_word(one.aggregate)
    missing = one.per_repeat.count(None)
    over = plural(len(one.per_repeat), "repeat") + (f", {missing:,} without a value" if missing else "")
    mean = numbers.show(word.kind, one.mean, unknown="nothing was counted")
    return f"{word.label}, over {over}: mean {mean}, SD {numbers.show(word.kind, one.sd, unknown='fewer than two')}"
