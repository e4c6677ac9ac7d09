"""What the report of a comparison says, as sentences and tables; each view shows the same ones in its own way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.decisions.comparison import Change, Comparison
from benchbook.decisions.comparison_difference import Difference
from benchbook.decisions.comparison_pairing import ItemClass
from benchbook.decisions.comparison_set import ComparisonSet
from benchbook.decisions.history import History, HistoryName
from benchbook.decisions.leaderboard import Leaderboard
from benchbook.decisions.metadata_difference import LeafDifference, Measured
from benchbook.reports import comparison_numbers, numbers
from benchbook.reports.comparison_model import ShownItem
from benchbook.reports.curves_drawn import curve_remarks, curves_table, drawn_curves
from benchbook.reports.tables import Column, Table
from benchbook.reports.words import plural
from benchbook.statistics.results import REASONS
from benchbook.text import one_line, shorten
from benchbook.training.curves import Curve

__all__ = [
    "CHANGE_WORDS",
    "classes_table",
    "containment_lines",
    "differences_table",
    "first_line",
    "history_table",
    "item_facts",
    "leaderboard_table",
    "margin_line",
    "metadata_table",
    "notices",
    "runs_table",
    "slices_table",
    "training_remarks",
    "training_table",
    "verdict",
    "way_table",
]

_CLASS_WORDS: dict[ItemClass, str] = {
    "regressed": "Regressed",
    "improved": "Improved",
    "same_correct": "The same, right in both",
    "same_wrong": "The same, wrong in both",
    "only_in_a": "Only in A",
    "only_in_b": "Only in B",
    "expected_changed": "Another expected answer",
}
CHANGE_WORDS: dict[Change, str] = {
    "regressed": "regressed",
    "improved": "improved",
    "answer_lost": "expected answer no longer in the text",
    "answer_won": "expected answer now in the text",
    "expected_changed": "another expected answer",
    "text_changed": "another text",
}
_MEASURED_WORDS: dict[Measured, str] = {
    "evalset": "the eval set",
    "prompt_template": "the prompt template",
    "generation_params": "the generation parameters",
    "spec": "the scorer",
    "judge": "the judge",
}
_HISTORY_WORDS: dict[HistoryName, str] = {
    "learned": "Learned: wrong, then right",
    "forgotten": "Forgotten: right, then wrong",
    "flipping": "Flipping",
    "always_correct": "Always right",
    "never_correct": "Never right",
}
_LONGEST_VALUE = 120


def first_line(pair: Comparison) -> str:
    """How many items are compared, and how many are left out and why."""
    line = f"{plural(pair.n_compared, 'item')} compared"
    if not pair.n_left_out:
        return f"{line}, none left out."
    names: tuple[ItemClass, ...] = ("only_in_a", "only_in_b", "expected_changed")
    words = ("only in A", "only in B", "with another expected answer")
    why = [f"{pair.counts[name]:,} {word}" for name, word in zip(names, words, strict=True) if pair.counts[name]]
    if pair.n_unscored:
        why.append(f"{pair.n_unscored:,} without a score in any run")
    return f"{line}, {pair.n_left_out:,} left out ({', '.join(why)})."


def verdict(pair: Comparison, p: float | None = None) -> str:
    """What became of the score: in items, in numbers, and whether that may be chance. `p` stands for the test's own."""
    found = pair.score
    if found.difference is None:
        return "Nothing can be said: no item is in both runs with a score."
    interval = (
        f", {numbers.limit('rate', found.confidence)} interval {comparison_numbers.interval(found)}"
        if found.low is not None
        else ""
    )
    shown = comparison_numbers.p_value(found.p if p is None else p)
    moved = (
        f"{comparison_numbers.items_moved(found)}: score {numbers.score(found.mean_a)} → {numbers.score(found.mean_b)}"
    )
    return f"{moved} ({comparison_numbers.signed(found.difference)}{interval}, p {_equals(shown)})."


def margin_line(pair: Comparison) -> str | None:
    """Whether B is not worse than A by more than the margin that was asked about; None where none was."""
    found = pair.score.not_worse
    if found is None:
        return None
    margin, sure = numbers.limit("score", found.margin), numbers.limit("rate", found.confidence)
    if found.holds is None:
        return f"Whether B is worse by more than {margin} can't be told: {_no_bound(pair)}."
    bound = comparison_numbers.signed(found.low)
    if found.holds:
        return f"B is not worse than A by more than {margin}: at {sure} confidence the difference is above {bound}."
    return f"It is not shown that B is not worse than A by more than {margin}: the difference may be down to {bound}."


