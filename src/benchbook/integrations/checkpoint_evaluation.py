"""An eval set at a checkpoint, scored without a judge: predictions, scorecard, TensorBoard (SPEC A4, A5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.errors import RecordError, UsageError
from benchbook.evalsets import Item
from benchbook.evaluators.answers.asking import opened_checked
from benchbook.evaluators.answers.metric import NO_FIELDS
from benchbook.evaluators.answers.scorecard import GROUPINGS, Scorecard, ScorecardTally
from benchbook.evaluators.registry import answers_metric
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.evaluators.settings import SCORE_SPEC
from benchbook.writing import cant_be_written, make_folder, written_new


class ScalarLog:
    """Appends to an event file of its own in `folder`, which may be a trainer's: TensorBoard shows them as one run.

    The file is made with the first values.

    Raises: UsageError where `tensorboard` is not installed.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            from tensorboard.summary.writer import event_file_writer
        except ImportError:
            raise UsageError("writing event files needs an extra: pip install 'benchbook[tensorboard]'") from None
        self._module = event_file_writer
        self._folder = Path(folder)
        self._writer: Any = None

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Write the values by their tags, and see them onto the disk."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        if self._writer is None:
            self._writer = self._module.EventFileWriter(str(self._folder), filename_suffix=".benchbook")
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])
        self._writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
        self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


# Prompts to outputs, in their order; None where the model gave none.
Generate = Callable[[list[str]], Sequence[str | None]]


class CheckpointEvaluation:
    """Asks whatever `generate` stands for each item of an eval set, and writes what came back.

    `spec`: the evaluator, as `benchbook score` takes it, or a function of your own (`@bb.scorer`). `out`: the folder of
    the predictions, made where it is missing. `tensorboard`: the folder of event files, or None. `batch_size`: how many
    prompts `generate` gets at once; no more than that is held in memory.

    Raises: InputError for an eval set that is at fault or lacks an expected answer; UsageError where `tensorboard` is
    given and not installed. Both before any training is done.
    """

    def __init__(
        self,
        evalset: str | Path,
        out: str | Path,
        *,
        spec: str | Path | Scorer = SCORE_SPEC,
        tensorboard: str | Path | None = None,
        batch_size: int = 16,
    ) -> None:
        if batch_size < 1:
            raise UsageError(f"batch_size: found {batch_size}; expected 1 or more")
        self._metric = answers_metric(spec)
        self._evalset = opened_checked(self._metric, Path(evalset))
        self._out = Path(out)
        self._log = None if tensorboard is None else ScalarLog(tensorboard)
        self._batch_size = batch_size

    def evaluate(self, step: int, generate: Generate) -> Scorecard:
        """Evaluate the model as it is at `step`.

        Writes `step-<step>.jsonl`, one line an item: `item_id`, `expected`, `predicted`, and `correctness`, or the
        columns of the checks. It is there whole or not at all, and an earlier one of the same step stays: this one is
        then `step-<step>.2.jsonl`.

        Raises: UsageError where `generate` does not give one output a prompt; what `generate` raises; RecordError.
        """
        tally = self._metric.tally()
        try:
            make_folder(self._out)
        except OSError as error:
            raise RecordError(cant_be_written(self._out, error)) from None
        names = (self._out / f"step-{step}{'' if n == 1 else f'.{n}'}.jsonl" for n in count(1))
        with written_new(next(names), otherwise=names) as file:
            for start, batch in self._batches():
                for place, output in enumerate(_outputs(batch, generate)):
                    file.write(self._scored(start + place, batch[place], output, tally))
        card = tally.scorecard()
        if self._log is not None:
            self._log.add(step, _scalars(self._metric.name, card))
        return card

    def close(self) -> None:
        """Close the eval set and the event file."""
        self._evalset.close()
        if self._log is not None:
            self._log.close()

    def __enter__(self) -> CheckpointEvaluation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _batches(self) -> Iterator[tuple[int, list[Item]]]:
        """The items, with the place of each batch's first."""
        n_items = len(self._evalset)
        for start in range(0, n_items, self._batch_size):
            yield start, [self._evalset[index] for index in range(start, min(start + self._batch_size, n_items))]

    def _scored(self, place: int, item: Item, output: str | None, tally: ScorecardTally) -> bytes:
        fields = self._evalset.fields(place) if self._metric.keeps_fields else NO_FIELDS
        scored = self._metric.score(item, fields, output)
        values = {name: getattr(item, name) for name in GROUPINGS}
        tally.add(values, scored.reason, score_nano=scored.score_nano, n_scored=int(scored.has_prediction))
        row = {"item_id": item.id, "expected": item.expected_answer, "predicted": output}
        return canonical_json({**row, **self._metric.own_columns(scored, failed=False)}) + b"\n"


def _outputs(batch: list[Item], generate: Generate) -> list[str | None]:
    outputs = list(generate([item.prompt for item in batch]))
    if len(outputs) != len(batch):
        raise UsageError(
            f"generate gave {len(outputs)} outputs for {len(batch)} prompts; expected one for each, in order"
        )
    for item, output in zip(batch, outputs, strict=True):
        if output is not None and not isinstance(output, str):
            raise UsageError(f"generate gave {type(output).__name__} for item {item.id!r}; expected a text, or None")
    return outputs


def _scalars(name: str, card: Scorecard) -> dict[str, float]:
    """The score, and beside it why items missed: that form keeps a run at the floor is seen while it trains (A7)."""
    misses = {f"benchbook/misses/{name}": float(n) for name, n in card.misses.items()}
    score = {} if card.primary_score is None else {f"benchbook/{name}": card.primary_score}
    return {**score, "benchbook/n_scored": float(card.n_scored), **misses}
