"""The contract: all that code for records, runs and views needs to know of an evaluator, and no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from benchbook.ask.requests import plan_sha256
from benchbook.ask.settings import SittingSettings
from benchbook.errors import NoReleaseGatesError, UsageError
from benchbook.evaluators.by_batch import ByBatch
from benchbook.evaluators.correctable import Correctable
from benchbook.record.derived_files import Discrepancy
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.record.state import JournalState
from benchbook.specs import load_spec

if TYPE_CHECKING:
    import polars

    from benchbook.ask.roles import RoleSettings
    from benchbook.ask.starting import Opened, Prepared
    from benchbook.evaluators.experiments import Experiment, JudgedTexts
    from benchbook.evaluators.panels import PanelAnalysis
    from benchbook.evaluators.so_far import SamplesSoFar

MetricKind = Literal["rate", "score", "grade", "ratio", "ms", "tokens", "count", "usd"]  # how it is written
SamplesAre = Literal["answers", "evaluations"]  # to items, or by judges of outputs that others gave
Tables = Mapping[str, type[msgspec.Struct]]
Confidence: TypeAlias = float | Literal["none"]  # at which a gate is shown to hold; none: by the values alone

# Settings of every sitting that may differ between sittings: they change how requests are sent, not which.
MAY_CHANGE = frozenset({
    "max_connections", "requests_per_minute", "tokens_per_minute", "max_cost_usd", "max_seconds", "timeout_ms",
    "max_retries", "max_wait_ms", "cache", "reports", "accept_unanswered",
})  # fmt: skip


class DerivedFiles(Protocol):
    """The contents of a record's derived files, typed by its evaluator. `decision` is a `gates.Decision`, a
    `gates.RunVerdict` where there are no gates, or None where one is refused or nothing is decided.

    `manifest` is a `record.derived_files.Manifest` with what the evaluator adds.
    """

    @property
    def manifest(self) -> Any: ...

    @property
    def aggregates(self) -> Any: ...

    @property
    def decision(self) -> Any: ...


class DerivedTypes(NamedTuple):
    """The types of an evaluator's derived files, to describe them; those of a user's own are as of the one that is
    shipped. `panel` is the type of a panel's analysis, where there may be a panel; `is_experiment`: judges evaluate."""

    manifest: type[msgspec.Struct]
    aggregates: type[msgspec.Struct]
    panel: type[PanelAnalysis] | None = None
    is_experiment: bool = False


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """A number of each sample that stands beside its score in comparisons, under `name`: a criterion, or a measure.

    `column` of samples.parquet has it. It lies from `lowest` to `highest`; where that is None it has no upper end.
    """

    name: str
    column: str
    kind: MetricKind
    lowest: float = 0.0
    highest: float | None = None
    higher_is_better: bool = True


# What the model's answer costs. Where samples.parquet has no such column, it follows from tokens and prices (`costs`).
COST = ComparedMetric("cost_usd", "cost_usd", "usd", higher_is_better=False)


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    """The names in samples.parquet of the columns that comparisons, lists and rankings of items need.

    Prompt, section, category, difficulty, group and repeat have these names everywhere. `expected` is None where the
    eval set alone has it. `reasons` say why an item did not pass: in each column a text, or a list of them.
    """

    score: str  # from 0 to 1; null where there is none
    passed: str  # true, or 1.0
    answer: str  # the model's text
    expected: str | None = None
    reasons: tuple[str, ...] = ()
    metrics: tuple[ComparedMetric, ...] = ()  # shown beside the score
    is_graded: bool = True  # scores lie between 0 and 1, too, so that passing is another question
    has_every_item: bool = False  # there is a row for each item, asked or not, in the order of the set (A5)
    asked_elsewhere: bool = False  # by another tool, whose prompts may put the same item otherwise
    not_ended: str | None = None  # how the run stands that another tool did not bring to its end, in words
    tells_containment: bool = False  # `miss_reason` tells whether the expected answer stands inside the text (A7)