def containment_lines(pair: Comparison, most: int = 100) -> Iterator[str]:
    """Which items lost and won the expected answer in their text (A7), at most `most` of each named."""
    if pair.containment is None:
        return
    for word, ids in (("lost", pair.containment.lost), ("won", pair.containment.won)):
        if ids:
            named = ", ".join(shorten(one, 40) for one in ids[:most])
            more = f" and {len(ids) - most:,} more" if len(ids) > most else ""
            yield f"Expected answer in the text {word} in {plural(len(ids), 'item')}: {named}{more}."


def _no_bound(pair: Comparison) -> str:
    reason = pair.score.reason
    return "there is no bound" if reason is None else REASONS.get(reason, reason)


def _equals(shown: str) -> str:
    return shown if shown.startswith("<") else f"= {shown}"


def notices(pair: Comparison) -> list[str]:
    """What must be read before any number: where it was not the same that was measured."""
    found = [
        f"Not the same was measured: {_MEASURED_WORDS[one.name]} differs ({one.name}: {_leaves(one.leaves)})."
        for one in pair.measured
    ]
    if pair.unknown:
        names = ", ".join(_MEASURED_WORDS[name] for name in pair.unknown)
        found.append(f"Neither record knows {names}; whether that was the same can't be told.")
    for run, letter in ((pair.a, "A"), (pair.b, "B")):
        state = run.manifest.get("state", "complete")
        if state != "complete":
            found.append(f"Run {letter} is not complete: it is {state}.")
        status = run.manifest.get("run_status", "completed")
        if status != "completed":
            found.append(f"Run {letter} itself failed, so it scores 0: {str(status).replace('_', ' ')}.")
        if run.manifest.get("dry_run"):
            found.append(
                f"Run {letter} was a dry run: its items are unavailable, since MockJudge makes no predictions."
            )
    return [*found, *(f"{one[0].upper()}{one[1:]}." for one in comparison_numbers.warnings(pair.score))]


def _leaves(leaves: tuple[LeafDifference, ...]) -> str:
    return "; ".join(f"{leaf.path}: {_value(leaf.a, leaf.in_a)}, then {_value(leaf.b, leaf.in_b)}" for leaf in leaves)


def _value(value: Any, is_there: bool) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE) if is_there else "absent"


def runs_table(found: ComparisonSet) -> Table:
    """Who is compared, with each run's own score: over all its items, not those in common alone."""
    rows = tuple(
        (
            f"{letter}: {shorten(run.name, 80)}",
            shorten(str(run.manifest.get("model_id") or numbers.DASH), 80),
            shorten(str(run.manifest.get("dataset_id") or numbers.DASH), 60),
            run.spec,
            numbers.count(len(run.items)),
            numbers.score(run.score, "no score"),
            numbers.short_hash(run.manifest.get("journal_sha256")),
        )
        for letter, run in zip(_letters(found), found.runs, strict=True)
    )
    columns = (
        Column("Run"), Column("Model"), Column("Eval set"), Column("Scorer"), Column("Items", number=True),
        Column("Score of all items", number=True), Column("Record"),
    )  # fmt: skip
    return Table("The runs", columns, rows)


def training_table(curves: Mapping[str, Curve | None]) -> Table:
    """Each run's training loss: first, lowest and last."""
    return curves_table(drawn_curves(curves, "step", 0.0)[0], "Training loss", "step")


def training_remarks(curves: Mapping[str, Curve | None]) -> Iterator[str]:
    """What the table of losses does not say: gaps, restarts, and runs without a curve."""
    drawn, left_out = drawn_curves(curves, "step", 0.0)
    yield from curve_remarks(drawn, by_plot=False)
    yield from (f"{run}: no training loss, {why}." for run, why in left_out.items())


def _letters(found: ComparisonSet) -> list[str]:
    """A and B of a pair; with more runs, each pair has an A and a B of its own, and runs have numbers."""
    return ["A", "B"] if len(found.runs) == 2 else [str(place) for place in range(1, len(found.runs) + 1)]


def differences_table(pair: Comparison) -> Table:
    """The score, and what stands beside it: passing, and the diagnosis of A7."""
    rows = [("Score", *_difference_cells(pair.score, pair.score.p))]
    if pair.passing is not None:
        rows.append(("Items that pass", *_difference_cells(pair.passing, pair.passing.p)))
    if pair.containment is not None:
        contained = pair.containment.difference
        rows.append(("Expected answer in the text (diagnosis)", *_difference_cells(contained, contained.p)))
    return Table(
        "The differences, B − A",
        (Column("Over the items of both"), *_DIFFERENCE_COLUMNS, Column("p", number=True)),
        tuple(rows),
    )


