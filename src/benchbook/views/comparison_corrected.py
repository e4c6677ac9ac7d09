"""Runs as people would judge, beside as judged: what labels turn said first, then both differences with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchbook.comparison.compared import Comparison, ComparisonSet
from benchbook.comparison.corrected_results import CorrectedDifference, CorrectedScore
from benchbook.comparison.measures import PASSING, SCORE
from benchbook.evaluators.document import Block, Cell, Columns, Notices, Paragraph, Table, Value, table
from benchbook.statistics.ground import REASONS, WARNINGS
from benchbook.text import one_line, plural, shorten
from benchbook.views import numbers
from benchbook.views.comparison_tables import metric_word
from benchbook.views.verdicts import VERDICT_SENTENCES, VERDICT_WORDS

_NAME = 60  # characters of a run's name in a sentence
_METRICS = {SCORE.name: SCORE, PASSING.name: PASSING}
_BY: Mapping[str, str] = {SCORE.name: "score", PASSING.name: "items that pass"}
NOT_DRAWN = (
    "Some labels are of answers that happen to be here, drawn from another run: what is corrected by them holds as far "
    "as these are like the others."
)


def turned_notices(found: ComparisonSet) -> Block:
    """The notices of differences that correction turns, to be read before any number."""
    several = len(found.pairs) > 1
    words = (sentence for pair in found.pairs for sentence in turned_sentences(pair, *_names(pair, several=several)))
    return Notices(tuple(words), "inside", "turned")


def turned_sentences(pair: Comparison, a: str = "A", b: str = "B") -> Iterator[str]:
    """A sentence on each of its differences that correction turns."""
    for one in pair.corrected:
        if (sentence := turned_sentence(one, a, b)) is not None:
            yield sentence


def _names(pair: Comparison, *, several: bool) -> tuple[str, str]:
    return (shorten(pair.a.name, _NAME), shorten(pair.b.name, _NAME)) if several else ("A", "B")


def turned_sentence(found: CorrectedDifference, a: str = "A", b: str = "B") -> str | None:
    """A sentence on a difference that is shown as judged alone; None where people would say the same, or nothing."""
    if found.turned is None:
        return None
    claim, by = f"{b} is {VERDICT_WORDS[found.judged.verdict]} than {a}", _BY[found.metric]
    if found.turned == "reversed":
        other = VERDICT_WORDS[found.verdict]
        return f"By {by}, people would judge the other way: as judged {claim}, as people would judge it is {other}."
    if found.verdict == "same":
        return f"By {by}, {claim} as judged alone: both gave the same answers, so to people they are the same."
    leans = "; it leans the other way" if found.turned == "other_way" else ""
    return f"By {by}, {claim} as judged alone: as people would judge, which is better can't be told{leans}."


def corrected_overview(found: ComparisonSet) -> Table:
    """Many runs, each against the first, by the score as judged and as people would judge."""
    rows = [
        (
            shorten(pair.b.name, _NAME),
            Value("score", one.judged.difference, signed=True),
            VERDICT_WORDS[one.judged.verdict],
            Value("score", one.difference, signed=True),
            _interval(one),
            VERDICT_WORDS[one.verdict],
        )
        for pair in found.pairs
        for one in pair.corrected[:1]
    ]
    columns: Columns = {
        "Against the first": "text", "As judged": "number", "Is": "text", "For people": "number",
        "Interval": "number", "Is, for people": "text",
    }  # fmt: skip
    return table("As judged, and as people would judge, each against the first", columns, rows)


def corrected_blocks(pair: Comparison) -> Iterator[Block]:
    """The differences of a pair as people would judge; nothing where no labels were given."""
    if not pair.corrected:
        return
    yield Paragraph(corrected_sentence(pair.corrected[0]))
    yield corrected_table(pair.corrected)
    for words in corrected_notes(pair.corrected):
        yield Paragraph(words, "quiet")


def corrected_sentence(found: CorrectedDifference, a: str = "A", b: str = "B") -> str:
    """The difference as people would judge, with its interval and its labels, and the verdict."""
    if found.difference is None:
        return f"As people would judge: nothing can be said, since {_lacking(found, a, b)}."
    value = numbers.signed(found.difference)
    sure = numbers.limit("rate", found.confidence)
    interval = "" if found.low is None else f", {sure} interval {_interval(found)}"
    if found.verdict == "same":
        verdict = "Both gave the same answers."
    else:
        verdict = VERDICT_SENTENCES[found.verdict].format(b=b, points="")
    return f"As people would judge: {value}{interval}, by {_labels(found, a, b)}. {verdict}"


def _lacking(found: CorrectedDifference, a: str, b: str) -> str:
    if not found.n:
        return "no item has a score by the judge in both runs"
    runs = [name for name, n in ((a, found.n_labelled_a), (b, found.n_labelled_b)) if not n]
    if not runs:
        return REASONS.get(found.reason or "no_data", "there is no estimate")
    return f"no answer of {' and of '.join(runs)} is labelled where the two runs' answers differ"


def _labels(found: CorrectedDifference, a: str, b: str) -> str:
    if found.design == "same_answers":
        return "answers that are the same in both"
    return f"labels of {plural(found.n_labelled_a, 'item')} of {a} and {found.n_labelled_b:,} of {b}"


def _interval(found: CorrectedDifference) -> str:
    if found.low is None or found.high is None:
        return numbers.nothing()
    return f"{numbers.signed(found.low)} to {numbers.signed(found.high)}"


def corrected_table(found: Sequence[CorrectedDifference], a: str = "A", b: str = "B") -> Table:
    """Each difference as judged, and below it as people would judge, over the same items."""
    rows: list[Sequence[Cell]] = []
    for one in found:
        word = metric_word(_METRICS[one.metric])
        judged = Value("score", one.judged.difference, signed=True)
        rows.append(
            (f"{word}, as judged", judged, numbers.difference_interval(one.judged), VERDICT_WORDS[one.judged.verdict])
        )
        people = Value("score", one.difference, signed=True)
        rows.append((f"{word}, as people would judge", people, _interval(one), VERDICT_WORDS[one.verdict]))
    columns: Columns = {
        "Over what both answered": "text", f"{b} − {a}": "number", "Interval": "number", f"{b} is": "text",
    }  # fmt: skip
    return table("As judged, and as people would judge", columns, rows)


def corrected_notes(found: Sequence[CorrectedDifference], a: str = "A", b: str = "B") -> Iterator[str]:
    """Sentences on the corrected differences: their items, how they were made, and what to beware of."""
    one = found[0]
    same = f", {one.n_same:,} of them with the same answer in both" if one.n_same else ""
    by = "" if one.difference is None else f", by {_by_design(one, a, b)}"
    yield f"Corrected over {plural(one.n, 'item')}{same}{by}."
    if one.n_tests > 1:
        yield f"For people, {b} is as an interval says that is adjusted by Bonferroni over {one.n_tests:,}."
    if not one.is_drawn:
        yield NOT_DRAWN
    for warning in dict.fromkeys(name for each in found for name in each.warnings):
        yield f"Beware: {WARNINGS.get(warning, warning)}."


def _by_design(found: CorrectedDifference, a: str, b: str) -> str:
    if found.design == "same_answers":
        return "the answers alone"
    if found.design == "paired":
        return f"the {plural(found.n_both, 'item')} of which both answers are labelled"
    return f"each run's own labels: {plural(found.n_labelled_a, 'item')} of {a}, {found.n_labelled_b:,} of {b}"


# ── a ranking ────────────────────────────────────────────────────────────────────────────────────────────────


def people_cells(found: Sequence[CorrectedScore], runs: Sequence[str]) -> list[tuple[Cell, Cell]]:
    """Of each of these runs the score as people would judge, and its interval."""
    by_run = {one.run: one for one in found}
    return [
        (Value("score", one.value), numbers.bounds("score", one.low, one.high)) if one is not None else (None, None)
        for one in map(by_run.get, runs)
    ]


def people_notes(found: Sequence[CorrectedScore]) -> Iterator[str]:
    """Of how many labels the corrected scores are; ranks do not go by them."""
    if not found:
        return
    labels = ", ".join(f"{one_line(one.run)} {one.n_labelled:,} of {one.n:,}" for one in found)
    sure = numbers.limit("rate", found[0].confidence)
    yield f"For people: the score as people would judge, with its {sure} interval, by labelled items: {labels}."
    yield "Ranks and p go by the scores as judged."
    if not all(one.is_drawn for one in found):
        yield NOT_DRAWN