@dataclass(frozen=True, slots=True)
class LabelCriterion:
    """One thing that people can say of an answer, as the evaluator did: by labels it is held against people.

    `column` of samples.parquet has the evaluator's own score, one of `scores`; null where it gave none.
    """

    name: str
    scores: tuple[int, ...]
    column: str
    meaning: str = ""  # in words, as people see it; empty where the name says it
    grades: tuple[str, ...] = ()  # what each score is called, in their order; none: by its number alone
    may_not_apply: bool = False  # people may say that it does not apply to an answer


PairVerdict = Literal["better", "worse"]


class EndedEarly(msgspec.Struct, frozen=True, kw_only=True):
    """A run that ended before all items were asked: once its gates had decided, or, with `against` (a run's id and its
    journal's last hash), once it was shown better or worse than that, with at most `error` where there's no difference.
    """

    after_items: int
    n_items: int
    error: float
    verdict: PairVerdict | None = None
    against: str | None = None
    against_sha256: str | None = None

    @property
    def words(self) -> str:
        """`ended early, after 312 of 1,000 items, once it was shown better than BASE`."""
        shown = "decided" if self.verdict is None else f"shown {self.verdict} than {self.against}"
        return f"ended early, after {self.after_items:,} of {self.n_items:,} items, once it was {shown}"


@dataclass(frozen=True, slots=True)
class LabelRows:
    """The rows that labels go by, where a row of samples.parquet is not one answer with its scores: of an answer that
    several judges scored, each one's word; of one that is scored by what its item asks, each thing that is asked.

    `rows` reads a samples.parquet and makes these rows, of what counts alone. Each has a number of its own as `sample`,
    and `item_id`, `section`, `category`, `difficulty`, `group`, `prompt`, `answer`, `passed`, and the criteria; with
    `judges`, `judge_model`; and as `asked` what the item asks, else an empty text. Where people see more, it has
    `context` and `expected_answer`. A draw takes answers, by what people see of them, with all that is asked of each.
    """

    rows: Callable[[Record, RunStarted, Path], Iterator[Any]]
    strata: Mapping[str, str]  # what a draw can be stratified by, beside passing, with their columns
    hidden: tuple[str, ...]  # what people who label do not see
    judges: tuple[str, ...] = ()  # whose words stand apart


