"""From a run to what people label: samples that a judge scored, drawn by stratum, the judge's scores hidden."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.recorded_set import recorded_evalset
from benchbook.evaluators.rubric.row_types import row_type, scores_of
from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.evaluators.rubric.spec import RUBRIC_V1, rubric_v1
from benchbook.evaluators.rubric.tables import Derived, derive
from benchbook.labels.labels import LabelBook, SheetRow, create_labels
from benchbook.record.facts import LabelsStarted, Stratum
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows

__all__ = [
    "STRATIFIABLE",
    "Drawn",
    "derived_anew",
    "draw",
    "is_as_drawn",
    "is_judged",
    "labelled_row_type",
    "sample_labels",
]


@dataclass(frozen=True, slots=True)
class Drawn:
    """`samples` in the order in which they are shown: shuffled, so that the order says nothing of the stratum."""

    samples: list[int]
    strata: dict[str, Stratum]


def draw(stratum_of: Mapping[int, str], n: int, *, seed: int, run_sha256: str) -> Drawn:
    """Draw `n` of the samples, from each stratum as many as its share of them asks for.

    Proportional shares (by largest remainder) keep every sample's chance alike, so that estimates from the labels need
    no weights. Chance comes from hashes of seed, run and sample: no library's next version changes the draw.

    Raises: ConfigError for an `n` below 1, or above the number of samples.
    """
    if not 1 <= n <= len(stratum_of):
        raise ConfigError("n", str(n), f"1 to {len(stratum_of)}, the samples that a judge scored")
    members: dict[str, list[int]] = {}
    for sample, stratum in stratum_of.items():
        members.setdefault(stratum, []).append(sample)
    wanted = _shares({name: len(samples) for name, samples in members.items()}, n)
    chosen = [
        sample
        for name, samples in members.items()
        for sample in sorted(samples, key=lambda one: _chance("draw", seed, run_sha256, one))[: wanted[name]]
    ]
    return Drawn(
        sorted(chosen, key=lambda one: _chance("show", seed, run_sha256, one)),
        {name: Stratum(n_eligible=len(members[name]), n_drawn=wanted[name]) for name in sorted(members)},
    )


def _shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """`n` shared out in proportion to `sizes`, in whole numbers: the largest remainders round up."""
    total = sum(sizes.values())
    shares = {name: n * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(n * sizes[name] % total), name))
    for name in by_remainder[: n - sum(shares.values())]:
        shares[name] += 1
    return shares


def _chance(purpose: str, seed: int, run_sha256: str, sample: int) -> bytes:
    return hashlib.sha256(f"{purpose}/{seed}/{run_sha256}/{sample}".encode()).digest()


STRATIFIABLE = ("accuracy_score", "faithfulness_score", "section", "category", "difficulty", "passed")
HIDDEN = ("accuracy_score", "faithfulness_score", "rationale", "passed", "model_id", "labels of others")


@contextmanager
def derived_anew(record: Record) -> Iterator[tuple[Derived, Path]]:
    """A run's derived files made again from its journal: a file that was edited changes nothing.

    Raises: UsageError for a run under another evaluator: people label by the rubric's fields.
    """
    if (spec := record.started().spec) != RUBRIC_V1:
        raise UsageError(f"{record.path}: was scored under {spec}; labels are for {RUBRIC_V1}")
    with tempfile.TemporaryDirectory(prefix="benchbook-labels-") as name:
        folder = Path(name)
        yield derive(record, folder), folder / "samples.parquet"


def labelled_row_type() -> type[RubricRow]:
    """A row as far as labels go: they are for `rubric@v1`, and columns of its later forms are passed over."""
    return row_type(rubric_v1(), panel=False, caused=False)


def is_judged(row: RubricRow) -> bool:
    """Whether a judge scored this sample, all fields; a rule's zero for no answer is nobody's judgement (R1.3)."""
    return None not in scores_of(row, rubric_v1()) and row.score_origin is None


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
    return {row.sample: _stratum(row, stratify) for row in read_rows(samples, labelled_row_type()) if is_judged(row)}


def _stratum(row: RubricRow, fields: Sequence[str]) -> str:
    return " / ".join("none" if (value := getattr(row, field)) is None else str(value) for field in fields)


def _sheet(record: Record, samples: Path, drawn: Sequence[int], n_items: int) -> list[SheetRow]:
    """What is shown of the drawn samples, in the order in which it is shown."""
    wanted = frozenset(drawn)
    answers = {
        row.sample: row.candidate_answer for row in read_rows(samples, labelled_row_type()) if row.sample in wanted
    }
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
