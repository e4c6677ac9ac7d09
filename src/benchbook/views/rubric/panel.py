"""A panel of judges in words and tables: each alone, how they agree, and what they split on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchbook.evaluators.document import Cell, Columns, Table, table
from benchbook.evaluators.gates import Gate
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.panel_rules import PANEL_RULES
from benchbook.evaluators.panels import JudgeAlone, JudgePairAgreement, PanelAnalysis
from benchbook.evaluators.rubric.rows import AggregatesFile
from benchbook.statistics import Agreement
from benchbook.text import one_line, plural
from benchbook.views import numbers
from benchbook.views.gates import gate_rule
from benchbook.views.judge_card_tables import caveats
from benchbook.views.spans import SpanLine, Spans
from benchbook.views.words import aggregate_word, code_words, criterion_word, decision_headline

SPLITS_SHOWN = 20  # `benchbook panel RUN --all` has the others


def panel_lines(panel: PanelAnalysis) -> list[str]:
    """Sentences on the panel, and on how often its judges agree."""
    split = panel.n_judged - panel.n_unanimous
    judged = f"Of {plural(panel.n_judged, 'sample')} with the scores of two judges or more they split on {split:,}"
    found = [
        f"{plural(len(panel.judges), 'judge')}, {panel.rule}: {PANEL_RULES[panel.rule]}.",
        f"{judged}; on {panel.n_verdicts_differ:,} pass or fail hangs on whom one asks.",
    ]
    if n := panel.n_scored_without_all:
        found.append(f"Scored without some judge, whose score could have changed nothing: {plural(n, 'sample')}.")
    if n := panel.n_left_open:
        found.append(f"Not scored, for the score of a judge who gave none could decide: {plural(n, 'sample')}.")
    return [*found, *_most_and_least_alike(panel)]


def _most_and_least_alike(panel: PanelAnalysis) -> list[str]:
    """Of three judges or more: which two give the same scores most often, and which least."""
    known = [pair for pair in panel.pairs if pair.same_scores is not None]
    if len(known) < 2:
        return []
    least, most = (choose(known, key=lambda pair: pair.same_scores or 0.0) for choose in (min, max))
    if least.same_scores == most.same_scores:
        return [
            f"Every two of them give the same scores to {numbers.show('rate', most.same_scores)} of what both scored."
        ]
    return [f"Most alike are {_pair(most)}; least alike {_pair(least)}."]


def _pair(pair: JudgePairAgreement) -> str:
    share = numbers.show("rate", pair.same_scores)
    return f"{one_line(pair.judge_a)} and {one_line(pair.judge_b)}, with the same scores for {share} of {pair.n:,}"


def panel_spans(panel: PanelAnalysis, file: AggregatesFile, gates: Sequence[Gate]) -> Iterator[Spans]:
    """The panel's score and pass rate, and below it the same of each judge alone. `gates` are those of the run."""
    limits = {gate.aggregate: gate for gate in gates}
    for name in ("aggregate_score", "pass_rate"):
        word, gate = aggregate_word(name), limits.get(name)
        own = SpanLine(
            f"the panel ({panel.rule})", *_value(file.aggregates, name, file.intervals.get(name)), "none", ""
        )
        alone = (
            SpanLine(judge.name, *_value(judge, name, judge.intervals.get(name)), "none", "") for judge in panel.judges
        )
        yield Spans(
            title=word.label,
            about="" if gate is None else f"the gate asks for {gate_rule(gate)}",
            kind=word.kind,
            lowest=0.0,
            highest=1.0,
            lines=(own, *alone),
            mark=None if gate is None else gate.limit,
            good_from=None if gate is None else gate.limit,
            good_to=None if gate is None else 1.0,
        )


def _value(found: Any, name: str, span: Interval | None) -> tuple[float | None, float | None, float | None, str]:
    """`(value, low, high, words)` of an aggregate."""
    value, kind = getattr(found, name), aggregate_word(name).kind
    low, high = (None, None) if span is None else (span.low, span.high)
    shown = numbers.show(kind, value, unknown="nothing was scored")
    return value, low, high, shown if value is None else f"{shown} ({numbers.interval(kind, span, bare=True)})"


