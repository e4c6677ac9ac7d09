"""Answers that came at once and have a score, many at a time: their rows as columns and as lines, and their sums.

Whatever is out of the ordinary is left for `rows`, which says the same of a plain answer: tests hold one against the
other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from benchbook.evalsets import Item
from benchbook.evaluators.answers.metric import NO_FIELDS, Scored
from benchbook.evaluators.answers.rows import RunOfItems, predicted_text
from benchbook.evaluators.answers.scorecard import GROUPINGS
from benchbook.evaluators.exact import NANO
from benchbook.record.columns import Column, Same, canonical_rows, part_of_columns
from benchbook.record.facts import Reply, SampleFact
from benchbook.record.tables import TablePart
from benchbook.text import storable

if TYPE_CHECKING:
    from benchbook.evaluators.answers.counted import Counted


class PlainAnswer(NamedTuple):
    """One of them. `predicted` is its text without declared thoughts."""

    sample: int
    item: Item
    reply: Reply
    predicted: str | None
    scored: Scored


class PlainAnswers:
    """Picks the plain answers of a run out of others."""

    def __init__(self, run: RunOfItems, row_type: type[msgspec.Struct]) -> None:
        self._run = run
        self._row_type = row_type

    def pick(self, sample: int, item: Item, facts: Sequence[SampleFact]) -> PlainAnswer | None:
        """The answer, if it is plain. Raises: UsageError where the item lacks what its score needs."""
        if len(facts) != 1:
            return None
        (reply,) = facts
        if type(reply) is not Reply:
            return None
        run = self._run
        predicted = predicted_text(reply, run.plan, run.derivation)
        scored = run.metric.score_sample(sample, item, NO_FIELDS, predicted)
        return PlainAnswer(sample, item, reply, predicted, scored) if type(scored) is Scored else None

    def rows(self, answers: Sequence[PlainAnswer]) -> tuple[TablePart, list[bytes]]:
        """Their rows, and the line of each in canonical JSON, with its end.

        Raises: UnicodeEncodeError, OverflowError, where some must be made one by one.
        """
        run = self._run
        samples, items, replies, predicted, scored = map(list, zip(*answers, strict=True))
        columns: dict[str, Column] = {name: [getattr(one, name) for one in items] for name in _OF_ITEM}
        columns |= {name: [getattr(one, name) for one in replies] for name in _OF_REPLY}
        columns |= {
            "sample": samples,
            "item_id": [storable(one.id) for one in items],
            "repeat": [sample // run.plan.n_items for sample in samples],
            "expected": [one.expected_answer for one in items],
            "predicted": predicted,
            "miss_reason": [one.reason for one in scored],
            "error": Same(run.error),
            "eval_time_ms": [one.latency_e2e_ms for one in replies],
            "fact_seq": [one.seq for one in replies],
            "candidate_error": Same(None),
        }
        own = [run.metric.own_columns(one, failed=run.error is not None) for one in scored]
        columns |= {name: [one[name] for one in own] for name in own[0]}
        lines = canonical_rows(self._row_type, columns, len(answers))
        return part_of_columns(self._row_type, columns, len(answers), [len(line) for line in lines]), lines

    def count(self, answers: Sequence[PlainAnswer], counted: Counted) -> None:
        """Add what is counted of them; none is in a cluster with others."""
        run = self._run
        if run.error is not None:
            counted.errors[run.error] += len(answers)
        by_what_they_share = Counter(
            (one.item.section, one.item.category, one.item.difficulty, one.scored.reason, one.scored.score_nano,
             one.scored.has_prediction if run.derivation >= 3 else one.predicted is not None)
            for one in answers
        )  # fmt: skip
        for (*values, why, score_nano, has), n in by_what_they_share.items():
            grouped = dict(zip(GROUPINGS, values, strict=True))
            counted.tally.add(grouped, why, score_nano=score_nano, n_items=n, n_scored=n if has else 0)
        scores = [0 if counted.failed else one.scored.score_nano for one in answers]
        counted.score.add_all([score // NANO for score in scores] if run.metric.is_rate else scores)
        for name, sums in counted.measured.items():
            sums.add_all([one.scored.measured[name] for one in answers if name in one.scored.measured])
        for part, why in [pair for one in answers for pair in one.scored.missed.items()]:
            counted.missed[part][why] += 1
        if counted.tally.asked:
            for one in answers:
                counted.signs.add(one.reply, one.predicted if (one.predicted or "").strip() else None)


_OF_ITEM = ("section", "category", "difficulty", "group", "answer_format", "prompt")
_OF_REPLY = ("input_tokens", "output_tokens", "model_reported", "own")
