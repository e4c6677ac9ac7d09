"""The sentences and tables of a comparison's report."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.comparison.compared import Change, Comparison, ComparisonSet
from benchbook.comparison.contenders import RankMetric
from benchbook.comparison.difference import Difference
from benchbook.comparison.items import UnansweredItems
from benchbook.comparison.leaderboard import History, HistoryName
from benchbook.comparison.measures import CONTAINED, PASSING, SCORE
from benchbook.comparison.pairing import ItemClass
from benchbook.evaluators.contract import ComparedMetric, EndedEarly
from benchbook.evaluators.document import Cell, Columns, Kind, Table, Value, table
from benchbook.evaluators.measured import MEASURED_WORDS, MeasuredDifference, scorer_changed
from benchbook.statistics.ground import REASONS, WARNINGS
from benchbook.text import one_line, plural, shorten
from benchbook.views import numbers
from benchbook.views.comparison_data import ShownItem
from benchbook.views.names import set_name
from benchbook.views.record_differences import is_told_by_text, leaf_values
from benchbook.views.verdicts import VERDICT_WORDS, adjustment, verdict_sentence
from benchbook.views.words import criterion_word

CLASS_WORDS: dict[ItemClass, str] = {
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
HISTORY_WORDS: dict[HistoryName, str] = {
    "learned": "Learned: wrong, then right",
    "forgotten": "Forgotten: right, then wrong",
    "flipping": "Flipping",
    "always_correct": "Always right",
    "never_correct": "Never right",
}


def first_line(pair: Comparison) -> str:
    """How many items are compared, and how many are left out and why."""
    line = f"{plural(pair.n_compared, 'item')} compared"
    if n := pair.n_by_id:
        line += f" ({n:,} of them by id and expected answer: the two tools put them otherwise)"
    if not pair.n_left_out:
        return f"{line}, none left out."
    lacking = {run: _not_answered(pair, run) for run in "ab"}
    not_asked_in_a, not_asked_in_b = pair.n_not_asked("a"), pair.n_not_asked("b")
    n_left = {
        "not answered in A": lacking["a"],
        "not answered in B": lacking["b"],
        "not asked in A": not_asked_in_a,
        "not asked in B": not_asked_in_b,
        "only in A": pair.counts["only_in_a"] - lacking["b"] - not_asked_in_b,
        "only in B": pair.counts["only_in_b"] - lacking["a"] - not_asked_in_a,
        "with another expected answer": pair.counts["expected_changed"],
        "without a score in any run": pair.n_unscored,
    }
    why = [f"{n:,} {words}" for words, n in n_left.items() if n]
    return f"{line}, {pair.n_left_out:,} left out ({', '.join(why)})."


def _not_answered(pair: Comparison, run: str) -> int:
    """The number of items in the other run alone because `run` got no answer to them."""
    other = "only_in_b" if run == "a" else "only_in_a"
    rows = pair.items.filter(pair.items["class"] == other)
    return len(rows) - rows[f"unanswered_why_{run}"].null_count()


def verdict(pair: Comparison) -> str:
    """The change of the score in items and in numbers, and the verdict on it, by the p that is shown."""
    found = pair.score
    if found.difference is None:
        return verdict_sentence(found)
    interval = (
        f", {numbers.limit('rate', found.confidence)} interval {numbers.difference_interval(found)}"
        if found.low is not None
        else ""
    )
    moved = f"{numbers.items_moved(found)}: score {numbers.score(found.mean_a)} → {numbers.score(found.mean_b)}"
    signed = numbers.signed(found.difference)
    return f"{moved} ({signed}{interval}, {numbers.p_equals(found.p_adjusted)}). {verdict_sentence(found)}"


def margin_line(pair: Comparison) -> str | None:
    """A sentence on whether B is worse than A by more than the margin asked about; None where none was."""
    found = pair.score.not_worse
    if found is None:
        return None
    margin, sure = numbers.limit("score", found.margin), numbers.limit("rate", found.confidence)
    if found.holds is None:
        why = "there is no bound" if pair.score.reason is None else REASONS.get(pair.score.reason, pair.score.reason)
        return f"Whether B is worse by more than {margin} can't be told: {why}."
    bound = numbers.signed(found.low)
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


def notices(pair: Comparison) -> list[str]:
    """The notices that come before any number: differences in what was measured, then those on the runs."""
    found = [
        f"Not the same was measured: {MEASURED_WORDS[one.name]} differs ({_told(pair, one)})." for one in pair.measured
    ]
    if (changed := scorer_changed(pair.a.manifest, pair.b.manifest)) is not None:
        found.append(changed)
    if pair.unknown:
        names = ", ".join(MEASURED_WORDS[name] for name in pair.unknown)
        found.append(f"Neither record knows {names}; whether that was the same can't be told.")
    return [*found, *run_notices(pair, "A", "B")]


def run_notices(pair: Comparison, a: str, b: str) -> list[str]:
    """Notices on the runs, called `a` and `b`: ended early, failed or not answered; and warnings about the score."""
    found = []
    for run, letter in ((pair.a, a), (pair.b, b)):
        if run.not_complete is not None:
            found.append(f"Run {letter} is not complete: {run.not_complete}.")
        if run.ended_early is not None:
            found.append(_ended_early(pair, letter, run.ended_early, is_tested=run is pair.b))
        if run.why_failed is not None:
            found.append(f"Run {letter} itself failed, so it scores 0: {run.why_failed}.")
        if (lacking := run.unanswered).n_samples:
            found.append(_unanswered(letter, lacking, len(run.items)))
        if run.manifest.get("dry_run"):
            found.append(
                f"Run {letter} was a dry run: its items are unavailable, since MockJudge makes no predictions."
            )
    warnings = (WARNINGS.get(name, name) for name in pair.score.warnings)
    return [*found, *(f"{one[0].upper()}{one[1:]}." for one in warnings)]


def _ended_early(pair: Comparison, letter: str, early: EndedEarly, *, is_tested: bool) -> str:
    """A notice that a run ended early, with the result of its own test where that was of this very pair."""
    bet = ""
    if is_tested and pair.shown_by_its_end is not None:
        error = numbers.limit("rate", early.error)
        bet = f" That was a test that holds whenever one looks, of the items' passes, with an error of at most {error}."
    return (
        f"Run {letter} {one_line(early.words)}.{bet} What is compared here are the items that it counted; intervals "
        "and p take their number as fixed before, which it was not: they are too sure."
    )


def _unanswered(letter: str, lacking: UnansweredItems, n_items: int) -> str:
    why = ", ".join(lacking.why)
    if not lacking.n_items:
        return f"{plural(lacking.n_samples, 'repeat')} of items of {letter} not answered ({why}): left out, not lost."
    were = "was" if lacking.n_items == 1 else "were"
    return (
        f"{lacking.n_items:,} of {plural(n_items, 'item')} of {letter} {were} not answered ({why}): left out, not lost."
    )


def _told(pair: Comparison, part: MeasuredDifference) -> str:
    """The leaves in which a part differs; of templates, whose texts tell more than hashes do, that they do."""
    leaves = [leaf for leaf in part.leaves if not is_told_by_text(pair, leaf)]
    told = [f"{leaf.path}: {', then '.join(leaf_values(leaf))}" for leaf in leaves]
    by_text = ["its text"] if len(leaves) < len(part.leaves) else []
    return "; ".join([f"{part.name}: {'; '.join(told)}"] * bool(told) + by_text)


def runs_table(found: ComparisonSet) -> Table:
    """The runs that are compared, each with its own score: over all its items, not those in common alone."""
    rows = (
        (
            f"{letter}: {shorten(run.name, 80)}",
            shorten(str(run.manifest.get("model_id") or numbers.DASH), 80),
            shorten(set_name(run.manifest.get("dataset_id"), run.manifest.get("dataset_version_or_hash")), 60),
            run.spec,
            len(run.items),
            Value("score", run.score, unknown="no score"),
            numbers.short_hash(run.manifest.get("journal_sha256")),
        )
        for letter, run in zip(_letters(found), found.runs, strict=True)
    )
    columns: Columns = {
        "Run": "text", "Model": "text", "Eval set": "text", "Scorer": "text", "Items": "count",
        "Score of all items": "score", "Record": "text",
    }  # fmt: skip
    return table("The runs", columns, rows, titled=True)


def _letters(found: ComparisonSet) -> list[str]:
    """A and B of a pair; with more runs, each pair has an A and a B of its own, and runs have numbers."""
    return ["A", "B"] if len(found.runs) == 2 else [str(place) for place in range(1, len(found.runs) + 1)]


def classes_table(pair: Comparison) -> Table:
    """The number of items in each class (A11)."""
    lacking = {"only_in_a": (_not_answered(pair, "b"), "B"), "only_in_b": (_not_answered(pair, "a"), "A")}

    def words(name: ItemClass) -> str:
        n, run = lacking.get(name, (0, ""))
        return f"{CLASS_WORDS[name]} ({n:,} not answered in {run})" if n else CLASS_WORDS[name]

    rows = ((words(name), n) for name, n in pair.counts.items())
    return table("What became of the items", {"Class": "text", "Items": "count"}, rows)


def history_table(found: History) -> Table:
    """How many items went which way."""
    by = "" if found.by == "correct" else ", by the diagnosis: the expected answer is in the text"
    rows = ((HISTORY_WORDS[name], n) for name, n in found.counts.items())
    return table(f"Items over {plural(len(found.runs), 'run')}{by}", {"History": "text", "Items": "count"}, rows)


def way_table(found: History, most: int) -> Table:
    """The way of each item that moved: + right, . wrong, a sign a run."""
    moved = found.items.filter(found.items["history"].is_in(["learned", "forgotten", "flipping"]))
    rows = (
        (shorten(item_id, 60), name, marks.replace("1", "+").replace("0", "."))
        for item_id, name, marks in moved.sort("history", maintain_order=True)
        .head(most)
        .select("item_id", "history", "marks")
        .iter_rows()
    )
    shown = f", the first {most:,} of {len(moved):,}" if len(moved) > most else ""
    columns: Columns = {"Item": "text", "History": "text", "Runs in order": "text"}
    return table(f"Items that moved{shown}", columns, rows)


def item_facts(item: ShownItem) -> Iterator[str]:
    """The facts about an item beside its texts, a sentence each."""
    if item.item_id_b is not None:
        yield f"In B its id is {one_line(item.item_id_b)}."
    yield f"Score {numbers.score(item.score_a, 'none')} → {numbers.score(item.score_b, 'none')}."
    if item.miss_reason_a != item.miss_reason_b:
        a, b = (f"missed ({why})" if why else "right" for why in (item.miss_reason_a, item.miss_reason_b))
        yield f"{a.capitalize()}, then {b}."


_METRIC_WORDS: dict[str, str] = {
    "score": "Score", "passing": "Items that pass", "contained": "Answer in the text (diagnosis)",
    "latency_e2e_ms": "Latency", "eval_time_ms": "Latency", "total_tokens": "Tokens", "output_tokens": "Output tokens",
    "cost_usd": "Cost",
}  # fmt: skip


def metric_word(one: ComparedMetric | RankMetric) -> str:
    """A metric's name at the head of its row: `Accuracy, 0 to 2`."""
    if (word := _METRIC_WORDS.get(one.name)) is not None:
        return word
    word = criterion_word(one.name)
    return word if one.highest is None else f"{word}, {one.lowest:g} to {one.highest:g}"