def panel_notices(panel: PanelAnalysis) -> list[str]:
    """The notices that come before the numbers of agreement."""
    coefficients = [*panel.alpha.values(), *(kappa for pair in panel.pairs for kappa in pair.kappa.values())]
    found = [f"Agreement: {one}." for one in caveats(coefficients)]
    if panel.n_clusters is not None:
        found.append(f"Samples share {panel.n_clusters:,} groups or items: intervals are by whole clusters.")
    return found


def judges_table(panel: PanelAnalysis, file: AggregatesFile) -> Table:
    """The panel, then each judge: the run as it would be with that judge alone."""
    one = file.aggregates
    names = [name for name in _names(panel) if hasattr(one, f"{name}_mean")]
    means = (*_means(one, names), one.aggregate_score, one.pass_rate)
    scored = f"{one.n_scored - one.n_no_answer:,}"
    panel_row = (f"the panel ({panel.rule})", scored, numbers.nothing(), *means, None)
    columns: Columns = {
        "Judge": "text", "Scored": "number", "As the panel": "rate",
        **{criterion_word(name): "grade" for name in names},
        "Score": "score", "Passed": "rate", "Alone": "text",
    }  # fmt: skip
    rows = (panel_row, *(_judge(judge, names) for judge in panel.judges))
    return table("The run as each judge alone would have it", columns, rows)


def _names(panel: PanelAnalysis) -> list[str]:
    """The names of the criteria, in the rubric's order."""
    return [field.removesuffix("_score") for field in panel.alpha]


def _means(found: Any, names: Sequence[str]) -> list[float | None]:
    return [getattr(found, f"{name}_mean") for name in names]


def _judge(judge: JudgeAlone, names: Sequence[str]) -> tuple[Cell, ...]:
    why = ", ".join(f"{code_words(reason)} {n:,}" for reason, n in judge.unscored_by_reason.items())
    scored = f"{judge.n_scored:,} of {judge.n_asked:,}" + (f" ({why})" if why else "")
    means = (*_means(judge, names), judge.aggregate_score, judge.pass_rate)
    alone = None if judge.decision is None else decision_headline(judge.decision)
    return judge.name, scored, judge.same_as_panel, *means, alone


def judges_agreement_table(panel: PanelAnalysis) -> Table:
    """All judges together, then two by two."""
    together = ("all (Krippendorff's alpha)", panel.n_judged, numbers.nothing(), *_of_fields(panel.alpha))
    pairs = (
        (f"{pair.judge_a} and {pair.judge_b} (kappa)", pair.n, pair.same_scores, *_of_fields(pair.kappa))
        for pair in panel.pairs
    )
    caption = "How the judges agree: 1 is always, 0 as by chance (quadratic weights; 95 % intervals by resampling)"
    fields: Columns = {criterion_word(field): "number" for field in panel.alpha}
    columns: Columns = {"Judges": "text", "Samples": "count", "Same scores": "rate", **fields}
    return table(caption, columns, (together, *pairs))


def _of_fields(found: Mapping[str, Agreement]) -> list[str | None]:
    return [_coefficient(one) for one in found.values()]


def _coefficient(found: Agreement) -> str | None:
    if found.estimate is None:
        return None  # why stands among the notices
    if found.low is None or found.high is None:
        return f"{found.estimate:.2f}"
    return f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]"


def splits_table(panel: PanelAnalysis, shown: int | None = SPLITS_SHOWN) -> Table:
    """The samples that the judges split on, ranked; `shown` is None for all of them."""
    names = _names(panel)
    rows = (
        (
            f"#{split.sample}",
            split.item_id,
            "differs" if split.verdicts_differ else "same",
            *(_scores(getattr(split, f"{name}_scores")) for name in names),
            split.n_dissenting,
        )
        for split in panel.splits[:shown]
    )
    by_judge: Columns = {f"{criterion_word(name)}, judge by judge": "text" for name in names}
    columns: Columns = {
        "Sample": "text", "Item": "text", "Pass or fail": "text", **by_judge, "Other than the panel's": "count",
    }  # fmt: skip
    judges = ", ".join(one_line(judge.name) for judge in panel.judges)
    return table(f"What to look at first: samples that the judges ({judges}) split on", columns, rows)


def _scores(scores: Sequence[int | None]) -> str:
    return " ".join(numbers.DASH if score is None else str(score) for score in scores)
