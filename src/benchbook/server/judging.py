"""Experiments with judges: a list of them, their evaluations, and the evidence in the judged text."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from benchbook.canonical import ready
from benchbook.catalog.queries import list_runs
from benchbook.catalog.run_filters import RunFilter
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.experiments import JudgedTexts
from benchbook.evaluators.panels import Split
from benchbook.evaluators.registry import evaluator_of, samples_type
from benchbook.record.derived_files import reading_frame
from benchbook.record.tables import read_rows, row_of_sample
from benchbook.server.judging_types import (
    EvaluationDetail,
    EvaluationEvidence,
    EvaluationFault,
    EvaluationsPage,
    EvaluationSummary,
    ExperimentList,
    JudgesOfRun,
    PanelOfRun,
    SplitsPage,
    judges_answer,
    panel_of_run,
    protocol_of_run,
    splits_page,
)
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import EvaluationsAsked
from benchbook.server.row_lists import RowList, all_of, asked_for
from benchbook.server.services import FoundRun, Services
from benchbook.views.protocol.pictures import judges_words
from benchbook.views.rubric.panel import judges_agreement_table, judges_table, panel_lines, panel_notices, panel_spans
from benchbook.views.views import table_json, text_spans

if TYPE_CHECKING:
    import polars

_MOST = 200
_SUMMARY = EvaluationSummary.__struct_fields__
_ASKED = {
    "question": "question_id", "variant": "prompt_variant", "target": "target_model", "judge": "judge_model",
    "method": "method", "verdict": "verdict", "valid": "valid",
}  # fmt: skip


def list_experiments(call: Request) -> ExperimentList:
    rows = list_runs(call.services.catalog, RunFilter(samples_are="evaluations", state="complete"), limit=_MOST).runs
    found = [_in_short(call.services, call.services.finished(row.run_id)) for row in rows]
    return ExperimentList(experiments=tuple(one for one in found if one is not None))


def _in_short(services: Services, found: FoundRun) -> JudgesOfRun | None:
    def make() -> JudgesOfRun | None:
        evaluator = evaluator_of(found.record)
        experiment = evaluator.experiment(evaluator.read(found.record).aggregates)
        if experiment is None:
            return None
        return JudgesOfRun(
            run_id=found.row.run_id,
            spec=evaluator.id,
            state=found.row.state,
            started_utc=found.row.started_utc,
            dataset_id=found.row.dataset_id,
            **structs.asdict(experiment),
        )

    return services.kept.get(("judges", found.name), make, lambda _: 4_096)


def get_judges(call: Request) -> Any:
    """aggregates.json, what the judges score, and that in words."""
    found, evaluator = _experiment(call.services, call.path["run_id"])
    call.is_of(found.state_id, "judges")
    file: msgspec.Struct = evaluator.read(found.record).aggregates
    protocol = protocol_of_run(evaluator.label_criteria(found.record.started()))
    words = judges_words(file.analysis, protocol)  # type: ignore[attr-defined]  # of every experiment
    return judges_answer(type(file))(**structs.asdict(file), protocol=protocol, words=words)


def list_evaluations(call: Request) -> EvaluationsPage:
    question: EvaluationsAsked = call.query
    found, _ = _experiment(call.services, question.run)
    call.is_of(found.state_id, "evaluations")
    page = _row_list(call.services, found).page(question, _condition(question), None, list(_SUMMARY))
    rows = tuple(EvaluationSummary(**row | {"flags": tuple(row["flags"])}) for row in page.rows)
    return EvaluationsPage(evaluations=rows, n=page.n, next_cursor=page.next_cursor)


def get_evaluation(call: Request) -> EvaluationDetail:
    found, evaluator = _experiment(call.services, call.query.run)
    call.is_of(found.state_id, "evaluation")
    sample = call.number("sample")
    row = None if sample is None else row_of_sample(found.record.samples, samples_type(found.record), sample)
    if sample is None or row is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is no evaluation of this number")
    text, task = _texts(call.services, found, evaluator).seen(sample)
    summary = {name: getattr(row, name) for name in _SUMMARY} | {"flags": tuple(row.flags)}
    return EvaluationDetail(
        **summary,
        scores={one.name: getattr(row, one.column) for one in evaluator.label_criteria(found.record.started())},
        details=msgspec.convert(row.details, ready(tuple[EvaluationFault, ...]), from_attributes=True),
        evidence=_evidence(row, text),
        text=text,
        task=task,
        raw_reply=row.raw_reply,
        text_sha256=row.text_sha256,
        prompt_sha256=row.prompt_sha256,
    )


def _evidence(row: Any, text: str) -> tuple[EvaluationEvidence, ...]:
    return tuple(
        EvaluationEvidence(
            dimension=one.dimension,
            quote=one.quote,
            reason=one.reason,
            located=one.located,
            spans=text_spans(text, [(span.start, span.end) for span in one.spans]),
        )
        for one in row.evidence
    )


def _experiment(services: Services, run_id: str) -> tuple[FoundRun, Evaluator]:
    found = services.finished(run_id)
    evaluator = evaluator_of(found.record)
    if evaluator.samples_are != "evaluations":
        wanted = "evaluations are of runs under a judge protocol"
        raise ProblemError(HTTPStatus.CONFLICT, f"this run is under {found.row.spec}; {wanted}")
    return found, evaluator


def _row_list(services: Services, found: FoundRun) -> RowList:
    def make() -> RowList:
        import polars as pl

        with reading_frame(found.record.samples):
            frame = pl.read_parquet(found.record.samples, columns=list(_SUMMARY))
        return RowList(frame, found.name)

    return services.kept.get(("evaluations", found.name), make, lambda rows: rows.n_bytes)


def _texts(services: Services, found: FoundRun, evaluator: Evaluator) -> JudgedTexts:
    return services.kept.get(
        ("texts", found.name),
        lambda: evaluator.judged_texts(found.record),
        lambda texts: 100_000 + 2_000 * texts.n_outputs,
    )


def _condition(wanted: EvaluationsAsked) -> polars.Expr | None:
    import polars as pl

    found = asked_for(wanted, _ASKED)
    if wanted.flag:
        found.append(pl.col("flags").list.contains(wanted.flag))
    return all_of(found)


_MOST_SPLITS = 100
_ABOUT_BYTES = 1 << 16  # of an answer in memory


_BYTES_OF_SPLIT = 400


def get_panel(call: Request) -> PanelOfRun:
    """A run's panel of judges: computed when it is first asked for, and kept."""
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "panel")
    answer, _ = _panel(call.services, found)
    return answer