_DIFFERENCE_COLUMNS = (
    Column("A", number=True), Column("B", number=True), Column("B − A", number=True),
    Column("Interval", number=True), Column("In items", number=True),
)  # fmt: skip


def _difference_cells(found: Difference, p: float | None) -> tuple[str, ...]:
    return (
        numbers.score(found.mean_a),
        numbers.score(found.mean_b),
        comparison_numbers.signed(found.difference),
        comparison_numbers.interval(found),
        comparison_numbers.items_moved(found),
        comparison_numbers.p_value(p),
    )


def slices_table(pair: Comparison) -> Table:
    """By section, category and difficulty; p is Holm's over all the slices here."""
    rows = tuple(
        (one.field, shorten(one.value, 60), *_difference_cells(one.difference, one.p_holm)) for one in pair.slices
    )
    name = f"p, Holm over {len(rows)}"
    return Table("By slice", (Column("Slice"), Column("Value"), *_DIFFERENCE_COLUMNS, Column(name, number=True)), rows)


def classes_table(pair: Comparison) -> Table:
    """What became of every item (A11)."""
    rows = tuple((_CLASS_WORDS[name], numbers.count(n)) for name, n in pair.counts.items())
    return Table("What became of the items", (Column("Class"), Column("Items", number=True)), rows)


def metadata_table(pair: Comparison) -> Table:
    """Every leaf of the manifests that differs."""
    rows = tuple((leaf.path, _value(leaf.a, leaf.in_a), _value(leaf.b, leaf.in_b)) for leaf in pair.metadata)
    return Table("What the records say otherwise", (Column("Field"), Column("A"), Column("B")), rows)


def history_table(found: History) -> Table:
    """How many items went which way."""
    by = "" if found.by == "correct" else ", by the diagnosis: the expected answer is in the text"
    rows = tuple((_HISTORY_WORDS[name], numbers.count(n)) for name, n in found.counts.items())
    return Table(
        f"Items over {plural(len(found.runs), 'run')}{by}", (Column("History"), Column("Items", number=True)), rows
    )


def way_table(found: History, most: int) -> Table:
    """The way of each item that moved: + right, . wrong, a sign a run."""
    moved = found.items.filter(found.items["history"].is_in(["learned", "forgotten", "flipping"]))
    rows = tuple(
        (shorten(item_id, 60), name, marks.replace("1", "+").replace("0", "."))
        for item_id, name, marks in moved.sort("history", maintain_order=True)
        .head(most)
        .select("item_id", "history", "marks")
        .iter_rows()
    )
    shown = f", the first {most:,} of {len(moved):,}" if len(moved) > most else ""
    return Table(f"Items that moved{shown}", (Column("Item"), Column("History"), Column("Runs in order")), rows)


def leaderboard_table(found: Leaderboard) -> Table:
    """The runs from best to worst."""
    rows = tuple(
        (
            numbers.count(one.rank),
            shorten(one.run, 80),
            shorten(one.model or numbers.DASH, 40),
            numbers.score(one.score),
            numbers.DASH if one.rank_low is None else f"{one.rank_low} to {one.rank_high}",
            numbers.DASH if one.p_against_best is None else comparison_numbers.p_value(one.p_against_best),
            "yes" if one.among_best else "no",
        )
        for one in found.places
    )
    columns = (
        Column("Rank", number=True), Column("Run"), Column("Model"), Column("Score", number=True),
        Column(f"Rank, {numbers.limit('rate', found.confidence)} interval", number=True),
        Column("p against best", number=True), Column("May be the best"),
    )  # fmt: skip
    return Table(f"Ranked over {plural(found.n_items, 'item')}", columns, rows)


def item_facts(item: ShownItem) -> Iterator[str]:
    """What is to be known of an item beside its texts, a sentence each."""
    if item.item_id_b is not None:
        yield f"In B its id is {one_line(item.item_id_b)}."
    yield f"Score {numbers.score(item.score_a, 'none')} → {numbers.score(item.score_b, 'none')}."
    if item.miss_reason_a != item.miss_reason_b:
        a, b = (f"missed ({why})" if why else "right" for why in (item.miss_reason_a, item.miss_reason_b))
        yield f"{a.capitalize()}, then {b}."
