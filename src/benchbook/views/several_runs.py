"""Several runs: how many items a comparison needs, a leaderboard, an experiment's plans side by side (SPEC R7.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.comparison.corrected_results import CorrectedScore
from benchbook.comparison.experiment import ExperimentPlan, NamedExperiment
from benchbook.comparison.items_needed import ItemsNeeded
from benchbook.comparison.leaderboard import Leaderboard
from benchbook.evaluators.document import (
    Block,
    Cell,
    Column,
    Columns,
    Document,
    Listed,
    Paragraph,
    Section,
    Span,
    Table,
    Title,
    Value,
    table,
)
from benchbook.statistics.ground import WARNINGS
from benchbook.text import one_line, plural, shorten
from benchbook.views import numbers
from benchbook.views.comparison_corrected import people_cells, people_notes
from benchbook.views.comparison_tables import metric_word
from benchbook.views.html import html_page
from benchbook.views.markdown import markdown_page
from benchbook.views.terminal import table_lines
from benchbook.views.verdicts import best_sentence, rank_words
from benchbook.views.words import aggregate_word

_STANDING = 100  # characters of what a rank says
_RANK_TESTS = {
    "all_pairs_holm_mid_p": "the mid-p McNemar test",
    "all_pairs_holm_t": "t of the paired difference",
}


def leaderboard_table(found: Leaderboard, people: Sequence[CorrectedScore] = ()) -> Table:
    """All runs: those that are ranked from best to worst, then the others, each with what its rank says. Where there
    are scores as people would judge, they stand beside the others."""
    metric = next(one for one in found.metrics if one.name == found.metric)
    more = people_cells(people, [one.run for one in found.places]) if people else []
    rows: list[Sequence[Cell]] = [
        (
            one.rank,
            shorten(one.run, 80),
            shorten(one.model or numbers.DASH, 40),
            Value(metric.kind, one.score),
            *(more[place] if more else ()),
            None if one.rank_low is None else f"{one.rank_low:,} to {one.rank_high:,}",
            one.p_against_best,
            shorten(rank_words(one), _STANDING),
        )
        for place, one in enumerate(found.places)
    ]
    rows += [
        (None, shorten(one.run, 80), shorten(one.model or numbers.DASH, 40), Value(metric.kind, one.score),
         *((None, None) if people else ()), None, None, shorten(rank_words(one), _STANDING))
        for one in found.apart
    ]  # fmt: skip
    columns: Columns = {
        "Rank": "count", "Run": "text", "Model": "text", metric_word(metric): metric.kind,
        **({"For people": metric.kind, "Interval": "number"} if people else {}),
        f"Rank, {numbers.limit('rate', found.confidence)} sure": "number", "p against best": "p", "Is": "text",
    }  # fmt: skip
    runs = plural(len(found.places), "run")
    return table(f"{runs} ranked over {plural(found.n_items, 'item')}", columns, rows)


def with_titles(found: Leaderboard) -> Leaderboard:
    """The leaderboard, with the names for people of what its runs could be ranked by."""
    named = tuple(msgspec.structs.replace(one, title=metric_word(one)) for one in found.metrics)
    return msgspec.structs.replace(found, metrics=named)


def leaderboard_notes(found: Leaderboard) -> Iterator[str]:
    """How ranks were told apart, who may be the best, and what was left out."""
    if found.n_pairs:
        test, pairs = _RANK_TESTS.get(found.method, found.method), plural(found.n_pairs, "pair")
        yield f"A run ranks above another where that is shown: {pairs} of runs, by {test}, p by Holm over all of them."
    if (best := best_sentence(found)) is not None:
        yield best
    if found.n_left_out:
        yield f"{plural(found.n_left_out, 'item')} left out: not every run has a score for them."
    if found.apart:
        yield f"Not ranked: {plural(len(found.apart), 'run')}."
    yield from (f"Beware: {WARNINGS.get(warning, warning)}." for warning in found.warnings)


def leaderboard_document(
    found: Leaderboard, n_others: int = 0, left_out: Sequence[str] = (), people: Sequence[CorrectedScore] = ()
) -> Document:
    """The ranking, with the same words as `leaderboard_lines`."""
    notes = (*leaderboard_notes(found), *people_notes(people), *_others(n_others), *map(one_line, left_out))
    return Document("Leaderboard", "leaderboard", [leaderboard_table(found, people), Listed(notes, quiet=True)])


def leaderboard_lines(
    found: Leaderboard, n_others: int = 0, left_out: Sequence[str] = (), people: Sequence[CorrectedScore] = ()
) -> Iterator[str]:
    """The ranking, and in words who may be the best. `n_others` records of the folder are not in it.

    `left_out` has a line for each of those with which something is wrong.
    """
    yield from table_lines(leaderboard_table(found, people), 160)
    yield from leaderboard_notes(found)
    yield from people_notes(people)
    yield from _others(n_others)
    yield from map(one_line, left_out)


def _others(n_others: int) -> Iterator[str]:
    if n_others:
        why = "damaged, misnamed, not finished, a dry run, or on another eval set or scorer"
        yield f"{plural(n_others, 'other record')} not ranked: {why}."


_SETTING = 40  # characters of a setting's value


def experiment_html(found: NamedExperiment) -> Iterator[str]:
    """The page, in pieces."""
    return html_page(experiment_document(found))


def experiment_markdown(found: NamedExperiment) -> Iterator[str]:
    """The page's content in Markdown."""
    return markdown_page(experiment_document(found))