def list_splits(call: Request) -> SplitsPage:
    """The samples that a panel's judges split on, by their place in the ranking."""
    found, asked = call.services.finished(call.path["run_id"]), call.query
    call.is_of(found.state_id, "splits", str(asked.offset), str(asked.limit))
    answer, splits = _panel(call.services, found)
    page = tuple(splits[asked.offset : asked.offset + asked.limit])
    return splits_page(type(answer.panel))(splits=page, n=len(splits))


def _panel(services: Services, found: FoundRun) -> tuple[PanelOfRun, list[Split]]:
    """The answer about a panel, and all that its judges split on."""
    return services.kept.get(
        ("panel", found.name),
        lambda: _answer(found),
        lambda kept: _ABOUT_BYTES + _BYTES_OF_SPLIT * len(kept[1]),
    )


def _answer(found: FoundRun) -> tuple[PanelOfRun, list[Split]]:
    evaluator = evaluator_of(found.record)
    derived = evaluator.read(found.record)
    panel = evaluator.panel(derived, read_rows(found.record.samples, samples_type(found.record)))
    if panel is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "no panel judged this run")
    gates = () if derived.decision is None else derived.decision.gates
    answer = panel_of_run(type(panel))(
        lines=tuple(panel_lines(panel)),
        notices=tuple(panel_notices(panel)),
        judges_table=table_json(judges_table(panel, derived.aggregates)),
        agreement_table=table_json(judges_agreement_table(panel)),
        pictures=tuple(panel_spans(panel, derived.aggregates, gates)),
        n_splits=len(panel.splits),
        panel=structs.replace(panel, splits=panel.splits[:_MOST_SPLITS]),
    )
    return answer, panel.splits
