"""A run as an object: typed results, Polars frames, and a summary when it is printed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.checks.rows import ChecksAggregates, ChecksManifest
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.correctness.rows import CorrectnessAggregates, CorrectnessManifest
from benchbook.evaluators.document import Notices
from benchbook.evaluators.gates import Decision, RunVerdict
from benchbook.evaluators.panels import PanelAnalysis
from benchbook.evaluators.registry import evaluator_of, samples_type
from benchbook.evaluators.rubric.rows import AggregatesFile, RubricManifest
from benchbook.evaluators.scorers.rows import ScorerAggregates, ScorerManifest
from benchbook.evaluators.verify import verify
from benchbook.library.verified import Verified
from benchbook.record.derived_files import reading_frame
from benchbook.record.folder import Record, is_at_work, record_named
from benchbook.record.standing import RunState, run_state
from benchbook.record.tables import read_rows
from benchbook.text import sentences

if TYPE_CHECKING:
    import polars

    from benchbook.evaluators.contract import Confidence
    from benchbook.evaluators.document import Document
    from benchbook.views.views import View


class Run:
    """One record of any spec. Nothing but the derived files is read until it is asked for.

    `manifest`, `aggregates` and `decision` are those of its spec, and typed in its class below.
    `stopped` says why a run that was made here ended early; it can be resumed.
    """

    def __init__(self, record: Record, derived: DerivedFiles, stopped: str | None = None) -> None:
        self.record = record
        self.stopped = stopped
        self._derived = derived

    @property
    def path(self) -> Path:
        return self.record.path

    @property
    def spec(self) -> str:
        """The evaluator that it was made under, such as `rubric@v1`."""
        spec: str = self._derived.manifest.spec
        return spec

    @property
    def state(self) -> RunState:
        """How it stands now: `complete`; `running`; or `interrupted`, so that it can be resumed."""
        return run_state(self.manifest.state, at_work=is_at_work(self.record))

    @property
    def manifest(self) -> Any:
        """Who was asked what, with what, and the hash that names the record."""
        return self._derived.manifest

    @property
    def aggregates(self) -> Any:
        """The content of aggregates.json."""
        return self._derived.aggregates

    @property
    def decision(self) -> Any:
        """The content of decision.json; None where a decision is refused."""
        return self._derived.decision

    @cached_property
    def unavailable(self) -> str | None:
        """Why there are no samples: a dry run has none (SPEC A6). None where there are."""
        return evaluator_of(self.record).unavailable(self.record.started())

    @cached_property
    def samples(self) -> polars.DataFrame:
        """A row for each sample, with the columns of the spec's row.

        Raises: UsageError for a dry run, which has none.
        """
        import polars as pl

        self._refuse_unavailable()
        with reading_frame(self.record.samples):
            return pl.read_parquet(self.record.samples)

    def rows(self) -> Iterator[Any]:
        """The same rows as typed objects, a row group at a time: for runs that do not fit into memory."""
        self._refuse_unavailable()
        return self._stored_rows()

    def _stored_rows(self) -> Iterator[Any]:
        return read_rows(self.record.samples, samples_type(self.record))

    def _refuse_unavailable(self) -> None:
        if self.unavailable is not None:
            raise UsageError(f"{self.path}: its samples are unavailable: {self.unavailable}")

    def verify(self, *, expect: str | None = None) -> Verified:
        """Everything derived again and compared; `holds` is true where no byte was changed."""
        return Verified.of(verify(self.record, expect=expect))

    @cached_property
    def panel(self) -> PanelAnalysis | None:
        """The analysis of a panel of judges; None where no panel judged."""
        return evaluator_of(self.record).panel(self._derived, self._stored_rows())

    def gate(self, *, confidence: Confidence | None = None) -> Any:
        """The decision, derived anew from the journal, by what is shown at `confidence`; "none": by the values alone,
        in the worst and the best case (R6.4). By default as the run was configured.

        Raises: UsageError where the evaluator has no gates.
        """
        with tempfile.TemporaryDirectory(prefix="benchbook-gate-") as folder:
            return evaluator_of(self.record).gated(self.record, Path(folder), confidence).decision

    def write_reports(self, folder: str | Path) -> list[Path]:
        """The spec's reports, such as report.html and report.md, in `folder`."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        view, report = self._shown()
        return view.write(report, Path(folder))

    def __str__(self) -> str:
        from benchbook.views.terminal import document_lines

        return "\n".join(document_lines(self.summary()))

    def _repr_html_(self) -> str:
        from benchbook.views.fragment import fragment

        return fragment(self.summary())

    def summary(self) -> Document:
        """The document that is printed, and shown in a notebook; where the run was stopped, the reason comes first."""
        view, report = self._shown()
        found = view.summary(report)
        if self.stopped is None:
            return found
        said = sentences(f"Stopped: {self.stopped}", "What was recorded is whole, and bb.resume goes on with it")
        return msgspec.structs.replace(found, blocks=(Notices((said,)), *found.blocks))

    def _shown(self) -> tuple[View, Any]:
        """The run's view, and the report that the view's functions take."""
        from benchbook.views.views import view_of

        view = view_of(evaluator_of(self.record))
        return view, view.report(self.record, self._derived, self._stored_rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.record.run_id}>"