_COLUMNS: Columns = {
    "A": "number", "B": "number", "B − A": "number", "Interval": "number", "In items": "number", "p": "p",
    "B is": "text",
}  # fmt: skip


def differences_table(pair: Comparison) -> Table:
    """The score, and what stands beside it: passing, the diagnosis of A7, and what else both runs measured."""
    rows = [(metric_word(SCORE), *_cells(pair.score))]
    beside: list[Difference] = []
    if pair.passing is not None:
        beside.append(pair.passing)
        rows.append((metric_word(PASSING), *_cells(pair.passing)))
    if pair.containment is not None:
        beside.append(pair.containment.difference)
        rows.append((metric_word(CONTAINED), *_cells(pair.containment.difference)))
    known = {one.name: one for one in pair.a.columns.metrics}
    for one in pair.metrics:
        beside.append(one.difference)
        rows.append((metric_word(known[one.name]), *_cells(one.difference, known[one.name].kind)))
    notes = "".join(
        f"; {which} {words}"
        for which, found in (("p of the score", pair.score), *([("p of the others", beside[0])] if beside else []))
        if (words := adjustment(found))
    )
    return table(f"The differences, B − A{notes}", {"Over the items of both": "text", **_COLUMNS}, rows)


def slices_table(pair: Comparison) -> Table:
    """The difference by section, category and difficulty, with n and interval; p is adjusted over all the slices."""
    rows = [(one.field, shorten(one.value, 60), *_cells(one.difference)) for one in pair.slices]
    words = adjustment(pair.slices[0].difference) if pair.slices else ""
    return table(f"By slice{f'; p {words}' if words else ''}", {"Slice": "text", "Value": "text", **_COLUMNS}, rows)


def _cells(found: Difference, kind: Kind = "score") -> tuple[Cell, ...]:
    return (
        Value(kind, found.mean_a),
        Value(kind, found.mean_b),
        Value(kind, found.difference, signed=True),
        numbers.difference_interval(found, kind),
        numbers.items_moved(found),
        found.p_adjusted,
        VERDICT_WORDS[found.verdict],
    )