class Evaluator(ByBatch, ABC):
    """One evaluator, `name@vN`. A fourth is a folder with a class of these methods, and a line in the registry."""

    id: str
    command: ClassVar[str]  # of the command line: it makes the evaluator's records, and resumes them
    view: ClassVar[str] = "benchbook.views.any_evaluator:VIEW"  # what shows its records: a module, and a name in it
    samples_are: ClassVar[SamplesAre] = "answers"
    may_change: ClassVar[frozenset[str]] = MAY_CHANGE
    has_outcomes: ClassVar[bool] = False  # a user's function or another tool scored, and what it said are facts
    repeats_in_record: ClassVar[bool] = True  # its plan has the setting `repeats`; else they are records of one plan

    # ── what it plans and asks (`ask.starting.Asks`) ─────────────────────────────────────────────────────────

    @abstractmethod
    def settings(self, values: Mapping[str, Any], source: str) -> SittingSettings:
        """Checked settings out of plain ones. Raises: ConfigError naming `source` and the setting."""

    @abstractmethod
    def prepare(self, config: Any) -> Prepared:
        """A run as it would be begun. Raises: ConfigError, InputError, UsageError before anything is written."""

    def models_of(self, config: Any) -> Sequence[RoleSettings]:
        """The models that settings name, as far as they are named."""
        del config
        return ()

    def settings_that_hold(self, values: Mapping[str, Any]) -> SittingSettings | None:
        """Those of refused settings that can be, to look for what else is wrong; None where nothing is looked at."""
        del values
        return None

    def samples_so_far(self, record: Record, started: RunStarted) -> SamplesSoFar | None:
        """The samples of a run that goes on, one by one; None where each needs one reply and scores come at the end."""
        del record, started
        return None

    def nothing_to_resume(self, started: RunStarted) -> str | None:
        """The reason for which nothing of a record can be asked again; None where it may."""
        del started
        return None

    @abstractmethod
    def reopen(self, record: Record, config: Any) -> Opened:
        """A record's questions, for another sitting."""

    # ── its records ──────────────────────────────────────────────────────────────────────────────────────────

    # The derived files; manifest.json is among them, and its `derived` names every other one's hash.
    files: ClassVar[tuple[str, ...]]
    folders: ClassVar[tuple[str, ...]] = ()  # derived folders, all of whose files are derived

    def more_files(self, started: RunStarted) -> tuple[str, ...]:
        """Derived files that a record has beside `files`, by what was imported into it."""
        del started
        return ()

    def files_of(self, started: RunStarted) -> tuple[str, ...]:
        """All derived files of one record that lie in no derived folder."""
        return (*self.files, *self.more_files(started))

    @abstractmethod
    def plan_of(self, started: RunStarted) -> msgspec.Struct:
        """The plan in a record's first fact."""

    def plan_sha256(self, started: RunStarted) -> str:
        """The hash of the plan that stands in the first fact, computed again."""
        return plan_sha256(self.plan_of(started))

    def size_of(self, started: RunStarted) -> tuple[int, int]:
        """`n_items` and `repeats` as a first fact has them, by its plan."""
        plan: Any = self.plan_of(started)
        return plan.n_items, plan.repeats

    @property
    def spec_sha256(self) -> str:
        """The hash of the files that define it, as they are here."""
        return load_spec(self.id).sha256

    @abstractmethod
    def tables(self, started: RunStarted) -> Tables:
        """The row type of each Parquet file of a record; `samples.parquet` is always one."""

    @abstractmethod
    def derive(self, record: Record, target: Path, state: JournalState | None = None) -> DerivedFiles:
        """Write all derived files into a folder, the record's own or another. `state` is its journal's, if it was read.

        Raises: RecordDamagedError, RecordError, InputError.
        """

    @abstractmethod
    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
        """The same from a journal that was read already, holding each request against its fact: the discrepancies."""

    def not_computed_again(self, state: JournalState) -> str | None:
        """The parts of a record that are kept as they are, and can't be computed again, in words; None for none."""
        del state
        return None

    @abstractmethod
    def read(self, record: Record) -> DerivedFiles:
        """The derived files as they are on disk. Raises: RecordError."""

    def tells_something(self, derived: DerivedFiles) -> bool:
        """True if an ended run says anything of what it asked: one whose server was down is no evaluation."""
        del derived
        return True

    def gated(self, record: Record, target: Path, confidence: Confidence | None = None) -> DerivedFiles:
        """All derived anew into a folder, with the decision that a release gate goes by: what is shown at `confidence`,
        or by the values alone ("none"); by default as the run was configured.

        Raises: NoReleaseGatesError; as `derive`.
        """
        del target, confidence
        raise NoReleaseGatesError(
            f"{record.path}: {self.id} has no release gates; ask with --min-score, or --baseline, or set the run that "
            "others are held against: `benchbook baseline set RUN`"
        )

    def least_for_ready(self, confidence: float) -> Mapping[str, int]:
        """The least number of samples, or of clusters of them, with which each gate can be shown to hold: all of them
        as good as can be. Empty where it has no gates, or none that a number shows."""
        del confidence
        return {}

    def parse_line(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The worth of a judge's reply outside a record: `case` has an `id`, the `reply`, and what it is held against.

        Raises: UsageError, ConfigError for a case that lacks something, and where nobody judges.
        """
        del case
        raise UsageError(f"no replies are read under {self.id}: nobody judges")

    def unparsed_line(self, case_id: Any, detail: str) -> dict[str, Any]:
        """The same of a line that holds no case."""
        return {"id": case_id, "detail": detail}

    def unavailable(self, started: RunStarted) -> str | None:
        """Why a record has no per-item table; None where it has one (A6)."""
        del started
        return None

    def templates(self, record: Record, started: RunStarted) -> Mapping[str, str]:
        """The texts that a run's questions were made from, by whom they were for: `prompt_template` is the model's,
        `judge` the judges'. Empty where outputs were made elsewhere. Raises: RecordError."""
        del record, started
        return {}

    # ── its items, side by side with another run's ───────────────────────────────────────────────────────────

    primary: ClassVar[str | None] = None  # of its aggregates the one that stands for a run in lists; None for none

    @property
    def repeated(self) -> tuple[str, ...]:
        """Its aggregates that are taken together over runs of one plan (SPEC R7.3), the one that stands first first."""
        return () if self.primary is None else (self.primary,)

    @property
    def compared(self) -> ComparedColumns | None:
        """The columns of its items; None where runs can't be compared item by item."""
        return None

    def ended_early(self, aggregates: Mapping[str, Any]) -> EndedEarly | None:
        """How a run ended before all items were asked, by its aggregates.json; None where all were.
        Raises: msgspec.ValidationError where that says something else."""
        del aggregates
        return None

    def label_criteria(self, started: RunStarted) -> tuple[LabelCriterion, ...]:
        """The criteria by which people label an answer; by default whether it passes, where items can be compared.
        Empty where an answer is not what a row is about."""
        del started
        if self.compared is None:
            return ()
        meaning = "passed\n  1 the answer is right: it does what the question asks\n  0 it is not"
        return (LabelCriterion("passed", (0, 1), self.compared.passed, meaning),)

    def correctable(self, started: RunStarted) -> Correctable | None:
        """How people's labels correct a run's aggregates and its decision; None where nobody judged, or where people
        can't say all that the judge did: its scores alone are then held against them, criterion by criterion.
        """
        del started
        return None

    def label_rows(self, started: RunStarted) -> LabelRows | None:
        """The rows that labels go by; None where those of samples.parquet are an answer each with its scores."""
        del started
        return None

    def panel(self, derived: DerivedFiles, rows: Iterable[Any], *, seed: int = 0) -> PanelAnalysis | None:
        """The analysis of a run's panel of judges, by its rows; None where none judged. `seed` is of the intervals."""
        del derived, rows, seed
        return None

    def experiment(self, aggregates: Any) -> Experiment | None:
        """Who judged whom, by its aggregates; None where samples are answers.

        Where there is one, the judges score what people may label, and a row has the fields of SPEC P2.
        """
        del aggregates
        return None

    def judged_texts(self, record: Record) -> JudgedTexts:
        """The judged texts, where samples are evaluations. Raises: InputError, RecordError; UsageError for another."""
        raise UsageError(f"{record.path}: samples under {self.id} are answers, and no evaluations")

    def listed(self, types: Mapping[str, polars.DataType]) -> dict[str, polars.Expr]:
        """The columns of a list of samples, by their names there: item_id, section, category, difficulty, score,
        passed, text and reasons (a list of texts). `types` are the columns of samples.parquet with their types."""
        import polars as pl

        columns = self.compared
        assert columns is not None  # noqa: S101 - an evaluator without says itself what its lists show
        there = [name for name in columns.reasons if name in types]
        reasons = [pl.col(name) if isinstance(types[name], pl.List) else pl.concat_list(name) for name in there]
        return {name: pl.col(name) for name in ("item_id", "section", "category", "difficulty")} | {
            "score": pl.col(columns.score),
            "passed": pl.col(columns.passed).cast(pl.Float64) == 1,
            "text": pl.col(columns.answer),
            "reasons": pl.concat_list(reasons) if reasons else pl.lit([], pl.List(pl.String)),
        }

    @property
    def has_predictions(self) -> bool:
        """True if its samples are predictions beside expected answers, as source 004's table has them (A5)."""
        return self.compared is not None and self.compared.expected is not None

    def unanswered_why(self, columns: Collection[str], manifest: Mapping[str, Any]) -> polars.Expr:
        """The class of what kept a sample from being answered (R1.3a); null where the model answered, or had its
        chance. `columns` are those of samples.parquet, `manifest` is the record's, of a run that did not fail itself.
        """
        import polars as pl

        del manifest
        return pl.col("candidate_error") if "candidate_error" in columns else pl.lit(None, pl.String)
