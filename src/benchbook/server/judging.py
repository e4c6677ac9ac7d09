"""Experiments of models that judge: which there are, their evaluations, and the evidence in the judged text."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from msgspec import structs

from benchbook.catalog.queries import EvaluatorRow, IndexedRun, RunFilter, list_runs
from benchbook.errors import RecordError
from benchbook.evaluators.protocol.evaluator import ProtocolEvaluator
from benchbook.evaluators.protocol.plan import ProtocolSamples, open_samples, protocol_plan_of
from benchbook.evaluators.protocol.rows import ProtocolAggregates, ProtocolRow
from benchbook.evaluators.protocol.spec import SPEC_ID
from benchbook.evaluators.registry import evaluator_of, samples_type
from benchbook.evaluators.rubric.reading import rubric_of
from benchbook.evaluators.rubric.rows import AggregatesFile, PanelManifest, RubricManifest
from benchbook.record.tables import read_rows, row_of_sample
from benchbook.server.judging_types import (
    EvaluationDetail,
    EvaluationEvidence,
    EvaluationFault,
    EvaluationsPage,
    EvaluationSpan,
    EvaluationSummary,
    ExperimentList,
    JudgesAnswer,
    JudgesOfRun,
    PanelOfRun,
    panel_of_run,
    protocol_of_run,
)
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import EvaluationsAsked
from benchbook.server.row_lists import RowList
from benchbook.server.services import FoundRun, Services
from benchbook.specs import FROZEN
from benchbook.views.judges import judges_agreement_table, judges_table, panel_lines, panel_notices
from benchbook.views.views import table_json

if TYPE_CHECKING:
    import polars

__all__ = [
    "EvaluationDetail",
    "EvaluationEvidence",
    "EvaluationFault",
    "EvaluationSpan",
    "EvaluationSummary",
    "EvaluationsPage",
    "ExperimentList",
    "JudgesOfRun",
    "PanelOfRun",
    "get_evaluation",
    "get_judges",
    "get_panel",
    "list_evaluations",
    "list_experiments",
    "panel_of_run",
]


_MOST = 200
_ASKED = 3  # of an evaluator's records: one would tell, were it not gone
_SUMMARY = (
    "sample", "question_id", "prompt_variant", "target_model", "output_id", "judge_model", "method", "repeat", "valid",
    "flags", "verdict", "overall_score",
)  # fmt: skip


def list_experiments(call: Request) -> ExperimentList:
    rows = list_runs(call.services.catalog, RunFilter(samples_are="evaluations", state="complete"), limit=_MOST).runs
    found = [_in_short(call.services, call.services.finished(row.run_id)) for row in rows]
    return ExperimentList(experiments=tuple(found))


def _judged_under(services: Services, one: EvaluatorRow) -> tuple[IndexedRun, ...]:
    """The experiments under an evaluator; none where it is no judge protocol, as its records tell."""
    if one.spec in FROZEN and one.spec != SPEC_ID:
        return ()
    wanted = RunFilter(spec=one.spec, spec_sha256=one.spec_sha256, state="complete")
    rows = list_runs(services.catalog, wanted, limit=_MOST).runs
    is_protocol = one.spec == SPEC_ID or any(_is_judged(services, row) for row in rows[:_ASKED])
    return rows if is_protocol else ()


def _is_judged(services: Services, row: IndexedRun) -> bool:
    try:
        return isinstance(evaluator_of(services.finished(row.run_id).record), ProtocolEvaluator)
    except (ProblemError, RecordError):  # a record that is gone, or of an evaluator that is not here
        return False


def _in_short(services: Services, found: FoundRun) -> JudgesOfRun:
    def make() -> JudgesOfRun:
        file: ProtocolAggregates = evaluator_of(found.record).read(found.record).aggregates
        return JudgesOfRun(
            run_id=found.row.run_id,
            spec=file.spec,
            state=found.row.state,
            started_utc=found.row.started_utc,
            dataset_id=found.row.dataset_id,
            judges=tuple(one.judge_model for one in file.judges),
            targets=tuple(dict.fromkeys(one.target_model for one in file.analysis.targets)),
            n_outputs=file.n_outputs,
            n_evaluations=file.n_evaluations,
            n_valid=file.n_valid,
            n_invalid=file.n_invalid,
        )

    return services.kept.get(("judges", found.row.run_id, found.state_id), make, lambda _: 4_096)


def get_judges(call: Request) -> JudgesAnswer:
    found, evaluator = _experiment(call.services, call.path["run_id"])
    call.is_of(found.state_id, "judges")
    file = evaluator.read(found.record).aggregates
    return JudgesAnswer(**structs.asdict(file), protocol=protocol_of_run(evaluator.protocol))


def list_evaluations(call: Request) -> EvaluationsPage:
    question: EvaluationsAsked = call.query
    found, _ = _experiment(call.services, question.run)
    call.is_of(found.state_id, "evaluations")
    page = _row_list(call.services, found).page(question, _condition(question), None, list(_SUMMARY))
    rows = tuple(EvaluationSummary(**row | {"flags": tuple(row["flags"])}) for row in page.rows)
    return EvaluationsPage(evaluations=rows, n=page.n, next_cursor=page.next_cursor)


def get_evaluation(call: Request) -> EvaluationDetail:
    found, _ = _experiment(call.services, call.query.run)
    call.is_of(found.state_id, "evaluation")
    number = call.path["sample"]
    sample = int(number) if number.isascii() and number.isdigit() and len(number) < 11 else -1
    row = row_of_sample(found.record.samples, samples_type(found.record), sample)
    if row is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is no evaluation of this number")
    samples = _samples(call.services, found)
    text = samples.text_of(samples[sample]).text
    summary = {name: getattr(row, name) for name in _SUMMARY} | {"flags": tuple(row.flags)}
    return EvaluationDetail(
        **summary,
        scores={name: getattr(row, name) for name in samples.protocol.names},
        details=tuple(
            EvaluationFault(flag=one.flag, code=one.code, field=one.field, message=one.message) for one in row.details
        ),
        evidence=_evidence(row, text),
        text=text,
        task=samples.task_of(samples[sample]),
        raw_reply=row.raw_reply,
        text_sha256=row.text_sha256,
        prompt_sha256=row.prompt_sha256,
    )


def _evidence(row: ProtocolRow, text: str) -> tuple[EvaluationEvidence, ...]:
    """With its spans in UTF-16, which browsers count in: a code point beyond U+FFFF counts twice."""
    plain = text.isascii()

    def unit(place: int) -> int:
        return place if plain else len(text[:place].encode("utf-16-le", "surrogatepass")) // 2

    return tuple(
        EvaluationEvidence(
            dimension=one.dimension,
            quote=one.quote,
            reason=one.reason,
            located=one.located,
            spans=tuple(EvaluationSpan(start=unit(span.start), end=unit(span.end)) for span in one.spans),
        )
        for one in row.evidence
    )


def _experiment(services: Services, run_id: str) -> tuple[FoundRun, ProtocolEvaluator]:
    found = services.finished(run_id)
    evaluator = evaluator_of(found.record)
    if not isinstance(evaluator, ProtocolEvaluator):
        wanted = "evaluations are of runs under a judge protocol"
        raise ProblemError(HTTPStatus.CONFLICT, f"this run is under {found.row.spec}; {wanted}")
    return found, evaluator


def _row_list(services: Services, found: FoundRun) -> RowList:
    def make() -> RowList:
        import polars as pl

        frame = pl.read_parquet(found.record.samples, columns=list(_SUMMARY))
        return RowList(frame, f"{found.row.run_id} {found.state_id}")

    return services.kept.get(("evaluations", found.row.run_id, found.state_id), make, lambda rows: rows.n_bytes)


def _samples(services: Services, found: FoundRun) -> ProtocolSamples:
    """What the judges saw; its texts are read when they are asked for."""

    def make() -> ProtocolSamples:
        started = found.record.started()
        return open_samples(found.record, started, protocol_plan_of(started))

    return services.kept.get(
        ("texts", found.row.run_id, found.state_id), make, lambda made: 100_000 + 2_000 * len(made.outputs)
    )


def _condition(wanted: EvaluationsAsked) -> polars.Expr | None:
    import polars as pl

    columns = {
        "question": "question_id", "variant": "prompt_variant", "target": "target_model", "judge": "judge_model",
        "method": "method", "verdict": "verdict", "valid": "valid",
    }  # fmt: skip
    found: list[Any] = [
        pl.col(column) == value
        for name, column in columns.items()
        if (value := getattr(wanted, name)) is not None and value != ""
    ]
    if wanted.flag:
        found.append(pl.col("flags").list.contains(wanted.flag))
    return pl.all_horizontal(*found) if found else None


_MOST_SPLITS = 100
_ABOUT_BYTES = 1 << 16  # of an answer in memory


def get_panel(call: Request) -> PanelOfRun:
    """Computed when it is first asked for, and kept."""
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "panel")
    return call.services.kept.get(
        ("panel", found.row.run_id, found.state_id), lambda: _answer(found), lambda _: _ABOUT_BYTES
    )


def _answer(found: FoundRun) -> PanelOfRun:
    derived = evaluator_of(found.record).read(found.record)
    manifest, file = derived.manifest, derived.aggregates
    if not isinstance(manifest, RubricManifest) or not isinstance(manifest.panel, PanelManifest):
        raise ProblemError(HTTPStatus.NOT_FOUND, "no panel judged this run")
    assert isinstance(file, AggregatesFile)  # noqa: S101 - as is its manifest
    from benchbook.evaluators.rubric.panel import panel_analysis, panel_type

    spec = rubric_of(found.record)
    panel = panel_analysis(manifest, file, read_rows(found.record.samples, samples_type(found.record)), spec)
    return panel_of_run(panel_type(spec))(
        lines=tuple(panel_lines(panel)),
        notices=tuple(panel_notices(panel)),
        judges_table=table_json(judges_table(panel, file)),
        agreement_table=table_json(judges_agreement_table(panel)),
        n_splits=len(panel.splits),
        panel=structs.replace(panel, splits=panel.splits[:_MOST_SPLITS]),
    )