def experiment_document(found: NamedExperiment) -> Document:
    """Each plan for itself, then what was left out and why."""
    blocks: list[Block] = [Title((found.experiment,))]
    if len(found.plans) > 1:
        note = f"{len(found.plans)} plans name this experiment; runs of different plans are not averaged."
        blocks.append(Section("plans", "Plans", (Paragraph(note), *_plan_tables(found.plans))))
    for number, plan in enumerate(found.plans, 1):
        if len(plan.runs) > 1 or len(found.plans) == 1:
            blocks.append(Section(f"plan-{number}", _called(plan), tuple(_runs(plan))))
    if found.left_out:
        left_out = tuple(f"left out: {shorten(one.run, 60)}: {one_line(one.reason)}" for one in found.left_out)
        blocks.append(Section("left-out", "Left out", (Listed(left_out),)))
    foot = "Scores are rounded for reading; `--json` has them to nine decimals."
    return Document(found.experiment, "experiment", blocks, foot)


def _called(plan: ExperimentPlan) -> str:
    return f"{plural(len(plan.runs), 'run')} of plan {numbers.short_hash(plan.plan_sha256)}"


def _plan_tables(plans: Sequence[ExperimentPlan]) -> Iterator[Table]:
    """A table for each evaluator: numbers of different ones do not stand below one another."""
    by_evaluator: dict[tuple[str, str], list[ExperimentPlan]] = {}
    for plan in plans:
        by_evaluator.setdefault((plan.spec, plan.spec_sha256), []).append(plan)
    names = [spec for spec, _ in by_evaluator]
    for (spec, sha256), found in by_evaluator.items():
        yield _plan_table(spec if names.count(spec) == 1 else f"{spec} ({numbers.short_hash(sha256)})", found)


def _plan_table(spec: str, plans: Sequence[ExperimentPlan]) -> Table:
    settings = tuple(plans[0].settings)
    words = [aggregate_word(one.aggregate) for one in plans[0].summaries]
    columns = [
        Column("Run"),
        *(Column(name) for name in settings),
        *(Column(word.label, "number") for word in words),
        Column("Interval", "number"),
        Column("Decision"),
    ]
    rows = tuple(
        [
            plan.runs[0] if len(plan.runs) == 1 else f"{plural(len(plan.runs), 'run')}, {plan.runs[0]} first",
            *(_setting(plan.settings[name]) for name in settings),
            *(Value(word.kind, one.mean) for word, one in zip(words, plan.summaries, strict=True)),
            _interval(plan),
            _decisions(plan),
        ]
        for plan in plans
    )
    return Table(spec, tuple(columns), rows)


