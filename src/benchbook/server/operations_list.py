"""Every operation of the API, in the order of the reference."""

from __future__ import annotations

from functools import cache

import msgspec

from benchbook.server import (
    compared_items,
    comparison_downloads,
    comparison_numbers,
    comparison_runs,
    comparison_types,
    drawing_labels,
    item_answers,
    item_histories,
    item_summary,
    item_types,
    judge_audits,
    judge_pairs,
    judging,
    judging_types,
    labelling,
    leaderboards,
    questions,
    run_for_people,
    types,
)
from benchbook.server import openapi as own
from benchbook.server.operations import PARQUET, Bytes, Operation, Request
from benchbook.server.operations_on_runs import API, NDJSON, OF_RUNS, TYPES
from benchbook.server.services import METRICS_MEDIA
from benchbook.server.types import encoded

_LOGIN_BYTES = 4 << 10  # who sends it is not known yet


def _get_openapi(call: Request) -> Bytes:
    del call
    return Bytes(_document())


@cache
def _document() -> bytes:
    return msgspec.json.encode(own.openapi_document(OPERATIONS))


OPERATIONS: tuple[Operation, ...] = (
    *OF_RUNS,
    # ── comparisons ──────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{API}/comparisons", name="comparePair",
        summary="Two runs: scores, the paired difference, what was measured differently, counts by class.",
        handler=comparison_numbers.get_pair, query=questions.PairAsked, answers=(comparison_types.Pair,), heavy=True,
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/set", name="compareSet",
        summary="Two to twenty runs by any metric, each against a baseline, and their ranks.",
        handler=comparison_numbers.get_set,
        query=questions.ComparedRuns, answers=(comparison_types.ComparedSet,), heavy=True, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/runs", name="listRunsToCompare",
        summary="The runs of a comparison, with their training steps, and the baseline where nobody has chosen one.",
        handler=comparison_runs.get_runs, query=questions.RunsToCompare, answers=(comparison_types.RunsOfSet,),
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/items", name="listComparedItems",
        summary="Items of two runs, by pages.",
        handler=compared_items.list_items, query=questions.ItemsAsked, answers=(item_types.ItemsPage,),
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/items/summary", name="summarizeComparedItems",
        summary="What the items that fit come to: differences in bins, A against B, slices, what was lost and won.",
        handler=item_summary.summarize_items, query=questions.ItemsFilter, answers=(item_types.ItemsSummary,),
        heavy=True, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/items/{{position}}", name="getComparedItem",
        summary="One item, whole: the answers of two to eight runs, what judges said, and what differs by word.",
        handler=item_answers.get_item, query=questions.OneItemAsked, answers=(item_types.ItemDetail,),
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/items.ndjson", name="downloadComparedItems",
        summary="The items that fit, as JSON lines.", handler=comparison_downloads.item_lines,
        query=questions.ItemsFilter, media=NDJSON, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/items.csv", name="downloadComparedItemsCsv",
        summary="The items that fit, for a spreadsheet.", handler=comparison_downloads.item_csv,
        query=questions.ItemsFilter, media="text/csv; charset=utf-8", tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/items.parquet", name="downloadComparedItemsParquet",
        summary="The items that fit, as a table.", handler=comparison_downloads.item_parquet,
        query=questions.ItemsFilter, media=PARQUET, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/report.html", name="downloadComparisonReport",
        summary="The report of the comparison: one page that needs nothing but itself.",
        handler=comparison_downloads.report, query=questions.ComparedRuns, media="text/html; charset=utf-8", heavy=True,
        tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/history", name="listItemHistories",
        summary="Each item's way through three to eight runs, by pages.", handler=item_histories.history_page,
        query=questions.HistoryAsked, answers=(comparison_types.HistoryPage,), heavy=True, tag="comparisons",
    ),
    Operation(
        method="GET", path=f"{API}/comparisons/history/summary", name="getHistorySummary",
        summary="How many items were learned, forgotten, flipping.", handler=item_histories.history_summary,
        query=questions.HistoryCounts, answers=(comparison_types.HistorySummary,), heavy=True, tag="comparisons",
    ),
    # ── eval sets and leaderboards ───────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{API}/evalsets", name="listEvalSets", summary="Eval sets that runs were made on.",
        handler=leaderboards.list_of_evalsets, answers=(types.EvalSetList,), tag="leaderboards",
    ),
    Operation(
        method="GET", path=f"{API}/evaluators", name="listEvaluators", summary="Evaluators that have runs.",
        handler=leaderboards.list_of_evaluators, answers=(types.EvaluatorList,), tag="leaderboards",
    ),
    Operation(
        method="GET", path=f"{API}/leaderboards", name="getLeaderboard",
        summary="Runs over one eval set, ranked, with intervals of their ranks.", handler=leaderboards.get_leaderboard,
        query=questions.LeaderboardAsked, answers=(comparison_types.RankedRuns,), heavy=True, tag="leaderboards",
    ),
    # ── judges ───────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{API}/judges", name="listExperiments",
        summary="Experiments with judges, the newest first.", handler=judging.list_experiments,
        answers=(judging_types.ExperimentList,), tag="judges",
    ),
    Operation(
        method="GET", path=f"{API}/judges/{{run_id}}", name="getJudges",
        summary="What an experiment says of its judges and targets.", handler=judging.get_judges,
        answers=tuple(judging_types.judges_answer(one.aggregates) for one in TYPES if one.is_experiment), tag="judges",
    ),
    Operation(
        method="GET", path=f"{API}/evaluations", name="listEvaluations", summary="Evaluations, by pages.",
        handler=judging.list_evaluations, query=questions.EvaluationsAsked, answers=(judging_types.EvaluationsPage,),
        tag="judges",
    ),
    Operation(
        method="GET", path=f"{API}/evaluations/{{sample}}", name="getEvaluation",
        summary="One evaluation, whole, with its evidence in the judged text.", handler=judging.get_evaluation,
        query=questions.RunAsked, answers=(judging_types.EvaluationDetail,), tag="judges",
    ),
    Operation(
        method="GET", path=f"{API}/audits", name="listAudits",
        summary="Audits of judges: whom each tried, and what it comes to, the latest first.",
        handler=judge_audits.list_audits, answers=(judge_audits.AuditList,), tag="judges",
    ),
    Operation(
        method="GET", path=f"{API}/audits/{{audit}}", name="getAudit",
        summary="An audit's card: what the judge may be used for, and what each variant did to its scores.",
        handler=judge_audits.get_audit, answers=(judge_audits.AuditAnswer,), heavy=True, tag="judges",
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/judge-card", name="getJudgeCard",
        summary="Whether a run's judge has an audit card that holds.",
        handler=judge_audits.get_judge_card, answers=(judge_audits.JudgeCardAnswer,), tag="judges",
    ),
    Operation(
        method="GET", path=f"{API}/pairs", name="listPairs",
        summary="Runs that a judge compared in pairs, the latest first.",
        handler=judge_pairs.list_pairs, answers=(judge_pairs.PairsList,), tag="judges",
    ),
    Operation(
        method="GET", path=f"{API}/pairs/{{pairs}}", name="getPairs",
        summary="How models rank by a judge's verdicts on pairs of their answers, and what it leans to.",
        handler=judge_pairs.get_pairs, query=questions.PairsRankedAsked, answers=(judge_pairs.PairsAnswer,), heavy=True,
        tag="judges",
    ),
    # ── labels ───────────────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{API}/labels", name="listBooks", summary="Records of people's labels.",
        handler=labelling.list_books, answers=(labelling.BookList,), tag="labels",
    ),
    Operation(
        method="POST", path=f"{API}/labels", name="createBook",
        summary="Draw samples of a run for people to label, the judge's scores hidden: by chance, or for its decision.",
        handler=drawing_labels.create_book, body=questions.BookNew, answers=(drawing_labels.DrawnBook,), status=201,
        scope="write", heavy=True, tag="labels",
    ),
    Operation(
        method="GET", path=f"{API}/labels/{{book}}", name="getBook", summary="How far people are.",
        handler=labelling.get_book, answers=(labelling.Book,), tag="labels",
    ),
    Operation(
        method="GET", path=f"{API}/labels/{{book}}/next", name="getNextLabel", summary="What is to be labelled next.",
        handler=labelling.next_label, query=questions.LabelsAsked, answers=(labelling.LabelStep,), scope="label",
        tag="labels",
    ),
    Operation(
        method="POST", path=f"{API}/labels/{{book}}/labels", name="giveLabel",
        summary="Record a score; answers with the next question.", handler=labelling.give_label,
        body=questions.LabelGiven, answers=(labelling.LabelStep,), status=201, scope="label", tag="labels",
    ),
    Operation(
        method="POST", path=f"{API}/labels/{{book}}/undo", name="undoLabel", summary="Take one's last label back.",
        handler=labelling.undo_label, body=questions.LabelUndone, answers=(labelling.LabelStep,), scope="label",
        tag="labels",
    ),
    Operation(
        method="GET", path=f"{API}/labels/{{book}}/disputes", name="listDisputes",
        summary="What two people scored differently and nobody has settled, by pages; who said what is not told.",
        handler=labelling.list_disputes, query=questions.DisputesAsked, answers=(labelling.DisputesPage,),
        scope="label", tag="labels",
    ),
    Operation(
        method="GET", path=f"{API}/labels/{{book}}/calibration", name="getCalibration",
        summary="How far people agree, and the judge with them: confusion, corrected values, the decision they give.",
        handler=labelling.get_calibration, query=questions.CalibrationAsked,
        answers=(labelling.CalibrationAnswer,), heavy=True, tag="labels",
    ),
    Operation(
        method="GET", path=f"{API}/runs/{{run_id}}/people", name="getRunForPeople",
        summary="A run's decision as judged and as people would judge, by each set of labels of its answers.",
        handler=run_for_people.get_run_for_people, answers=(run_for_people.RunForPeople,), heavy=True, tag="labels",
    ),
    # ── the server itself ────────────────────────────────────────────────────────────────────────────────────
    Operation(
        method="GET", path=f"{API}/events", name="listen",
        summary="Server-sent events: `run` with a run that changed, `removed` with the id of one that is gone, "
        "`indexing` with how far the first look is.",
        handler=own.listen, media="text/event-stream", tag="server",
    ),
    Operation(
        method="GET", path=f"{API}/indexing", name="getIndexing",
        summary="How far the server is with its first look through the folder of records.", handler=own.get_indexing,
        answers=(types.Indexing,), tag="server",
    ),
    Operation(
        method="GET", path=f"{API}/me", name="getMe", summary="Who asks, and what they may do.", handler=own.get_me,
        answers=(types.WhoAmI,), scope=None, tag="server",
    ),
    Operation(
        method="POST", path=f"{API}/login", name="login", summary="Cookies in the place of a token, for the page.",
        handler=own.login, body=questions.Login, most_body_bytes=_LOGIN_BYTES, answers=(types.LoginAnswer,),
        scope=None, tag="server",
    ),
    Operation(
        method="POST", path=f"{API}/logout", name="logout", summary="End the session.", handler=own.logout,
        answers=(types.WhoAmI,), scope=None, tag="server",
    ),
    Operation(
        method="GET", path=f"{API}/openapi.json", name="getOpenApi", summary="This document.", handler=_get_openapi,
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
