"""Every operation of the API, in the order of the reference."""

from __future__ import annotations

from functools import cache

import msgspec

from benchbook.catalog.totals import FilterValues
from benchbook.comparison.leaderboard import Leaderboard
from benchbook.comparison.run_slices import RunSlices
from benchbook.evaluators.registry import derived_types
from benchbook.record.marks import MarksChange
from benchbook.server import (
    allowed_configs,
    compared_items,
    comparison_downloads,
    comparison_numbers,
    comparison_runs,
    comparison_types,
    following,
    item_answers,
    item_histories,
    item_summary,
    item_types,
    judging,
    judging_types,
    labelling,
    leaderboards,
    marks,
    predictions,
    questions,
    run_downloads,
    runs,
    samples,
    starting,
    submissions,
    types,
    verifying,
)
from benchbook.server import openapi as own
from benchbook.server.operations import PARQUET, Bytes, Operation, Request
from benchbook.server.services import METRICS_MEDIA
from benchbook.server.types import encoded

_API = "/api/v1"
_NDJSON = "application/x-ndjson"
_CHUNK_BYTES = 32 << 20
_LOGIN_BYTES = 4 << 10  # who sends it is not known yet
_TYPES = derived_types()
# Generated clients take the first type that fits, so one whose fields another has too stands behind it.
_MOST_FIRST = sorted(_TYPES, key=lambda one: -len(msgspec.structs.fields(one.manifest)))


def _get_openapi(call: Request) -> Bytes:
    del call
    return Bytes(_document())


@cache
def _document() -> bytes:
    return msgspec.json.encode(own.openapi_document(OPERATIONS))


