"""The operations on runs: their lists and marks, what was derived of them, samples, predictions, training."""

from __future__ import annotations

import msgspec

from benchbook.catalog.totals import FilterValues
from benchbook.comparison.run_slices import RunSlices
from benchbook.evaluators.registry import derived_types
from benchbook.record.marks import MarksChange
from benchbook.server import (
    allowed_configs,
    following,
    judging,
    judging_types,
    marks,
    predictions,
    questions,
    run_downloads,
    runs,
    sample_types,
    samples,
    starting,
    submissions,
    types,
    verifying,
)
from benchbook.server.operations import PARQUET, Operation

API = "/api/v1"
NDJSON = "application/x-ndjson"
_CHUNK_BYTES = 32 << 20
TYPES = derived_types()
# Generated clients take the first type that fits, so one whose fields another has too stands behind it.
_MOST_FIRST = sorted(TYPES, key=lambda one: -len(msgspec.structs.fields(one.manifest)))


OF_RUNS: tuple[Operation, ...] = (
    # ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{API}/runs", name="listRuns", summary="Runs that fit all filters, by pages.",
        handler=runs.list_of_runs, query=questions.RunsAsked, answers=(types.RunsPage,),
    ),
    Operation(
        method="GET", path=f"{API}/totals", name="getTotals", summary="The runs that fit, taken together.",
        handler=run_downloads.get_totals, query=questions.RunsFilter, answers=(types.RunTotalsAnswer,),
    ),
    Operation(
        method="GET", path=f"{API}/filters", name="getFilters", summary="The values that runs can be filtered by.",
        handler=run_downloads.get_filters, answers=(FilterValues,),
    ),
    Operation(
        method="GET", path=f"{API}/runs.ndjson", name="downloadRuns", summary="The runs that fit, as JSON lines.",
        handler=run_downloads.run_lines, query=questions.RunsOrder, media=NDJSON,
    ),
    Operation(
        method="GET", path=f"{API}/runs.csv", name="downloadRunsCsv", summary="The runs that fit, for a spreadsheet.",
        handler=run_downloads.run_csv, query=questions.RunsOrder, media="text/csv; charset=utf-8",
    ),
    Operation(
        method="GET", path=f"{API}/runs.parquet", name="downloadRunsParquet", summary="The runs that fit, as a table.",
        handler=run_downloads.run_parquet, query=questions.RunsOrder, media=PARQUET,
    ),
    Operation(
        method="POST", path=f"{API}/runs", name="startRun", summary="Start a run by its config.",
        handler=starting.start_run, body=questions.RunNew, answers=(types.Started,), status=202, scope="write",
    ),
    Operation(
        method="GET", path=f"{API}/configs", name="listConfigs",
        summary="The configs in the server's folder of inputs, from which runs may be started.",
        handler=allowed_configs.list_configs, answers=(allowed_configs.AllowedConfigs,), scope="write",
    ),
    Operation(
        method="GET", path=f"{API}/configs/forecast", name="getForecast",
        summary="What a run from one of these configs would ask, and cost at most.", query=questions.ConfigAsked,
        handler=allowed_configs.get_forecast, answers=(allowed_configs.ConfigForecast,), scope="write", heavy=True,
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/start", name="getStart",
        summary="How far a run is that was started here.", handler=starting.get_start, answers=(types.Started,),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}", name="getRun", summary="One run.",
        handler=runs.get_run, answers=(types.RunRow,),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/progress", name="getProgress",
        summary="How far a run is that goes on, or was stopped: samples, score so far, cost, time left.",
        handler=following.get_progress, answers=(following.RunProgress,),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/manifest", name="getManifest",
        summary="manifest.json: who, what, when, with what.", handler=runs.get_manifest,
        answers=tuple(one.manifest for one in _MOST_FIRST),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/aggregates", name="getAggregates", summary="aggregates.json.",
        handler=runs.get_aggregates, answers=tuple(one.aggregates for one in _MOST_FIRST),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/decision", name="getDecision",
        summary="decision.json, or why a decision is refused.", handler=runs.get_decision,
        answers=(types.DecisionOfRun, types.RefusedDecision, types.VerdictOfRun),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/criteria", name="getCriteria",
        summary="What its answers are scored by, each on its scale.", handler=runs.get_criteria,
        answers=(runs.CriteriaOfRun,),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/slices", name="getSlices",
        summary="Its score and passes by section, category and difficulty, with intervals.", handler=runs.get_slices,
        answers=(RunSlices,), heavy=True,
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/panel", name="getPanel",
        summary="A panel of judges: each alone, how they agree, and the samples that they split on.",
        handler=judging.get_panel, heavy=True,
        answers=tuple(judging_types.panel_of_run(one.panel) for one in TYPES if one.panel is not None),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/panel/splits", name="listSplits",
        summary="The samples that a panel's judges split on, by pages: first what a person should look at first.",
        handler=judging.list_splits, query=questions.SplitsAsked, heavy=True,
        answers=tuple(judging_types.splits_page(one.panel) for one in TYPES if one.panel is not None),
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/marks", name="getMarks",
        summary="People's marks on a run: its name, note and tags, and whether it is archived.",
        handler=marks.get_marks, answers=(types.MarksOfRun,),
    ),
    Operation(
        method="PATCH", path=f"{API}/runs/{{run_id}}/marks", name="changeMarks",
        summary="Change a run's marks. To replace a name or a note, send If-Match.",
        handler=marks.change_marks, body=MarksChange, answers=(types.MarksOfRun,), scope="label", if_match=True,
    ),
    Operation(
        method="POST", path=f"{API}/marks", name="changeManyMarks",
        summary="Tag or archive many runs at once: all of them, or none.",
        handler=marks.change_many, body=questions.MarksOfRuns, answers=(types.MarksChanged,), scope="label",
    ),
    Operation(
        method="PUT", path=f"{API}/runs/{{run_id}}/tags", name="putTags",
        summary="Set a run's tags; with If-Match only where nobody changed its marks.",
        handler=marks.put_tags, body=questions.TagsNew, answers=(types.Tags,), scope="label", if_match=True,
    ),
    Operation(
        method="POST", path=f"{API}/runs/{{run_id}}/verify", name="verifyRun",
        summary="Derive everything in the record again and compare, byte by byte.", handler=verifying.verify_run,
        answers=(types.VerificationAnswer,), heavy=True,
    ),
    Operation(
        method="POST", path=f"{API}/runs/{{run_id}}/verification", name="beginVerification",
        summary="Begin to verify the record, and don't wait for it.", handler=verifying.begin_verification,
        answers=(verifying.VerificationJob,), status=202,
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/verification", name="getVerification",
        summary="How far a verification is that was begun, and what came of it.", handler=verifying.get_verification,
        answers=(verifying.VerificationJob,),
    ),
    Operation(
        method="POST", path=f"{API}/runs/{{run_id}}/resume", name="resumeRun",
        summary="Go on with a run that was started here, where its journal ends.", handler=starting.resume_run,
        answers=(types.Started,), status=202, scope="write",
    ),
    Operation(
        method="POST", path=f"{API}/runs/{{run_id}}/cancel", name="cancelRun",
        summary="End a run that was started here; its record resumes.", handler=starting.cancel_run,
        answers=(types.CancelAnswer,), status=202, scope="write",
    ),
    # ── samples ──────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/samples", name="listSamples", summary="Samples, by pages.",
        handler=samples.list_samples, query=questions.SamplesAsked, answers=(sample_types.SamplesPage,), tag="samples",
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/samples/{{sample}}", name="getSample", summary="One sample, whole.",
        handler=samples.get_sample, answers=(sample_types.SampleDetail,), tag="samples",
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/samples.ndjson", name="downloadSamples",
        summary="Every row of samples.parquet with what was asked, as JSON lines.", handler=samples.sample_lines,
        media=NDJSON, tag="samples",
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/samples.csv", name="downloadSamplesCsv",
        summary="The same rows, for a spreadsheet.", handler=samples.sample_csv, media="text/csv; charset=utf-8",
        tag="samples",
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/samples.parquet", name="downloadSampleTable",
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
        method="GET", path=f"{API}/runs/{{run_id}}/predictions.ndjson", name="downloadPredictions",
        summary="The same rows as JSON lines.", handler=predictions.prediction_lines, media=NDJSON, tag="predictions",
    ),
    Operation(
        method="POST", path=f"{API}/submissions", name="beginSubmission",
        summary="Begin to send predictions that were made elsewhere.", handler=submissions.begin_submission,
        body=questions.SubmissionNew, answers=(types.Submission,), status=201, scope="write", tag="predictions",
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/predictions/chunks", name="getSubmission",
        summary="What came so far.", handler=submissions.get_submission, answers=(types.Submission,), tag="predictions",
    ),
    Operation(
        method="PUT", path=f"{API}/runs/{{run_id}}/predictions/chunks/{{key}}", name="putChunk",
        summary="Send a chunk: JSON lines with item_id and predicted. The same again changes nothing.",
        handler=submissions.put_chunk, body=NDJSON, answers=(types.Appended,), scope="write",
        most_body_bytes=_CHUNK_BYTES, tag="predictions",
    ),
    Operation(
        method="DELETE", path=f"{API}/runs/{{run_id}}/predictions/chunks/{{key}}", name="dropChunk",
        summary="Take one chunk back.", handler=submissions.drop_chunk, answers=(types.Submission,), scope="write",
        tag="predictions",
    ),
    Operation(
        method="POST", path=f"{API}/runs/{{run_id}}/predictions/finish", name="finishSubmission",
        summary="Score what came into a record: all of it, or nothing.", handler=submissions.finish_submission,
        answers=(types.RunRow,), status=201, scope="write", heavy=True, tag="predictions",
    ),
    Operation(
        method="DELETE", path=f"{API}/runs/{{run_id}}/predictions/chunks", name="dropSubmission",
        summary="Forget the chunks that came.", handler=submissions.drop_submission, answers=(types.Submission,),
        scope="write", tag="predictions",
    ),
    # ── training ─────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/training-metrics", name="getTrainingMetrics",
        summary="Training curves, thinned for a plot.", handler=runs.get_curves, query=questions.CurvesAsked,
        answers=(types.TrainingMetrics,), tag="training",
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/metrics/{{metric}}", name="getCurve", summary="One training curve.",
        handler=runs.get_curve, query=questions.MetricAsked, answers=(types.MetricCurve,), tag="training",
    ),
)  # fmt: skip
