"""From a run to what people label: samples that a judge scored, drawn by stratum, the judge's scores hidden."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from benchbook.derivations.recorded_set import recorded_evalset
from benchbook.derivations.rows import RubricRow
from benchbook.derivations.rubric_tables import Derived, derive
from benchbook.errors import ConfigError, UsageError
from benchbook.records.facts import LabelsStarted
from benchbook.records.folder import Record
from benchbook.records.labels import LabelBook, SheetRow, create_labels
from benchbook.records.labels_drawing import draw
from benchbook.records.tables import read_rows
from benchbook.scorers.rubric import SPEC_ID

__all__ = ["STRATIFIABLE", "derived_anew", "is_as_drawn", "is_judged", "sample_labels"]

STRATIFIABLE = ("accuracy_score", "faithfulness_score", "section", "category", "difficulty", "passed")
HIDDEN = ("accuracy_score", "faithfulness_score", "rationale", "passed", "model_id", "labels of others")


@contextmanager
def derived_anew(record: Record) -> Iterator[tuple[Derived, Path]]:
    """A run's derived files made again from its journal: a file that was edited changes nothing.

    Raises: UsageError for a run under another evaluator: people label by the rubric's fields.
    """
    if (spec := record.started().spec) != SPEC_ID:
        raise UsageError(f"{record.path}: was scored under {spec}; labels are for {SPEC_ID}")
    with tempfile.TemporaryDirectory(prefix="benchbook-labels-") as name:
        folder = Path(name)
        yield derive(record, folder), folder / "samples.parquet"


def is_judged(row: RubricRow) -> bool:
    """Whether a judge scored this sample, both fields; a rule's zero for no answer is nobody's judgement (R1.3)."""
    return row.accuracy_score is not None and row.faithfulness_score is not None and row.score_origin is None


def sample_labels(record: Record, out: str | Path, *, n: int, stratify: Sequence[str], seed: int) -> LabelBook:
    """Draw `n` judged samples of a run into a new record of labels in the folder `out`.

    Raises: ConfigError for a stratum that is none, or an `n` that can't be; UsageError where `out` exists.
    """
    for field in stratify:
        if field not in STRATIFIABLE:
            raise ConfigError("stratify", repr(field), ", ".join(STRATIFIABLE))
    with derived_anew(record) as (derived, samples):
        manifest = derived.manifest
        drawn = draw(_strata(samples, stratify), n, seed=seed, run_sha256=manifest.journal_sha256)
        rows = _sheet(record, samples, drawn.samples, manifest.n_items)
    return create_labels(
        out,
        rows,
        lambda inputs: LabelsStarted(
            run_id=manifest.run_id,
            run_sha256=manifest.journal_sha256,
            spec=manifest.spec,
            seed=seed,
            stratify=list(stratify),
            strata=drawn.strata,
            samples=drawn.samples,
            hidden=list(HIDDEN),
            inputs=inputs,
            drawn_by=f"benchbook {version('benchbook')}",
        ),
    )


def is_as_drawn(samples: Path, started: LabelsStarted) -> bool:
    """Whether the labelled samples are those that chance drew: drawn again, from a run's samples.parquet."""
    n = len(started.samples)
    try:
        again = draw(_strata(samples, started.stratify), n, seed=started.seed, run_sha256=started.run_sha256)
    except ConfigError:
        return False
    return again.samples == started.samples


def _strata(samples: Path, stratify: Sequence[str]) -> dict[int, str]:
    return {row.sample: _stratum(row, stratify) for row in read_rows(samples, RubricRow) if is_judged(row)}


def _stratum(row: RubricRow, fields: Sequence[str]) -> str:
    return " / ".join("none" if (value := getattr(row, field)) is None else str(value) for field in fields)


def _sheet(record: Record, samples: Path, drawn: Sequence[int], n_items: int) -> list[SheetRow]:
    """What is shown of the drawn samples, in the order in which it is shown."""
    wanted = frozenset(drawn)
    answers = {row.sample: row.candidate_answer for row in read_rows(samples, RubricRow) if row.sample in wanted}
    with recorded_evalset(record, record.started()) as evalset:
        items = {sample: evalset[sample % n_items] for sample in drawn}
    return [
        SheetRow(
            sample=sample,
            item_id=items[sample].id,
            prompt=items[sample].prompt,
            context=items[sample].context,
            expected_answer=items[sample].expected_answer,
            answer=answers[sample] or "",
        )
        for sample in drawn
    ]