OPERATIONS: tuple[Operation, ...] = (
    # ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{_API}/runs", name="listRuns", summary="Runs that fit all filters, by pages.",
        handler=runs.list_of_runs, query=questions.RunsAsked, answers=(types.RunsPage,),
    ),
    Operation(
        method="GET", path=f"{_API}/totals", name="getTotals", summary="The runs that fit, taken together.",
        handler=run_downloads.get_totals, query=questions.RunsFilter, answers=(types.RunTotalsAnswer,),
    ),
    Operation(
        method="GET", path=f"{_API}/filters", name="getFilters", summary="The values that runs can be filtered by.",
        handler=run_downloads.get_filters, answers=(FilterValues,),
    ),
    Operation(
        method="GET", path=f"{_API}/runs.ndjson", name="downloadRuns", summary="The runs that fit, as JSON lines.",
        handler=run_downloads.run_lines, query=questions.RunsOrder, media=_NDJSON,
    ),
    Operation(
        method="GET", path=f"{_API}/runs.csv", name="downloadRunsCsv", summary="The runs that fit, for a spreadsheet.",
        handler=run_downloads.run_csv, query=questions.RunsOrder, media="text/csv; charset=utf-8",
    ),
    Operation(
        method="GET", path=f"{_API}/runs.parquet", name="downloadRunsParquet", summary="The runs that fit, as a table.",
        handler=run_downloads.run_parquet, query=questions.RunsOrder, media=PARQUET,
    ),
    Operation(
        method="POST", path=f"{_API}/runs", name="startRun", summary="Start a run by its config.",
        handler=starting.start_run, body=questions.RunNew, answers=(types.Started,), status=202, scope="write",
    ),
    Operation(
        method="GET", path=f"{_API}/configs", name="listConfigs",
        summary="The configs in the server's folder of inputs, from which runs may be started.",
        handler=allowed_configs.list_configs, answers=(allowed_configs.AllowedConfigs,), scope="write",
    ),
    Operation(
        method="GET", path=f"{_API}/configs/forecast", name="getForecast",
        summary="What a run from one of these configs would ask, and cost at most.", query=questions.ConfigAsked,
        handler=allowed_configs.get_forecast, answers=(allowed_configs.ConfigForecast,), scope="write", heavy=True,
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/start", name="getStart",
        summary="How far a run is that was started here.", handler=starting.get_start, answers=(types.Started,),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}", name="getRun", summary="One run.",
        handler=runs.get_run, answers=(types.RunRow,),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/progress", name="getProgress",
        summary="How far a run is that goes on, or was stopped: samples, score so far, cost, time left.",
        handler=following.get_progress, answers=(following.RunProgress,),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/manifest", name="getManifest",
        summary="manifest.json: who, what, when, with what.", handler=runs.get_manifest,
        answers=tuple(one.manifest for one in _MOST_FIRST),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/aggregates", name="getAggregates", summary="aggregates.json.",
        handler=runs.get_aggregates, answers=tuple(one.aggregates for one in _MOST_FIRST),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/decision", name="getDecision",
        summary="decision.json, or why a decision is refused.", handler=runs.get_decision,
        answers=(types.DecisionOfRun, types.RefusedDecision, types.VerdictOfRun),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/criteria", name="getCriteria",
        summary="What its answers are scored by, each on its scale.", handler=runs.get_criteria,
        answers=(runs.CriteriaOfRun,),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/slices", name="getSlices",
        summary="Its score and passes by section, category and difficulty, with intervals.", handler=runs.get_slices,
        answers=(RunSlices,), heavy=True,
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/panel", name="getPanel",
        summary="A panel of judges: each alone, how they agree, and the samples that they split on.",
        handler=judging.get_panel, heavy=True,
        answers=tuple(judging_types.panel_of_run(one.panel) for one in _TYPES if one.panel is not None),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/panel/splits", name="listSplits",
        summary="The samples that a panel's judges split on, by pages: first what a person should look at first.",
        handler=judging.list_splits, query=questions.SplitsAsked, heavy=True,
        answers=tuple(judging_types.splits_page(one.panel) for one in _TYPES if one.panel is not None),
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/marks", name="getMarks",
        summary="People's marks on a run: its name, note and tags, and whether it is archived.",
        handler=marks.get_marks, answers=(types.MarksOfRun,),
    ),
    Operation(
        method="PATCH", path=f"{_API}/runs/{{run_id}}/marks", name="changeMarks",
        summary="Change a run's marks. To replace a name or a note, send If-Match.",
        handler=marks.change_marks, body=MarksChange, answers=(types.MarksOfRun,), scope="label", if_match=True,
    ),
    Operation(
        method="POST", path=f"{_API}/marks", name="changeManyMarks",
        summary="Tag or archive many runs at once: all of them, or none.",
        handler=marks.change_many, body=questions.MarksOfRuns, answers=(types.MarksChanged,), scope="label",
    ),
    Operation(
        method="PUT", path=f"{_API}/runs/{{run_id}}/tags", name="putTags",
        summary="Set a run's tags; with If-Match only where nobody changed its marks.",
        handler=marks.put_tags, body=questions.TagsNew, answers=(types.Tags,), scope="label", if_match=True,
    ),
    Operation(
        method="POST", path=f"{_API}/runs/{{run_id}}/verify", name="verifyRun",
        summary="Derive everything in the record again and compare, byte by byte.", handler=verifying.verify_run,
        answers=(types.VerificationAnswer,), heavy=True,
    ),
    Operation(
        method="POST", path=f"{_API}/runs/{{run_id}}/verification", name="beginVerification",
        summary="Begin to verify the record, and don't wait for it.", handler=verifying.begin_verification,
        answers=(verifying.VerificationJob,), status=202,
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/verification", name="getVerification",
        summary="How far a verification is that was begun, and what came of it.", handler=verifying.get_verification,
        answers=(verifying.VerificationJob,),
    ),
    Operation(
        method="POST", path=f"{_API}/runs/{{run_id}}/resume", name="resumeRun",
        summary="Go on with a run that was started here, where its journal ends.", handler=starting.resume_run,
        answers=(types.Started,), status=202, scope="write",
    ),
    Operation(
        method="POST", path=f"{_API}/runs/{{run_id}}/cancel", name="cancelRun",
        summary="End a run that was started here; its record resumes.", handler=starting.cancel_run,
        answers=(types.CancelAnswer,), status=202, scope="write",
    ),
    # ── samples ──────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/samples", name="listSamples", summary="Samples, by pages.",
        handler=samples.list_samples, query=questions.SamplesAsked, answers=(types.SamplesPage,), tag="samples",
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/samples/{{sample}}", name="getSample", summary="One sample, whole.",
        handler=samples.get_sample, answers=(types.SampleDetail,), tag="samples",
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/samples.ndjson", name="downloadSamples",
        summary="Every row of samples.parquet with what was asked, as JSON lines.", handler=samples.sample_lines,
        media=_NDJSON, tag="samples",
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/samples.csv", name="downloadSamplesCsv",
        summary="The same rows, for a spreadsheet.", handler=samples.sample_csv, media="text/csv; charset=utf-8",
        tag="samples",
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/samples.parquet", name="downloadSampleTable",
        summary="samples.parquet.", handler=samples.sample_table, media=PARQUET, tag="samples",
    ),
    # ── predictions ──────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path="/api/tunix/runs/{run_id}/predictions", name="getTunixPredictions",
        summary="Per-item predictions of a scored run, or why there are none.",
        handler=predictions.tunix_predictions, quick=predictions.kept_predictions, query=questions.PredictionsAsked,
        answers=(types.PredictionsOfRun, types.PredictionsUnavailable), tag="predictions",
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/predictions.ndjson", name="downloadPredictions",
        summary="The same rows as JSON lines.", handler=predictions.prediction_lines, media=_NDJSON, tag="predictions",
    ),
    Operation(
        method="POST", path=f"{_API}/submissions", name="beginSubmission",
        summary="Begin to send predictions that were made elsewhere.", handler=submissions.begin_submission,
        body=questions.SubmissionNew, answers=(types.Submission,), status=201, scope="write", tag="predictions",
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/predictions/chunks", name="getSubmission",
        summary="What came so far.", handler=submissions.get_submission, answers=(types.Submission,), tag="predictions",
    ),
    Operation(
        method="PUT", path=f"{_API}/runs/{{run_id}}/predictions/chunks/{{key}}", name="putChunk",
        summary="Send a chunk: JSON lines with item_id and predicted. The same again changes nothing.",
        handler=submissions.put_chunk, body=_NDJSON, answers=(types.Appended,), scope="write",
        most_body_bytes=_CHUNK_BYTES, tag="predictions",
    ),
    Operation(
        method="DELETE", path=f"{_API}/runs/{{run_id}}/predictions/chunks/{{key}}", name="dropChunk",
        summary="Take one chunk back.", handler=submissions.drop_chunk, answers=(types.Submission,), scope="write",
        tag="predictions",
    ),
    Operation(
        method="POST", path=f"{_API}/runs/{{run_id}}/predictions/finish", name="finishSubmission",
        summary="Score what came into a record: all of it, or nothing.", handler=submissions.finish_submission,
        answers=(types.RunRow,), status=201, scope="write", heavy=True, tag="predictions",
    ),
    Operation(
        method="DELETE", path=f"{_API}/runs/{{run_id}}/predictions/chunks", name="dropSubmission",
        summary="Forget the chunks that came.", handler=submissions.drop_submission, answers=(types.Submission,),
        scope="write", tag="predictions",
    ),
    # ── training ─────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/training-metrics", name="getTrainingMetrics",
        summary="Training curves, thinned for a plot.", handler=runs.get_curves, query=questions.CurvesAsked,
        answers=(types.TrainingMetrics,), tag="training",
    ),
    Operation(
        method="GET", path=f"{_API}/runs/{{run_id}}/metrics/{{metric}}", name="getCurve", summary="One training curve.",
        handler=runs.get_curve, query=questions.MetricAsked, answers=(types.MetricCurve,), tag="training",
    ),
    # ── comparisons ──────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{_API}/comparisons", name="comparePair",
        summary="Two runs: scores, the paired difference, what was measured differently, counts by class.",
        handler=comparison_numbers.get_pair, query=questions.PairAsked, answers=(comparison_types.Pair,), heavy=True,
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/set", name="compareSet",
        summary="Two to twenty runs by any metric, each against a baseline, and their ranks.",
        handler=comparison_numbers.get_set,
        query=questions.ComparedRuns, answers=(comparison_types.ComparedSet,), heavy=True, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/runs", name="listRunsToCompare",
        summary="The runs of a comparison, with their training steps, and the baseline where nobody has chosen one.",
        handler=comparison_runs.get_runs, query=questions.RunsToCompare, answers=(comparison_types.RunsOfSet,),
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/items", name="listComparedItems",
        summary="Items of two runs, by pages.",
        handler=compared_items.list_items, query=questions.ItemsAsked, answers=(item_types.ItemsPage,),
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/items/summary", name="summarizeComparedItems",
        summary="What the items that fit come to: differences in bins, A against B, slices, what was lost and won.",
        handler=item_summary.summarize_items, query=questions.ItemsFilter, answers=(item_types.ItemsSummary,),
        heavy=True, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/items/{{position}}", name="getComparedItem",
        summary="One item, whole: the answers of two to eight runs, what judges said, and what differs by word.",
        handler=item_answers.get_item, query=questions.OneItemAsked, answers=(item_types.ItemDetail,),
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/items.ndjson", name="downloadComparedItems",
        summary="The items that fit, as JSON lines.", handler=comparison_downloads.item_lines,
        query=questions.ItemsFilter, media=_NDJSON, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/items.csv", name="downloadComparedItemsCsv",
        summary="The items that fit, for a spreadsheet.", handler=comparison_downloads.item_csv,
        query=questions.ItemsFilter, media="text/csv; charset=utf-8", tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/items.parquet", name="downloadComparedItemsParquet",
        summary="The items that fit, as a table.", handler=comparison_downloads.item_parquet,
        query=questions.ItemsFilter, media=PARQUET, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/report.html", name="downloadComparisonReport",
        summary="The report of the comparison: one page that needs nothing but itself.",
        handler=comparison_downloads.report, query=questions.ComparedRuns, media="text/html; charset=utf-8", heavy=True,
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/history", name="listItemHistories",
        summary="Each item's way through three to eight runs, by pages.", handler=item_histories.history_page,
        query=questions.HistoryAsked, answers=(comparison_types.HistoryPage,), heavy=True, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{_API}/comparisons/history/summary", name="getHistorySummary",
        summary="How many items were learned, forgotten, flipping.", handler=item_histories.history_summary,
        query=questions.HistoryCounts, answers=(comparison_types.HistorySummary,), heavy=True, tag="comparisons",
    ),
    # ── eval sets and leaderboards ───────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{_API}/evalsets", name="listEvalSets", summary="Eval sets that runs were made on.",
        handler=leaderboards.list_of_evalsets, answers=(types.EvalSetList,), tag="leaderboards",
    ),
    Operation(
        method="GET", path=f"{_API}/evaluators", name="listEvaluators", summary="Evaluators that have runs.",
        handler=leaderboards.list_of_evaluators, answers=(types.EvaluatorList,), tag="leaderboards",
    ),
    Operation(
        method="GET", path=f"{_API}/leaderboards", name="getLeaderboard",
        summary="Runs over one eval set, ranked, with intervals of their ranks.", handler=leaderboards.get_leaderboard,
        query=questions.LeaderboardAsked, answers=(Leaderboard,), heavy=True, tag="leaderboards",
    ),
    # ── judges ───────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{_API}/judges", name="listExperiments",
        summary="Experiments with judges, the newest first.", handler=judging.list_experiments,
        answers=(judging_types.ExperimentList,), tag="judges",
    ),
    Operation(
        method="GET", path=f"{_API}/judges/{{run_id}}", name="getJudges",
        summary="What an experiment says of its judges and targets.", handler=judging.get_judges,
        answers=tuple(judging_types.judges_answer(one.aggregates) for one in _TYPES if one.is_experiment), tag="judges",
    ),
    Operation(
        method="GET", path=f"{_API}/evaluations", name="listEvaluations", summary="Evaluations, by pages.",
        handler=judging.list_evaluations, query=questions.EvaluationsAsked, answers=(judging_types.EvaluationsPage,),
        tag="judges",
    ),
    Operation(
        method="GET", path=f"{_API}/evaluations/{{sample}}", name="getEvaluation",
        summary="One evaluation, whole, with its evidence in the judged text.", handler=judging.get_evaluation,
        query=questions.RunAsked, answers=(judging_types.EvaluationDetail,), tag="judges",
    ),
    # ── labels ───────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{_API}/labels", name="listBooks", summary="Records of people's labels.",
        handler=labelling.list_books, answers=(labelling.BookList,), tag="labels",
    ),
    Operation(
        method="POST", path=f"{_API}/labels", name="createBook",
        summary="Draw samples of a run for people to label, the judge's scores hidden.", handler=labelling.create_book,
        body=questions.BookNew, answers=(labelling.Book,), status=201, scope="write", heavy=True, tag="labels",
    ),
    Operation(
        method="GET", path=f"{_API}/labels/{{book}}", name="getBook", summary="How far people are.",
        handler=labelling.get_book, answers=(labelling.Book,), tag="labels",
    ),
    Operation(
        method="GET", path=f"{_API}/labels/{{book}}/next", name="getNextLabel", summary="What is to be labelled next.",
        handler=labelling.next_label, query=questions.LabelsAsked, answers=(labelling.LabelStep,), scope="label",
        tag="labels",
    ),
    Operation(
        method="POST", path=f"{_API}/labels/{{book}}/labels", name="giveLabel",
        summary="Record a score; answers with the next question.", handler=labelling.give_label,
        body=questions.LabelGiven, answers=(labelling.LabelStep,), status=201, scope="label", tag="labels",
    ),
    Operation(
        method="POST", path=f"{_API}/labels/{{book}}/undo", name="undoLabel", summary="Take one's last label back.",
        handler=labelling.undo_label, body=questions.LabelUndone, answers=(labelling.LabelStep,), scope="label",
        tag="labels",
    ),
    Operation(
        method="GET", path=f"{_API}/labels/{{book}}/disputes", name="listDisputes",
        summary="What two people scored differently and nobody has settled, by pages; who said what is not told.",
        handler=labelling.list_disputes, query=questions.DisputesAsked, answers=(labelling.DisputesPage,),
        scope="label", tag="labels",
    ),
    Operation(
        method="GET", path=f"{_API}/labels/{{book}}/calibration", name="getCalibration",
        summary="How far people agree, and the judge with them: confusion, corrected values, the decision they give.",
        handler=labelling.get_calibration, query=questions.CalibrationAsked,
        answers=(labelling.CalibrationAnswer,), heavy=True, tag="labels",
    ),
    # ── the server itself ────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{_API}/events", name="listen",
        summary="Server-sent events: `run` with a run that changed, `removed` with the id of one that is gone, "
        "`indexing` with how far the first look is.",
        handler=own.listen, media="text/event-stream", tag="server",
    ),
    Operation(
        method="GET", path=f"{_API}/indexing", name="getIndexing",
        summary="How far the server is with its first look through the folder of records.", handler=own.get_indexing,
        answers=(types.Indexing,), tag="server",
    ),
    Operation(
        method="GET", path=f"{_API}/me", name="getMe", summary="Who asks, and what they may do.", handler=own.get_me,
        answers=(types.WhoAmI,), scope=None, tag="server",
    ),
    Operation(
        method="POST", path=f"{_API}/login", name="login", summary="Cookies in the place of a token, for the page.",
        handler=own.login, body=questions.Login, most_body_bytes=_LOGIN_BYTES, answers=(types.LoginAnswer,),
        scope=None, tag="server",
    ),
    Operation(
        method="POST", path=f"{_API}/logout", name="logout", summary="End the session.", handler=own.logout,
        answers=(types.WhoAmI,), scope=None, tag="server",
    ),
    Operation(
        method="GET", path=f"{_API}/openapi.json", name="getOpenApi", summary="This document.", handler=_get_openapi,
        scope=None, tag="server",
    ),
    Operation(
        method="GET", path="/healthz", name="getHealth", summary="The process answers.", handler=own.get_health,
        quick=lambda call: encoded(own.get_health(call)), answers=(types.Live,), scope=None, tag="server",
    ),
    Operation(
        method="GET", path="/readyz", name="getReadiness", summary="Catalog and folder can be read.",
        handler=own.get_readiness, quick=lambda call: encoded(own.get_readiness(call)),
        answers=(types.Ready,), scope=None, tag="server",
    ),
    Operation(
        method="GET", path="/metrics", name="getMetrics", summary="Counters for Prometheus.", handler=own.get_metrics,
        media=METRICS_MEDIA, tag="server",
    ),
)  # fmt: skip
