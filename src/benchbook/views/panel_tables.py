"""What is said of a panel of judges, as tables of plain text; every form of report shows the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchbook.evaluators.panel_rules import PANEL_RULES
from benchbook.evaluators.rubric.rows import AggregatesFile
from benchbook.labels.panel import JudgeAlone, PanelAnalysis
from benchbook.labels.state import FIELDS
from benchbook.record.facts import LabelField
from benchbook.statistics import REASONS, WARNINGS, Agreement
from benchbook.text import one_line
from benchbook.views import numbers
from benchbook.views.judge_card_tables import FIELD_WORDS
from benchbook.views.tables import Column, Table
from benchbook.views.words import plural

__all__ = ["SPLITS_SHOWN", "agreement_table", "judges_table", "panel_lines", "panel_notices", "splits_table"]


SPLITS_SHOWN = 20  # `benchbook panel RUN --all` has the others


def panel_lines(panel: PanelAnalysis) -> list[str]:
    """What the panel is, and how often its judges agree, as sentences."""
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
    return found


def panel_notices(panel: PanelAnalysis) -> list[str]:
    """What must be known before the numbers of agreement are read."""
    coefficients = [*panel.alpha.values(), *(kappa for pair in panel.pairs for kappa in pair.kappa.values())]
    said = {WARNINGS.get(warning, warning) for one in coefficients for warning in one.warnings}
    said |= {f"no interval: {REASONS.get(one.reason, one.reason)}" for one in coefficients if one.reason}
    found = [f"Agreement: {one}." for one in sorted(said)]
    if panel.n_clusters is not None:
        found.append(f"Samples share {panel.n_clusters:,} groups or items: intervals are by whole clusters.")
    return found


def judges_table(panel: PanelAnalysis, file: AggregatesFile) -> Table:
    """The panel, then each judge: the run as it would be with that judge alone."""
    columns = (
        Column("Judge"),
        Column("Scored", number=True),
        Column("As the panel", number=True),
        Column("Accuracy", number=True),
        Column("Faithfulness", number=True),
        Column("Score", number=True),
        Column("Passed", number=True),
        Column("Alone"),
    )
    together = file.aggregates
    rows = [
        (
            f"the panel ({panel.rule})",
            numbers.count(together.n_scored - together.n_no_answer),
            numbers.nothing(),
            numbers.show("grade", together.accuracy_mean),
            numbers.show("grade", together.faithfulness_mean),
            numbers.score(together.aggregate_score),
            numbers.show("rate", together.pass_rate),
            numbers.nothing(),
        ),
        *(_judge(judge) for judge in panel.judges),
    ]
    return Table("The run as each judge alone would have it", columns, tuple(rows))


def _judge(judge: JudgeAlone) -> tuple[str, ...]:
    why = ", ".join(f"{one_line(reason)} {n:,}" for reason, n in judge.unscored_by_reason.items())
    return (
        one_line(judge.name),
        f"{judge.n_scored:,} of {judge.n_asked:,}" + (f" ({why})" if why else ""),
        numbers.show("rate", judge.same_as_panel),
        numbers.show("grade", judge.accuracy_mean),
        numbers.show("grade", judge.faithfulness_mean),
        numbers.score(judge.aggregate_score),
        numbers.show("rate", judge.pass_rate),
        judge.decision or numbers.nothing(),
    )


def agreement_table(panel: PanelAnalysis) -> Table:
    """All judges together, then two by two."""
    columns = (
        Column("Judges"),
        Column("Samples", number=True),
        Column("Same scores", number=True),
        *(Column(FIELD_WORDS[field], number=True) for field in FIELDS),
    )
    together = (
        "all (Krippendorff's alpha)",
        numbers.count(panel.n_judged),
        numbers.nothing(),
        *_of_fields(panel.alpha),
    )
    pairs = (
        (
            f"{one_line(pair.judge_a)} and {one_line(pair.judge_b)} (kappa)",
            numbers.count(pair.n),
            numbers.show("rate", pair.same_scores),
            *_of_fields(pair.kappa),
        )
        for pair in panel.pairs
    )
    caption = "How the judges agree: 1 is always, 0 as by chance (quadratic weights; 95 % intervals by resampling)"
    return Table(caption, columns, (together, *pairs))


def _of_fields(found: Mapping[LabelField, Agreement]) -> list[str]:
    return [_coefficient(found[field]) for field in FIELDS]


def _coefficient(found: Agreement) -> str:
    if found.estimate is None:
        return numbers.nothing()  # why stands among the notices
    if found.low is None or found.high is None:
        return f"{found.estimate:.2f}"
    return f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]"


def splits_table(panel: PanelAnalysis, shown: int | None = SPLITS_SHOWN) -> Table:
    """What the judges split on, ranked; `shown` is None for all of it."""
    columns = (
        Column("Sample"),
        Column("Item"),
        Column("Pass or fail"),
        *(Column(f"{FIELD_WORDS[field]}, judge by judge") for field in FIELDS),
        Column("Other than the panel's", number=True),
    )
    rows = tuple(
        (
            f"#{split.sample}",
            one_line(split.item_id),
            "differs" if split.verdicts_differ else "same",
            _scores(split.accuracy_scores),
            _scores(split.faithfulness_scores),
            numbers.count(split.n_dissenting),
        )
        for split in panel.splits[:shown]
    )
    judges = ", ".join(one_line(judge.name) for judge in panel.judges)
    return Table(f"What to look at first: samples that the judges ({judges}) split on", columns, rows)


def _scores(scores: Sequence[int | None]) -> str:
    return " ".join(numbers.DASH if score is None else str(score) for score in scores)
