"""The answers of runs in pairs, as files that a judge scores: two answers to one item in one text, in one order.

They follow from the copies of the runs and the plan alone, so that `verify` makes them again. Two answers are compared
where both runs were asked the same: an item of the same id that is another item is left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchbook.errors import UsageError
from benchbook.evaluators.registry import evaluator_of
from benchbook.exchange.answers import settings_over
from benchbook.exchange.first_answers import FirstAnswers, drawn_ids, first_answers, written_lines
from benchbook.labels.pairs.shown import shown_pair
from benchbook.record.folder import Record


@dataclass(frozen=True, slots=True)
class PairedAnswersOfRuns:
    """The first answers of each run, and which items of two of them are drawn.

    The files that `settings` names are there while the block of `paired_answers` runs.
    """

    answers: Sequence[FirstAnswers]
    hashes: Sequence[str]  # of the runs' records
    n: int | None
    seed: int
    folder: Path

    def shared(self, one: int, other: int) -> list[str]:
        """The ids of the items that both runs answered, and that are the same item in both."""
        mine, theirs = self.answers[one].items, self.answers[other].items
        return [item_id for item_id, item in mine.items() if theirs.get(item_id) == item]

    def drawn(self, one: int, other: int) -> list[str]:
        """The items that two runs are compared by, the same in both orders."""
        return drawn_ids(self.shared(*sorted((one, other))), self.n, f"pairs/{self.seed}")

    def check(self, records: Sequence[Record], pairs: Iterable[tuple[int, int]]) -> None:
        """Refuse two runs that were not asked the same. Raises: UsageError."""
        for one, other in pairs:
            if not self.shared(one, other):
                paths = " and ".join(str(records[place].path) for place in (one, other))
                raise UsageError(f"{paths}: no item that both answered, so there are no pairs of answers")

    def settings(self, first: int, second: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a run whose judge sees `first`'s answers before `second`'s. `given` are the judge's."""
        drawn = self.drawn(first, second)
        # Their items come from one run, whichever is shown first: the two orders are of one eval set.
        lower = self.answers[min(first, second)]
        order = f"{first + 1}-{second + 1}"
        shown = ({"item_id": one, "repeat": 0, "output": self._shown(first, second, one)} for one in drawn)
        files = replace(
            lower.found,
            repeats=1,
            answers=written_lines(self.folder / f"pairs-{order}.jsonl", shown),
            ids=written_lines(self.folder / f"paired-items-{order}.jsonl", ({"item_id": one} for one in drawn)),
            generation_params={},
        )
        model = f"recorded/pair-{order}@{self.hashes[first][:8]}-{self.hashes[second][:8]}"
        return settings_over(files, {"model": model, "unmeasured": [], **given})

    def _shown(self, first: int, second: int, item_id: str) -> str:
        texts = (str(self.answers[one].rows[item_id]["output"]) for one in (first, second))
        return shown_pair(*texts)


@contextmanager
def paired_answers(records: Sequence[Record], *, n: int | None, seed: int) -> Iterator[PairedAnswersOfRuns]:
    """Read the answers of several runs, of each item's repeats the first.

    Raises: UsageError for a record without texts of one model, and as `exchange.answers.outputs_of`.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchbook-pairs-")))
        answers = [stack.enter_context(first_answers(record)) for record in records]
        hashes = [str(evaluator_of(record).read(record).manifest.journal_sha256) for record in records]
        yield PairedAnswersOfRuns(answers, hashes, n, seed, folder)