def _setting(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else canonical_json(value).decode()
    text = one_line(text)
    return text if len(text) <= _SETTING else f"…{text[1 - _SETTING :]}"  # the end of a path tells files apart


def _interval(plan: ExperimentPlan) -> Cell:
    """The interval of the first number of a single run; several runs have none."""
    found = plan.intervals[0] if len(plan.runs) == 1 else None
    if found is None:
        return None
    kind = aggregate_word(plan.summaries[0].aggregate).kind
    return Span(Value(kind, found[0]), Value(kind, found[1]))


def _decisions(plan: ExperimentPlan) -> str | None:
    """The decisions of a plan's runs, of several runs each with its count; None where nothing was decided."""
    decided = [one for one in plan.decisions if one is not None]
    if len(plan.runs) == 1:
        return decided[0] if decided else None
    return ", ".join(f"{decided.count(one)} {one}" for one in dict.fromkeys(decided)) or None


def _runs(plan: ExperimentPlan) -> Iterator[Block]:
    found = [(aggregate_word(one.aggregate), one) for one in plan.summaries]
    rows: list[Sequence[Cell]] = [
        [run, *(Value(word.kind, one.per_repeat[n]) for word, one in found), plan.decisions[n]]
        for n, run in enumerate(plan.runs)
    ]
    rows += [
        ["Mean", *(Value(word.kind, one.mean) for word, one in found), ""],
        ["SD", *(Value(word.kind, one.sd) for word, one in found), ""],
    ]
    columns = (Column("Run"), *(Column(word.label, "number") for word, _ in found), Column("Decision"))
    yield Table(f"{_called(plan)}, {numbers.short_model(plan.model_id)}", columns, tuple(rows))
    if len(plan.runs) == 1:
        yield Paragraph("A single run has no standard deviation.", "quiet")


# ── before a run ─────────────────────────────────────────────────────────────────────────────────────────────


def plan_words(plan: ItemsNeeded) -> list[str]:
    """The plan in sentences, the answer first."""
    what = "items, the same for both runs" if plan.paired else "items for each run, different ones"
    change = f"{plan.baseline:g} become {plan.baseline + plan.detect:g} ({plan.detect:+g})"
    chance = f"{100 * plan.power:g} %, by a two-sided test at alpha {plan.alpha:g}"
    lines = [
        f"{plan.n_items:,} {what}: {plan.n_answers:,} answers in all",
        f"to see a rate of {change} with a chance of {chance}",
    ]
    if (shares := plan.discordance) is not None:
        measured = (
            "assumed, as of two runs that know nothing of one another; runs that agree more need fewer items, "
            "so measure it in a first run and give it by --discordance"
            if shares.assumed
            else "given"
        )
        lines.append(
            f"discordance: {100 * shares.share:.4g} % of items are passed by one run alone "
            f"({100 * shares.only_before:.4g} % lost, {100 * shares.only_after:.4g} % won); {measured}"
        )
    if plan.clusters is not None:
        lines.append(
            f"clusters: {plan.clusters:,} of {plan.cluster_size:g} items; at a correlation of "
            f"{plan.intraclass_correlation:g} within them each item counts {1 / plan.design_effect:.3g} "
            f"(design effect {plan.design_effect:.4g}, Kish 1965)"
        )
    if plan.repeats > 1 and plan.within_item is not None:
        lines.append(
            f"repeats: {plan.repeats} of each item in each run; {100 * plan.within_item:.4g} % of the variance is "
            "within the item, and falls with their number"
        )
    lines.append(f"READY: a run of fewer than {plan.n_for_ready:,} items can't be shown to be, however good it is")
    return [*lines, f"formula: {plan.formula}"]


def ready_words(by_gate: Mapping[str, int], confidence: float) -> list[str]:
    """How many items READY takes, the answer first."""
    return [
        f"{max(by_gate.values()):,} items at least, to be READY at {numbers.limit('rate', confidence)} confidence",
        "if every answer is as good as can be; each that is not takes more. Items of one group count once, and so do",
        "the repeats of an item.",
        *(f"{aggregate_word(name).label}: {n:,}" for name, n in by_gate.items()),
    ]