ManifestT = TypeVar("ManifestT")
AggregatesT = TypeVar("AggregatesT")
DecisionT = TypeVar("DecisionT")


class TypedRun(Run, Generic[ManifestT, AggregatesT, DecisionT]):
    """A run of an evaluator whose files' fields are known: an editor completes them, and a type checker reads them."""

    @property
    def manifest(self) -> ManifestT:
        """Who was asked what, with what, and the hash that names the record."""
        manifest: ManifestT = self._derived.manifest
        return manifest

    @property
    def aggregates(self) -> AggregatesT:
        """The content of aggregates.json."""
        aggregates: AggregatesT = self._derived.aggregates
        return aggregates

    @property
    def decision(self) -> DecisionT:
        """The content of decision.json."""
        decision: DecisionT = self._derived.decision
        return decision


class RubricRun(TypedRun[RubricManifest, AggregatesFile, Decision | None]):
    """A `rubric@v1` run, or one of a rubric of one's own.

    `aggregates` are those of R4, the ledger, repeats, slices, warnings. `decision` is READY, NOT_READY or INCONCLUSIVE
    with its gates (SPEC R6); None where it is refused for missing metadata.
    """

    def __repr__(self) -> str:
        decision = self.decision.decision if self.decision is not None else "refused"
        return f"<Run {self.record.run_id}: {decision}, {self.aggregates.ledger.n_scored} samples scored>"


class CorrectnessRun(TypedRun[CorrectnessManifest, CorrectnessAggregates, RunVerdict]):
    """An `answer_correctness@v1` run: the scorecard, its interval, why items missed (A7), and whether the run
    itself held (SPEC A3)."""

    def __repr__(self) -> str:
        file = self.aggregates
        return f"{_answers_repr(self)}, {file.n_correct} of {file.n_items} correct>"


class ChecksRun(TypedRun[ChecksManifest, ChecksAggregates, Decision | RunVerdict]):
    """A run under checks, those that are shipped or a user's own: the scorecard, what passed check by check, and
    whether the run itself held (SPEC A3); where the spec has gates, whether it may be released."""

    def __repr__(self) -> str:
        return f"{_answers_repr(self)}, {self.aggregates.n_passed} of {self.aggregates.n_items} passed>"


class ScorerRun(TypedRun[ScorerManifest, ScorerAggregates, RunVerdict]):
    """A run that a function of the user's own scored (`@bb.scorer`): the scorecard, what passed, what could not
    be scored and why, the means of what was named, and whether the run itself held (SPEC A3)."""

    @cached_property
    def values(self) -> polars.DataFrame:
        """The values that the scorer named beside the score: a row for each sample with any, a column for each name."""
        import polars as pl

        named = self.samples.filter(pl.col("values").is_not_null()).select("sample", "item_id", "values")
        rows = [msgspec.json.decode(one) for one in named["values"]]
        names = sorted({name for row in rows for name in row})
        columns = [pl.Series(name, [row.get(name) for row in rows], strict=False) for name in names]
        return named.drop("values").with_columns(columns)

    def __repr__(self) -> str:
        return f"{_answers_repr(self)}, {self.aggregates.n_passed} of {self.aggregates.n_items} passed>"


def _answers_repr(run: Run) -> str:
    return f"<{type(run).__name__} {run.record.run_id}: {run.aggregates.primary_score}"


# By what their derived files are: a user's own spec has a name of its own.
_CLASSES: dict[type, type[Run]] = {
    ChecksManifest: ChecksRun,
    CorrectnessManifest: CorrectnessRun,
    RubricManifest: RubricRun,
    ScorerManifest: ScorerRun,
}


def run_of(record: Record, derived: DerivedFiles | None = None, stopped: str | None = None) -> Run:
    """The object for a record, in the class of its spec; `derived` is by default what is on disk.

    Raises: RecordError where a derived file is missing or can't be read; `verify` tells whether they hold.
    """
    found = evaluator_of(record).read(record) if derived is None else derived
    return _CLASSES.get(type(found.manifest), Run)(record, found, stopped)


# A run as a caller names it: a path, an id in the folder of records, or the run itself.
AnyRun: TypeAlias = str | Path | Run


def record_of(run: AnyRun, runs: str | Path = "runs") -> Record:
    """The record that a caller means. Raises: UsageError where there is none, naming the places and what is near."""
    return run.record if isinstance(run, Run) else record_named(str(run), runs)
